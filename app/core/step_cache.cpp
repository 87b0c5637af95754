// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/step_cache.h"

#include <algorithm>

namespace forkpoint {

std::shared_ptr<const TensorSource> StepCache::known(std::size_t index) const
{
    const std::lock_guard lock(m_mutex);
    const auto entry = std::find_if(m_entries.begin(), m_entries.end(),
                                    [&](const Entry &each) { return each.index == index; });
    if (entry == m_entries.end())
        return nullptr;
    std::rotate(m_entries.begin(), entry, entry + 1);
    return m_entries.front().source;
}

Status StepCache::isAsBefore(std::size_t index, const TensorSource &source) const
{
    const std::lock_guard lock(m_mutex);
    const auto before = m_before.find(index);
    if (before == m_before.end())
        return {};
    const States now = source.fileStates();
    const auto same = [](const auto &a, const auto &b) { return a->sameButChangedTime(*b); };
    if (now.size() != before->second.size())
        return Error{ErrorCode::Changed, steps()[index].path, {}, "has other files than before"};
    const auto at = std::ranges::mismatch(now, before->second, same).in1;
    if (at == now.end())
        return {};
    return Error{ErrorCode::Changed, (*at)->path, {}, "changed after it was opened"};
}

Result<std::shared_ptr<const TensorSource>> StepCache::open(std::size_t index,
                                                            std::stop_token stop) const
{
    if (auto source = known(index))
        return source;
    FP_TRY(std::shared_ptr<const TensorSource> source, m_run->open(index, std::move(stop)));
    FP_CHECK(isAsBefore(index, *source));
    const std::lock_guard lock(m_mutex);
    m_entries.push_front({index, source});
    if (m_entries.size() > Capacity) {
        m_before[m_entries.back().index] = m_entries.back().source->fileStates();
        m_entries.pop_back();
    }
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
