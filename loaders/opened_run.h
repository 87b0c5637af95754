// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/loader.h"
#include "loaders/metrics/metrics_files.h"
#include "loaders/repeated_step.h"
#include "loaders/traces/open_trace.h"
#include "model/run.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace forkpoint {

/// Where a step is and how it is opened.
struct StepPlace
{
    enum class Kind { File, IndexFile, Directory, Values, Kept };
    Kind kind = Kind::File;
    std::filesystem::path directory; ///< that a file lies in, or the directory itself
    std::string name;                ///< of a file in it
    std::string prefix;              ///< before names in diagnostics
    bool named = false;              ///< the user named this very file: its links are followed
};

/// The run that openRun() fills: what was found, and where each step of it is.
class OpenedRun final : public Run
{
public:
    OpenedRun(std::string path, OpenOptions options)
        : m_path(std::move(path)),
          m_options(std::move(options))
    {
    }

    const std::string &path() const override { return m_path; }
    const std::string &format() const override { return m_format; }
    const std::vector<RunStep> &steps() const override { return m_steps; }
    const std::vector<MetricSeries> &metrics() const override { return m_metrics; }
    std::shared_ptr<const Trace> trace() const override { return m_trace; }
    const Diagnostics &diagnostics() const override { return m_diagnostics; }
    bool complete() const override { return m_complete; }
    Result<std::shared_ptr<const TensorSource>> open(std::size_t index,
                                                     std::stop_token stop) const override;

    const OpenOptions &options() const { return m_options; }
    const std::vector<StepPlace> &places() const { return m_places; }
    /// The dialect of the sheet that the user gave; nullptr without one.
    std::shared_ptr<const TraceDialect> mapping() const;

    void setFormat(std::string format) { m_format = std::move(format); }
    void setIncomplete() { m_complete = false; }
    void tell(Diagnostic diagnostic) { m_diagnostics.push_back(std::move(diagnostic)); }
    void tell(const Diagnostics &diagnostics);
    void add(RunStep step, StepPlace place);
    /// The steps were none: only what was said before them stays.
    void forgetSteps(const Diagnostics &before, bool complete);
    /// Takes over what was found beside checkpoints or a trace: it is no part of them, and what is wrong
    /// with it a warning at most.
    void addMetrics(FoundMetrics found);
    /// The run is numbers alone: its one step holds what the files say beside them.
    void addMetricsAlone(FoundMetrics found);
    /// Opens the trace that some files are; nothing to do where there is none, unless a sheet was given.
    Status addTrace(TraceFiles files, const std::stop_token &stop);
    /// Steps of which the trace kept whole tensors, where no checkpoint has that number.
    void addKeptSteps();

private:
    Result<LoadedFile> load(const StepPlace &place, std::stop_token stop) const;
    void addKept(std::optional<Step> number);
    void takeMetrics(FoundMetrics found, Severity mostSevere);

    std::string m_path;
    OpenOptions m_options;
    std::string m_format;
    std::vector<RunStep> m_steps;
    std::vector<StepPlace> m_places; ///< of each step
    std::vector<MetricSeries> m_metrics;
    std::shared_ptr<const Trace> m_trace;
    std::shared_ptr<const TensorSource> m_values; ///< of metrics alone
    Diagnostics m_diagnostics;
    bool m_complete = true;
    mutable RepeatedSteps m_repeated;
};

} // namespace forkpoint
