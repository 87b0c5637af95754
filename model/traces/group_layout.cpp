// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/traces/group_layout.h"

#include <algorithm>
#include <cstddef>

namespace forkpoint {

namespace {

/// Ranks beyond that are of no grid that exists: no layout is looked for.
constexpr std::int64_t MostRank = 100'000;
/// Possible layouts that are held to each other: with more the ranks at hand tell nothing.
constexpr std::size_t MostLayouts = 64;

} // namespace

void GroupLayout::add(std::int64_t rank, std::uint64_t size, std::uint64_t number)
{
    const auto [known, isNew] = m_numbers.emplace(rank, number);
    m_contradicts = m_contradicts || rank < 0 || rank > MostRank || size == 0 || number >= size
        || (m_size != 0 && m_size != size) || (!isNew && known->second != number);
    m_size = size;
    m_strides.reset();
}

bool GroupLayout::fits(std::uint64_t stride) const
{
    return std::all_of(m_numbers.begin(), m_numbers.end(), [&](const auto &each) {
        return std::uint64_t(each.first) / stride % m_size == each.second;
    });
}

const std::vector<std::uint64_t> &GroupLayout::strides() const
{
    if (m_strides)
        return *m_strides;
    m_strides.emplace();
    // A larger stride than the highest rank makes every rank the first of its group.
    const std::uint64_t most = m_contradicts ? 0 : std::uint64_t(m_numbers.rbegin()->first) + 1;
    for (std::uint64_t stride = 1; stride <= most && m_strides->size() <= MostLayouts; ++stride) {
        if (fits(stride))
            m_strides->push_back(stride);
    }
    if (m_strides->size() > MostLayouts)
        m_strides->clear();
    return *m_strides;
}

bool GroupLayout::isJoined(std::uint64_t stride, std::int64_t rank, std::int64_t other) const
{
    const auto one = std::uint64_t(rank), two = std::uint64_t(other);
    return one % stride == two % stride && one / stride / m_size == two / stride / m_size;
}

GroupLayout::Tie GroupLayout::tie(std::int64_t rank, std::int64_t other) const
{
    if (isOfOne() && rank != other)
        return Tie::Apart;
    const auto joining =
        std::count_if(strides().begin(), strides().end(),
                      [&](std::uint64_t stride) { return isJoined(stride, rank, other); });
    if (strides().empty())
        return Tie::Open;
    return joining == 0                               ? Tie::Apart
        : joining == std::ptrdiff_t(strides().size()) ? Tie::Joined
                                                      : Tie::Open;
}

bool GroupLayout::isWhole(std::int64_t rank) const
{
    if (isOfOne())
        return true;
    return !strides().empty()
        && std::all_of(strides().begin(), strides().end(), [&](std::uint64_t stride) {
               return std::uint64_t(std::count_if(
                          m_numbers.begin(), m_numbers.end(),
                          [&](const auto &each) { return isJoined(stride, rank, each.first); }))
                   == m_size;
           });
}

} // namespace forkpoint
