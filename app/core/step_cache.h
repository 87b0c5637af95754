// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/run.h"

#include <deque>
#include <map>
#include <mutex>

namespace forkpoint {

/// A run that keeps the last few opened steps, so that looking at elements does not open again what
/// a comparison has just opened. A step that has to be opened again is Changed where its files are
/// no longer what they were.
class StepCache final : public Run
{
public:
    static constexpr std::size_t Capacity = 4;

    explicit StepCache(std::shared_ptr<const Run> run) : m_run(std::move(run)) {}

    const std::string &path() const override { return m_run->path(); }
    const std::string &format() const override { return m_run->format(); }
    const std::vector<RunStep> &steps() const override { return m_run->steps(); }
    const std::vector<MetricSeries> &metrics() const override { return m_run->metrics(); }
    std::shared_ptr<const Trace> trace() const override { return m_run->trace(); }
    const Diagnostics &diagnostics() const override { return m_run->diagnostics(); }
    bool complete() const override { return m_run->complete(); }

    Result<std::shared_ptr<const TensorSource>> open(std::size_t index,
                                                     std::stop_token stop) const override;

private:
    struct Entry
    {
        std::size_t index = 0;
        std::shared_ptr<const TensorSource> source;
    };
    using States = std::vector<std::shared_ptr<const FileState>>;

    std::shared_ptr<const TensorSource> known(std::size_t index) const;
    Status isAsBefore(std::size_t index, const TensorSource &source) const;

    std::shared_ptr<const Run> m_run;
    mutable std::mutex m_mutex;
    mutable std::deque<Entry> m_entries;            ///< newest first
    mutable std::map<std::size_t, States> m_before; ///< of steps that are no longer kept
};

/// Position of a step in a run: that of a run without numbers is its only one. Without a number
/// asked for, the newest complete step.
std::optional<std::size_t> positionOf(const Run &run, std::optional<Step> step);

} // namespace forkpoint
