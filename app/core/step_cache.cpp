// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/step_cache.h"

#include <algorithm>

namespace forkpoint {

Result<std::shared_ptr<const TensorSource>> StepCache::open(std::size_t index,
                                                            std::stop_token stop) const
{
    {
        const std::lock_guard lock(m_mutex);
        const auto known = std::find_if(m_entries.begin(), m_entries.end(),
                                        [&](const Entry &entry) { return entry.index == index; });
        if (known != m_entries.end()) {
            std::rotate(m_entries.begin(), known, known + 1);
            return m_entries.front().source;
        }
    }
    FP_TRY(std::shared_ptr<const TensorSource> source, m_run->open(index, std::move(stop)));
    const std::lock_guard lock(m_mutex);
    m_entries.push_front({index, source});
    if (m_entries.size() > Capacity)
        m_entries.pop_back();
    return source;
}

std::optional<std::size_t> positionOf(const Run &run, std::optional<Step> step)
{
    const std::vector<RunStep> &steps = run.steps();
    if (steps.empty())
        return std::nullopt;
    if (!run.isSeries())
        return 0;
    if (!step)
        return newestStep(run);
    const auto found = std::find_if(steps.begin(), steps.end(),
                                    [&](const RunStep &each) { return each.step == step; });
    if (found == steps.end())
        return std::nullopt;
    return std::size_t(found - steps.begin());
}

} // namespace forkpoint
