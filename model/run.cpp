// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/run.h"

#include <algorithm>

namespace forkpoint {

namespace {

class Checkpoints final : public Run
{
public:
    explicit Checkpoints(std::shared_ptr<const Run> run) : m_run(std::move(run))
    {
        const std::vector<RunStep> &all = m_run->steps();
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (all[i].isKept)
                continue;
            m_steps.push_back(all[i]);
            m_places.push_back(i);
        }
    }

    const std::string &path() const override { return m_run->path(); }
    const std::string &format() const override { return m_run->format(); }
    const std::vector<RunStep> &steps() const override { return m_steps; }
    const std::vector<MetricSeries> &metrics() const override { return m_run->metrics(); }
    std::shared_ptr<const Trace> trace() const override { return m_run->trace(); }
    const Diagnostics &diagnostics() const override { return m_run->diagnostics(); }
    bool complete() const override { return m_run->complete(); }

    Result<std::shared_ptr<const TensorSource>> open(std::size_t index,
                                                     std::stop_token stop) const override
    {
        return m_run->open(m_places[index], std::move(stop));
    }

private:
    std::shared_ptr<const Run> m_run;
    std::vector<RunStep> m_steps;
    std::vector<std::size_t> m_places; ///< into the steps of m_run
};

} // namespace

std::shared_ptr<const Run> withoutKept(std::shared_ptr<const Run> run)
{
    const std::vector<RunStep> &steps = run->steps();
    if (std::none_of(steps.begin(), steps.end(), [](const RunStep &step) { return step.isKept; }))
        return run;
    return std::make_shared<Checkpoints>(std::move(run));
}

std::size_t newestStep(const Run &run)
{
    const std::vector<RunStep> &steps = run.steps();
    for (const bool kept : {false, true}) {
        for (std::size_t i = steps.size(); i-- > 0;) {
            if (steps[i].complete && steps[i].isKept == kept)
                return i;
        }
    }
    return steps.size() - 1;
}

} // namespace forkpoint
