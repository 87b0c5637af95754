// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/traces/timeline_rows.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

namespace forkpoint {

namespace {

using Links = std::vector<ChainLink>;

/// What of its links makes a member behave like another.
std::string statusesOf(const Links &links)
{
    std::string text;
    for (const ChainLink &link : links)
        text += (link.step ? std::to_string(*link.step) : "-") + char('a' + int(link.status));
    return text;
}

std::string behaviourOf(const RankComparison &rank)
{
    if (!rank.first)
        return statusesOf(rank.links);
    const RecordName &record = rank.first->record;
    return std::string(toString(rank.first->classification.divergenceClass)) + '\n'
        + std::to_string(record.iteration.value_or(-1)) + '\n' + record.stage + '\n'
        + statusesOf(rank.links);
}

/// "0-2, 5".
std::string rangesOf(const std::set<std::int64_t> &numbers, const std::string &comma = ", ")
{
    std::string text;
    for (auto at = numbers.begin(); at != numbers.end();) {
        const std::int64_t from = *at;
        std::int64_t to = from;
        for (++at; at != numbers.end() && *at == to + 1; ++at)
            to = *at;
        text += (text.empty() ? "" : comma) + std::to_string(from);
        if (to > from)
            text += (to > from + 1 ? "-" : comma) + std::to_string(to);
    }
    return text;
}

/// "tp 0-2, dp 3,5" of ranks that are all the places of such a block, without the axes on which all of
/// the trace stand alike; else nothing.
std::string blockOf(const std::vector<RankComparison> &all, const std::vector<std::size_t> &members)
{
    std::map<std::string, std::set<std::int64_t>> everywhere, here;
    for (const RankComparison &rank : all) {
        for (const auto &[axis, place] : rank.coordinate.axes)
            everywhere[axis].insert(place);
    }
    for (const std::size_t member : members) {
        for (const auto &[axis, place] : all[member].coordinate.axes)
            here[axis].insert(place);
    }
    std::size_t places = 1;
    std::string text;
    for (const auto &[axis, own] : all[members.front()].coordinate.axes) {
        places *= here[axis].size();
        if (everywhere[axis].size() > 1)
            text += (text.empty() ? "" : ", ") + axis + ' ' + rangesOf(here[axis], ",");
    }
    return places == members.size() ? text : std::string();
}

std::string nameOfRanks(const std::vector<RankComparison> &all,
                        const std::vector<std::size_t> &members)
{
    const TraceCoordinate &first = all[members.front()].coordinate;
    if (const std::string block = blockOf(all, members); !block.empty())
        return block;
    if (members.size() == 1)
        return first.toText();
    std::set<std::int64_t> numbers;
    for (const std::size_t member : members) {
        if (all[member].coordinate.rank && first.axes.empty())
            numbers.insert(*all[member].coordinate.rank);
    }
    if (numbers.size() == members.size())
        return "ranks " + rangesOf(numbers);
    return first.toText() + " and " + std::to_string(members.size() - 1) + " more";
}

Links summed(const std::vector<const Links *> &all, const std::string &name)
{
    std::map<std::optional<std::int64_t>, ChainLink> sums;
    for (const Links *links : all) {
        for (const ChainLink &link : *links) {
            const auto [place, isNew] = sums.emplace(link.step, link);
            if (!isNew)
                addLink(place->second, link);
        }
    }
    Links list;
    for (auto &[step, sum] : sums) {
        sum.stage = name;
        list.push_back(std::move(sum));
    }
    return list;
}

/// Members with one behaviour share a row, what is too much the last one. `nameOf`: of such members.
std::vector<TimelineRow>
foldAlike(const std::vector<std::string> &behaviours, const std::vector<const Links *> &links,
          const std::function<std::string(const std::vector<std::size_t> &)> &nameOf)
{
    std::vector<TimelineRow> rows;
    std::map<std::string, std::size_t> rowOf;
    for (std::size_t member = 0; member < behaviours.size(); ++member) {
        const auto [place, isNew] = rowOf.emplace(behaviours[member], rows.size());
        if (isNew)
            rows.emplace_back();
        rows[place->second].members.push_back(member);
    }
    const std::size_t others =
        rows.size() > MostTimelineRows ? rows.size() - MostTimelineRows + 1 : 0;
    for (std::size_t i = MostTimelineRows; i < rows.size(); ++i) {
        auto &rest = rows[MostTimelineRows - 1].members;
        rest.insert(rest.end(), rows[i].members.begin(), rows[i].members.end());
    }
    rows.resize(std::min(rows.size(), MostTimelineRows));
    for (TimelineRow &row : rows) {
        const bool isRest = others > 0 && &row == &rows.back();
        std::sort(row.members.begin(), row.members.end());
        row.name = isRest ? std::to_string(row.members.size()) + " others, of "
                + std::to_string(others) + " kinds"
                          : nameOf(row.members);
        std::vector<const Links *> own;
        for (const std::size_t member : row.members)
            own.push_back(links[member]);
        row.links = summed(own, row.name);
    }
    return rows;
}

} // namespace

std::vector<TimelineRow> rowsOfRanks(const TraceComparison &trace)
{
    std::vector<std::string> behaviours;
    std::vector<const Links *> links;
    for (const RankComparison &rank : trace.ranks) {
        behaviours.push_back(behaviourOf(rank));
        links.push_back(&rank.links);
    }
    return foldAlike(behaviours, links, [&](const std::vector<std::size_t> &members) {
        const auto &first = trace.ranks[members.front()].first;
        const std::string name = nameOfRanks(trace.ranks, members);
        if (!first)
            return name;
        return name + " (" + std::string(toString(first->classification.divergenceClass)) + ')';
    });
}

std::vector<TimelineRow> rowsOfMicroBatches(const TraceComparison &trace)
{
    std::vector<std::string> behaviours;
    std::vector<const Links *> links;
    for (const MicroBatchComparison &batch : trace.microBatches) {
        behaviours.push_back(statusesOf(batch.links));
        links.push_back(&batch.links);
    }
    return foldAlike(behaviours, links, [&](const std::vector<std::size_t> &members) {
        std::set<std::int64_t> numbers;
        for (const std::size_t member : members)
            numbers.insert(trace.microBatches[member].number);
        return (members.size() == 1 ? "micro-batch " : "micro-batches ") + rangesOf(numbers);
    });
}

std::vector<ChainLink> linksOf(const std::vector<TimelineRow> &rows)
{
    std::vector<ChainLink> links;
    for (const TimelineRow &row : rows)
        links.insert(links.end(), row.links.begin(), row.links.end());
    return links;
}

} // namespace forkpoint
