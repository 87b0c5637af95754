// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/traces/trace_certificate.h"

#include "model/format.h"
#include "model/text/text.h"

#include <algorithm>

namespace forkpoint {

namespace {

/// Outputs of forward passes that are remembered until their recomputation, and their bytes.
constexpr std::size_t MostForwards = 65'536;
constexpr std::size_t MostForwardBytes = std::size_t(16) << 20;
/// Doubts of one iteration that are kept.
constexpr std::size_t MostDoubts = 16;

std::string fieldOf(const TraceRecord &record, std::string_view name)
{
    for (const auto &[field, value] : record.fields) {
        if (field == name)
            return value;
    }
    return {};
}

/// The outputs as one text, or nothing where one of them tells no value, or none is there.
std::optional<std::string> outputsOf(const TraceRecord &record)
{
    std::string text;
    for (const Observation &output : record.outputs) {
        if (output.absence != Absence::Recorded)
            return std::nullopt;
        text += output.dtype + ' ' + output.digest + ' ';
        for (const std::uint64_t dimension : output.shape.value_or(std::vector<std::uint64_t>()))
            text += std::to_string(dimension) + ',';
        text += '\n';
    }
    return text.empty() ? std::nullopt : std::optional(text);
}

bool isFailed(const std::string &value)
{
    return value == "false" || value == "False" || value == "0";
}

} // namespace

bool TraceCertificate::Recomputations::concerns(const TraceRecord &record)
{
    return record.name == "checkpoint.forward" || record.name == "checkpoint.recompute";
}

/// A forward and its recomputation have one key but for their names: what stands behind the name says
/// which checkpoint they are of. The n-th recomputation of one is of its n-th forward: once a forward
/// could not be remembered none is, lest a later one stand in its place.
void TraceCertificate::Recomputations::see(const TraceRecord &record)
{
    if (!concerns(record))
        return;
    const bool isForward = record.name == "checkpoint.forward";
    const std::size_t name = record.key.find(record.name);
    const std::string which =
        name == std::string::npos ? record.key : record.key.substr(name + record.name.size());
    if (isForward) {
        std::string outputs = outputsOf(record).value_or(std::string());
        const std::size_t bytes = which.size() + outputs.size();
        m_isFull = m_isFull || m_waiting >= MostForwards || m_bytes + bytes > MostForwardBytes;
        if (m_isFull)
            return;
        ++m_waiting;
        m_bytes += bytes;
        m_forward[which].push_back(std::move(outputs));
        return;
    }
    const auto waiting = m_forward.find(which);
    std::string before;
    if (waiting != m_forward.end() && !waiting->second.empty()) {
        before = std::move(waiting->second.front());
        waiting->second.pop_front();
        --m_waiting;
        m_bytes -= which.size() + before.size();
        if (waiting->second.empty())
            m_forward.erase(waiting);
    }
    const auto now = outputsOf(record);
    m_unknown += before.empty() || !now ? 1u : 0u;
    m_different += !before.empty() && now && *now != before ? 1u : 0u;
}

void TraceCertificate::seeNumber(std::optional<std::uint64_t> sequence)
{
    if (m_rule == SequenceRule::None || !sequence)
        return;
    const bool isFirst = !m_last.has_value();
    const bool rises = isFirst || *sequence > *m_last;
    const bool hasGap = m_rule == SequenceRule::GapFree && *sequence != (isFirst ? 0 : *m_last + 1);
    m_unordered += !rises || hasGap ? 1u : 0u;
    m_repeats = m_repeats || (!isFirst && *sequence == *m_last);
    m_last = sequence;
}

bool TraceCertificate::needsNumberAlone(const TraceRecord &record)
{
    return record.role == RecordRole::Tensor || record.role == RecordRole::Kernel
        || record.role == RecordRole::Collective
        || (record.role == RecordRole::Op && !Recomputations::concerns(record));
}

void TraceCertificate::seeCollective(const TraceRecord &record)
{
    std::int64_t &open = m_open[record.group];
    if (record.role == RecordRole::CollectiveBegin) {
        ++open;
    } else if (open > 0) {
        --open;
    } else {
        ++m_unbegun;
    }
    if (record.role == RecordRole::CollectiveEnd)
        m_undigested += std::any_of(record.outputs.begin(), record.outputs.end(),
                                    [](const Observation &output) {
                                        return output.absence == Absence::Null
                                            || output.absence == Absence::Unresolved;
                                    })
            ? 1u
            : 0u;
    if (m_doubts.size() >= MostDoubts)
        return;
    if (isFailed(fieldOf(record, "fp32_accumulation")))
        m_doubts.insert("gradients are reduced without float32 accumulation");
    const std::string members = fieldOf(record, "group_size");
    if (members != "1" && members != "2"
        && isFailed(fieldOf(record, "hierarchical_fp32_accumulation")))
        m_doubts.insert("gradients of groups of " + members
                        + " are reduced without hierarchical float32 accumulation");
}

void TraceCertificate::see(const TraceRecord &record)
{
    seeNumber(record.sequence);
    switch (record.role) {
    case RecordRole::Runtime: ++m_runtimes; break;
    case RecordRole::IterationBegin: ++m_begins; break;
    case RecordRole::IterationEnd:
        ++m_ends;
        for (const auto &[name, value] : record.fields)
            m_pending = m_pending || (name == "pending_collectives" && value != "0");
        break;
    case RecordRole::Failure: ++m_failures; break;
    case RecordRole::Truncated: ++m_truncations; break;
    case RecordRole::CollectiveBegin:
    case RecordRole::CollectiveEnd: seeCollective(record); break;
    case RecordRole::Op: m_recomputations.see(record); break;
    case RecordRole::Values:
        if (record.name == "te.attention.backend.unavailable")
            m_doubts.insert("the attention back-end is not known");
        break;
    default: break;
    }
}

bool TraceCertificate::lacksRecords() const
{
    const bool isOpen =
        std::any_of(m_open.begin(), m_open.end(), [](const auto &each) { return each.second > 0; });
    return m_unordered > 0 || m_begins != m_ends || m_truncations > 0 || m_pending || isOpen
        || m_unbegun > 0 || (m_runtimes > 0 && m_begins + m_ends == 0);
}

std::vector<std::string> TraceCertificate::problems() const
{
    std::vector<std::string> found;
    const auto add = [&](bool applies, std::string text) {
        if (applies)
            found.push_back(std::move(text));
    };
    add(m_unordered > 0,
        counted(m_unordered, "sequence number does", "sequence numbers do")
            + " not follow the one before");
    add(m_begins != m_ends,
        "begins " + counted(m_begins, "time", "times") + " and ends "
            + counted(m_ends, "time", "times"));
    add(m_begins > 1, "begins more than once");
    add(m_runtimes > 0 && m_begins + m_ends == 0, "has neither a begin nor an end");
    add(m_runtimes > 1, "states its runtime more than once");
    add(m_failures > 0, "ended by an error");
    add(m_truncations > 0, "the tool stopped recording");
    add(m_pending, "collectives were pending at its end");
    std::uint64_t unmatched = m_unbegun;
    for (const auto &[group, count] : m_open)
        unmatched += std::uint64_t(count);
    add(unmatched > 0,
        counted(unmatched, "collective", "collectives") + " began without an end, or the reverse");
    add(m_undigested > 0,
        "outputs of " + counted(m_undigested, "collective", "collectives") + " have no digest");
    add(m_recomputations.different() > 0,
        counted(m_recomputations.different(), "recomputation differs", "recomputations differ")
            + " from the forward pass");
    add(m_recomputations.unknown() > 0,
        counted(m_recomputations.unknown(), "recomputation", "recomputations")
            + " cannot be held to a forward pass: "
            + (m_recomputations.isFull() ? "too many or too long ones wait" : "no digests"));
    return found;
}

std::vector<std::string> gridProblems(const Trace &trace, const std::set<std::int64_t> &iterations)
{
    std::set<std::int64_t> all;
    std::set<std::string> levels;
    std::map<std::string, std::set<std::string>> sizes;
    for (const TraceStream &stream : trace.streams()) {
        for (const auto &iteration : stream.iterations()) {
            if (iteration && iterations.count(*iteration) > 0)
                all.insert(*iteration);
        }
        for (const TraceFact &fact : stream.facts) {
            if (fact.name == "trace_detail")
                levels.insert(fact.value);
            if (fact.role == TraceFact::Role::Parallel)
                sizes[fact.name].insert(fact.value);
        }
    }
    std::vector<std::string> found;
    for (const TraceStream &stream : trace.streams()) {
        const auto recorded = stream.iterations();
        const std::set<std::optional<std::int64_t>> own(recorded.begin(), recorded.end());
        std::uint64_t missing = 0;
        std::optional<std::int64_t> first;
        for (const std::int64_t iteration : all) {
            if (own.count(iteration) > 0)
                continue;
            ++missing;
            first = first.value_or(iteration);
        }
        if (missing > 0 && !stream.segments.empty())
            found.push_back(stream.coordinate.toText() + " lacks "
                            + counted(missing, "iteration", "iterations")
                            + " that other ranks have, the first is " + std::to_string(*first));
    }
    for (const auto &[name, stated] : sizes) {
        if (stated.size() > 1)
            found.push_back("states " + name + " as " + listed(stated));
    }
    if (levels.size() > 1)
        found.push_back("records are of several levels of detail");
    return found;
}

std::set<std::string> settingDoubts(const Trace &trace)
{
    std::set<std::string> doubts;
    for (const TraceStream &stream : trace.streams()) {
        for (const TraceFact &fact : stream.facts) {
            if (fact.name == "deterministic_algorithms" && isFailed(fact.value))
                doubts.insert("deterministic algorithms are off");
        }
    }
    return doubts;
}

} // namespace forkpoint
