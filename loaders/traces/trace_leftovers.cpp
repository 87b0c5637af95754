// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/traces/trace_leftovers.h"

#include "loaders/metrics/metrics_files.h"
#include "loaders/text/ascii.h"

#include <map>
#include <optional>
#include <set>

namespace forkpoint {

namespace {

/// Leftovers of one severity that are said one by one.
constexpr std::size_t MostSaid = 20;

/// A name with each run of digits as one "#", compressed or not: "iter_#/rank_#.jsonl".
std::string shapeOf(std::string_view name)
{
    if (name.ends_with(".gz"))
        name.remove_suffix(3);
    std::string shape;
    for (const char c : name) {
        if (!isDigit(c))
            shape += c;
        else if (!shape.ends_with('#'))
            shape += '#';
    }
    return shape;
}

std::string folderOf(std::string_view name)
{
    return std::string(name.substr(0, name.rfind('/') + 1));
}

std::string_view codeOf(TraceLeftover::Kind kind)
{
    switch (kind) {
    case TraceLeftover::Kind::Foreign: return "mixed-dialects";
    case TraceLeftover::Kind::Unreadable: return "unreadable";
    case TraceLeftover::Kind::Unrecognised:
    case TraceLeftover::Kind::LongLine: return "not-recognised";
    case TraceLeftover::Kind::NotLooked: return "limit";
    }
    return "not-recognised";
}

/// What a trace's own files are called and where they lie.
class Surroundings
{
public:
    explicit Surroundings(const std::vector<TraceFile> &ofTrace)
    {
        for (const TraceFile &file : ofTrace) {
            m_shapes.insert(shapeOf(file.name));
            m_folders.insert(folderOf(file.name));
        }
    }

    /// How much it matters; nothing: it is no concern of the trace.
    std::optional<Severity> severityOf(const TraceLeftover &leftover) const
    {
        if (m_folders.empty())
            return leftover.kind == TraceLeftover::Kind::Unrecognised
                ? std::nullopt
                : std::optional(Severity::Warning);
        if (leftover.kind == TraceLeftover::Kind::Foreign
            || leftover.kind == TraceLeftover::Kind::NotLooked
            || m_shapes.count(shapeOf(leftover.name)) > 0)
            return Severity::Warning;
        if (m_folders.count(folderOf(leftover.name)) == 0 && !leftover.name.ends_with('/'))
            return std::nullopt;
        if (leftover.kind == TraceLeftover::Kind::Unreadable)
            return Severity::Warning;
        return leftover.isText && !isMetricsName(leftover.name) ? std::optional(Severity::Note)
                                                                : std::nullopt;
    }

private:
    std::set<std::string> m_shapes, m_folders;
};

} // namespace

Diagnostics describeLeftovers(const std::vector<TraceLeftover> &leftovers,
                              const std::vector<TraceFile> &ofTrace)
{
    const Surroundings surroundings(ofTrace);
    Diagnostics said;
    std::map<Severity, std::size_t> counts;
    for (const TraceLeftover &leftover : leftovers) {
        const auto severity = surroundings.severityOf(leftover);
        if (severity && ++counts[*severity] <= MostSaid)
            said.push_back({*severity,
                            std::string(codeOf(leftover.kind)),
                            leftover.name,
                            {},
                            leftover.reason});
    }
    for (const auto &[severity, count] : counts) {
        if (count > MostSaid)
            said.push_back({severity,
                            "not-recognised",
                            {},
                            {},
                            std::to_string(count - MostSaid)
                                + " more files like these are no part of the trace"});
    }
    return said;
}

} // namespace forkpoint
