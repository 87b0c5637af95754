// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/traces/timeline.h"

#include "model/traces/trace_stage.h"

#include <algorithm>

namespace forkpoint {

namespace {

/// The stages in causal order; such as it does not know, in the order of their first use.
std::vector<std::string> rowsOf(const std::vector<ChainLink> &links)
{
    std::vector<std::string> rows;
    for (const ChainLink &link : links) {
        if (link.step && std::find(rows.begin(), rows.end(), link.stage) == rows.end())
            rows.push_back(link.stage);
    }
    std::stable_sort(rows.begin(), rows.end(),
                     [](const auto &a, const auto &b) { return causalPlace(a) < causalPlace(b); });
    return rows;
}

} // namespace

Timeline::Timeline(const std::vector<ChainLink> &links) : m_rows(rowsOf(links))
{
    for (const ChainLink &link : links) {
        if (!link.step)
            continue;
        m_steps.push_back(*link.step);
        m_links.push_back(link);
    }
    std::sort(m_steps.begin(), m_steps.end());
    m_steps.erase(std::unique(m_steps.begin(), m_steps.end()), m_steps.end());
    m_places.assign(m_rows.size(), std::vector<std::uint32_t>(m_steps.size(), 0));
    for (std::size_t i = 0; i < m_links.size(); ++i) {
        const auto row = std::find(m_rows.begin(), m_rows.end(), m_links[i].stage);
        const auto column = std::lower_bound(m_steps.begin(), m_steps.end(), *m_links[i].step);
        m_places[std::size_t(row - m_rows.begin())][std::size_t(column - m_steps.begin())] =
            std::uint32_t(i + 1);
    }
    m_sums.assign(m_rows.size(), std::vector<Sums>(m_steps.size() + 1));
    for (std::size_t row = 0; row < m_rows.size(); ++row) {
        for (std::size_t column = 0; column < m_steps.size(); ++column) {
            Sums sums = m_sums[row][column];
            if (const ChainLink *at = link(row, column)) {
                ++sums.statuses[std::size_t(at->status)];
                sums.compared += at->compared;
                sums.different += at->different;
            }
            m_sums[row][column + 1] = sums;
        }
    }
}

Timeline::Cell Timeline::over(std::size_t row, std::size_t first, std::size_t end) const
{
    const Sums &before = m_sums[row][first], &behind = m_sums[row][end];
    Cell cell;
    cell.compared = behind.compared - before.compared;
    cell.different = behind.different - before.different;
    for (LinkStatus status : {LinkStatus::NotRecorded, LinkStatus::Equal, LinkStatus::Undecided,
                              LinkStatus::Different}) {
        if (behind.statuses[std::size_t(status)] > before.statuses[std::size_t(status)])
            cell.status = status;
    }
    return cell;
}

const ChainLink *Timeline::link(std::size_t row, std::size_t column) const
{
    const std::uint32_t place = m_places[row][column];
    return place == 0 ? nullptr : &m_links[place - 1];
}

std::size_t Timeline::columnFrom(double step) const
{
    const auto found = std::lower_bound(
        m_steps.begin(), m_steps.end(), step,
        [](std::int64_t column, double wanted) { return double(column) < wanted; });
    return std::size_t(found - m_steps.begin());
}

} // namespace forkpoint
