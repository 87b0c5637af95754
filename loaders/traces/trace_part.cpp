// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/traces/trace_part.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace forkpoint {

namespace {

std::string numbers(std::uint64_t first, std::uint64_t last)
{
    return first == last
        ? "segment " + std::to_string(first) + " is"
        : "segments " + std::to_string(first) + " to " + std::to_string(last) + " are";
}

/// The files of one rank.
class RankCheck
{
public:
    RankCheck(std::string rank, std::vector<TracePart> parts, TraceWholeness &whole)
        : m_rank(std::move(rank)),
          m_parts(std::move(parts)),
          m_whole(whole)
    {
    }

    void run()
    {
        std::sort(m_parts.begin(), m_parts.end(), [](const TracePart &a, const TracePart &b) {
            return std::tie(a.isEnd, a.number, a.file) < std::tie(b.isEnd, b.number, b.file);
        });
        checkRun();
        checkNumbers();
        checkSteps();
        checkEnd();
    }

private:
    std::vector<const TracePart *> segments() const
    {
        std::vector<const TracePart *> found;
        for (const TracePart &part : m_parts) {
            if (!part.isEnd)
                found.push_back(&part);
        }
        return found;
    }

    void complain(std::string code, const std::string &file, std::string text)
    {
        m_whole.complete = false;
        m_whole.diagnostics.push_back(
            {Severity::Warning, std::move(code), file, m_rank, std::move(text)});
    }

    void checkRun()
    {
        for (const TracePart &part : m_parts) {
            if (part.run != m_parts.front().run)
                complain("mixed-runs", part.file,
                         "is of run '" + part.run + "', " + m_parts.front().file + " is of run '"
                             + m_parts.front().run + "': they do not belong together");
        }
    }

    void checkNumbers()
    {
        std::uint64_t next = 0;
        for (const TracePart *part : segments()) {
            if (part->number < next)
                complain("repeated-segment", part->file,
                         "is segment " + std::to_string(part->number) + ", which is there already");
            if (part->number > next) {
                m_allThere = false;
                complain("missing-segment", part->file,
                         numbers(next, part->number - 1) + " missing before it");
            }
            next = std::max(next, part->number + 1);
        }
        m_next = next;
    }

    void checkSteps()
    {
        std::vector<const TracePart *> bySteps = segments();
        std::sort(bySteps.begin(), bySteps.end(), [](const TracePart *a, const TracePart *b) {
            return std::tie(a->firstStep, a->file) < std::tie(b->firstStep, b->file);
        });
        const TracePart *furthest = nullptr; // of those before, the one that reaches furthest
        for (const TracePart *part : bySteps) {
            if (furthest && part->firstStep <= furthest->lastStep)
                complain("overlapping-steps", part->file,
                         "begins with step " + std::to_string(part->firstStep) + ", "
                             + furthest->file + " reaches to step "
                             + std::to_string(furthest->lastStep));
            if (!furthest || part->lastStep > furthest->lastStep)
                furthest = part;
        }
    }

    void checkEnd()
    {
        const auto end = std::find_if(m_parts.begin(), m_parts.end(),
                                      [](const TracePart &part) { return part.isEnd; });
        if (end == m_parts.end()) {
            m_whole.complete = false;
            m_whole.diagnostics.push_back(
                {Severity::Note, "no-end-marker", m_parts.back().file, m_rank,
                 "has no end marker: its run is going on, or was killed; what is there is read"});
            return;
        }
        if (std::next(end) != m_parts.end())
            complain("repeated-end", std::next(end)->file, "is a second end marker");
        if (end->reason != "complete")
            complain("ended", end->file, "the recording ended by '" + end->reason + "'");
        if (end->segments > m_next) {
            m_allThere = false;
            complain("missing-segment", end->file,
                     numbers(m_next, end->segments - 1) + " missing at the end");
        }
        if (end->segments < m_next)
            complain("count", end->file,
                     "counts " + std::to_string(end->segments) + " segments, there are "
                         + std::to_string(m_next));
        if (m_allThere)
            checkCounts(*end);
        if (end->payloadLeftOut > 0)
            m_whole.diagnostics.push_back(
                {Severity::Note, "payload-left-out", end->file, m_rank,
                 std::to_string(end->payloadLeftOut)
                     + " bytes of tensors were asked for and left out for the budget"});
    }

    void checkCounts(const TracePart &end)
    {
        std::uint64_t records = 0, tensors = 0, values = 0;
        for (const TracePart *part : segments()) {
            records += part->records;
            tensors += part->tensors;
            values += part->values;
        }
        for (const auto &[what, found, told] : {std::tuple{"records", records, end.records},
                                                std::tuple{"tensors", tensors, end.tensors},
                                                std::tuple{"values", values, end.values}}) {
            if (found != told)
                complain("count", end.file,
                         "counts " + std::to_string(told) + " " + what + ", the segments have "
                             + std::to_string(found));
        }
    }

    std::string m_rank;
    std::vector<TracePart> m_parts; ///< segments by number, then end markers
    TraceWholeness &m_whole;
    std::uint64_t m_next = 0; ///< number behind the last segment
    bool m_allThere = true;
};

} // namespace

TraceWholeness checkWholeness(std::vector<TracePart> parts)
{
    TraceWholeness whole;
    std::map<std::string, std::vector<TracePart>> ranks;
    for (TracePart &part : parts) {
        std::string rank = part.coordinate.toText();
        ranks[std::move(rank)].push_back(std::move(part));
    }
    for (auto &[rank, own] : ranks)
        RankCheck(rank, std::move(own), whole).run();
    return whole;
}

} // namespace forkpoint
