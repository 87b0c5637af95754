// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/diff_stats.h"
#include "model/compute_backend.h"
#include "model/progress.h"
#include "model/run.h"
#include "model/tensor_source.h"

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace forkpoint {

/// One tensor at one step of both runs.
struct HistoryPoint
{
    Step step = 0;
    std::optional<DiffStats> difference;       ///< A against B
    std::optional<DiffStats> updateA, updateB; ///< of one side against its own step before
    std::string reason;                        ///< why there is no difference: "only A has it", ...
};

/// How one pair of tensors fares over the steps of two runs.
struct TensorHistory
{
    std::string nameA, nameB; ///< the files' own names
    std::vector<HistoryPoint> points;
    bool complete = false;
};

/// What became of a difference from one step to the next.
enum class DifferenceTrend { Damped, Preserved, Amplified };

/// By the root mean square of B-A: less than half of it is damped, more than twice amplified.
/// Nothing where one of the two is not known or zero.
std::optional<DifferenceTrend> trendOf(const HistoryPoint &before, const HistoryPoint &now);

/// Follows a pair through all steps that either run has, a unit of statistics at a time.
class HistoryBuilder
{
public:
    HistoryBuilder(std::shared_ptr<const Run> a, std::shared_ptr<const Run> b, std::string nameA,
                   std::string nameB);

    /// Measures one step. False when none is left. A step that cannot be read says so in its point.
    Result<bool> advance(const ComputeBackend &backend, std::stop_token stop);
    Progress progress() const;
    const TensorHistory &history() const { return m_history; }

private:
    /// The tensor of one side at one step, where it is.
    struct Place
    {
        std::shared_ptr<const TensorSource> source;
        TensorIndex tensor = 0;
    };
    struct Visit
    {
        Step step = 0;
        std::optional<std::size_t> a, b; ///< into Run::steps()
    };

    static std::vector<Visit> visitsOf(const Run &a, const Run &b);
    static Result<std::optional<Place>> find(const Run &run, std::optional<std::size_t> step,
                                             const std::string &name, std::stop_token stop);

    std::shared_ptr<const Run> m_a, m_b;
    TensorHistory m_history;
    std::vector<Visit> m_visits;
    std::size_t m_next = 0;
    std::optional<Place> m_beforeA, m_beforeB;
};

} // namespace forkpoint
