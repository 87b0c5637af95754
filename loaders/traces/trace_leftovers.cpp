// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/traces/trace_leftovers.h"

#include "loaders/metrics/metrics_files.h"
#include "loaders/text/ascii.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

namespace forkpoint {

namespace {

/// Leftovers of one severity that are said one by one.
constexpr std::size_t MostSaid = 20;

/// What msprobe writes beside each dump.json, with no value of a tensor in it: the module that each
/// name lies in (construct.json, empty at level L1), and the lines that called it (stack.json).
constexpr std::array<std::string_view, 2> MsprobeCompanions = {"construct.json", "stack.json"};

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

std::string_view nameIn(std::string_view name)
{
    return name.substr(name.rfind('/') + 1);
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
            if (nameIn(file.name) == "dump.json")
                m_msprobe.insert(folderOf(file.name));
        }
    }

    /// Whether it is one of MsprobeCompanions beside a dump.json of the trace.
    bool isCompanion(const TraceLeftover &leftover) const
    {
        return leftover.kind != TraceLeftover::Kind::Unreadable
            && m_msprobe.count(folderOf(leftover.name)) > 0
            && std::find(MsprobeCompanions.begin(), MsprobeCompanions.end(), nameIn(leftover.name))
            != MsprobeCompanions.end();
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
    std::set<std::string> m_shapes, m_folders, m_msprobe;
};

} // namespace

Diagnostics describeLeftovers(const std::vector<TraceLeftover> &leftovers,
                              const std::vector<TraceFile> &ofTrace)
{
    const Surroundings surroundings(ofTrace);
    Diagnostics said;
    std::map<Severity, std::size_t> counts;
    std::size_t companions = 0;
    for (const TraceLeftover &leftover : leftovers) {
        if (surroundings.isCompanion(leftover)) {
            ++companions;
            continue;
        }
        const auto severity = surroundings.severityOf(leftover);
        if (severity && ++counts[*severity] <= MostSaid)
            said.push_back({*severity,
                            std::string(codeOf(leftover.kind)),
                            leftover.name,
                            {},
                            leftover.reason});
    }
    if (companions > 0)
        said.push_back({Severity::Note,
                        "not-read",
                        {},
                        {},
                        "msprobe's lists of enclosing modules (construct.json) and of callers "
                        "(stack.json) hold no values and are not read: "
                            + std::to_string(companions) + (companions == 1 ? " file" : " files")});
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
