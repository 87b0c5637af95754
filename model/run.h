// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/diagnostic.h"
#include "model/metrics/metric_series.h"
#include "model/progress.h"
#include "model/result.h"
#include "model/tensor_source.h"
#include "model/traces/trace.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace forkpoint {

using Step = std::int64_t;

/// One checkpoint of a series.
struct RunStep
{
    std::optional<Step> step; ///< nothing for a single checkpoint without a number
    std::string path;         ///< as the user would recognise it
    bool complete = true;     ///< false: not finished or unreadable; listed but never the newest
    /// What a lone file's own name says ("ckpt-10.pt"): it makes no series, but meets that step.
    std::optional<Step> namedStep = {};
    /// No checkpoint: what files of metrics say beside their numbers, such as a configuration.
    bool metricsOnly = false;
    /// No checkpoint: whole tensors that a trace kept of that step. They are looked at; it is the
    /// trace that decides.
    bool isKept = false;
    /// Why what is there cannot be opened, as far as its first bytes and its end tell: it is tried
    /// all the same. Empty where it can, and where the save was not finished.
    std::string unreadable = {};
    /// Other entries of the series that say they are this step. It opens only if they are equal.
    std::vector<std::string> rivals = {};

    bool isUnfinished() const { return !complete && unreadable.empty(); }
};

/// What a path turned out to be: a single checkpoint, or a series of them by step, with the
/// metrics that lie beside them. Steps are sorted by number. Opening is lazy, a step at a time.
class Run
{
public:
    virtual ~Run() = default;
    Run(const Run &) = delete;
    Run &operator=(const Run &) = delete;

    virtual const std::string &path() const = 0;   ///< as given by the user
    virtual const std::string &format() const = 0; ///< "torch", "series of torch", ...
    virtual const std::vector<RunStep> &steps() const = 0;
    virtual const std::vector<MetricSeries> &metrics() const = 0;
    /// What tracers recorded of the run; nullptr where nothing is at hand.
    virtual std::shared_ptr<const Trace> trace() const { return nullptr; }
    virtual const Diagnostics &diagnostics() const = 0;
    /// False where steps may exist that are not listed (a directory over the cap).
    virtual bool complete() const = 0;

    /// Opens steps()[index], on any thread. May take long; looks at `stop` now and then.
    virtual Result<std::shared_ptr<const TensorSource>> open(std::size_t index,
                                                             std::stop_token stop) const = 0;

    bool hasOnlyMetrics() const { return steps().size() == 1 && steps()[0].metricsOnly; }
    bool isSeries() const { return steps().size() > 1 || (steps().size() == 1 && steps()[0].step); }

protected:
    Run() = default;
};

/// The run with its checkpoints alone: without the steps that are what a trace kept.
std::shared_ptr<const Run> withoutKept(std::shared_ptr<const Run> run);

/// Into steps(): the newest complete checkpoint, else the newest complete step, else the last one.
/// There must be one.
std::size_t newestStep(const Run &run);

} // namespace forkpoint
