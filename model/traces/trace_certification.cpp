// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/traces/trace_certification.h"

#include "model/format.h"

namespace forkpoint {

namespace {

/// Failures that are said one by one.
constexpr std::uint64_t MostShown = 20;

std::string sideWord(bool isA)
{
    return isA ? "A" : "B";
}

} // namespace

std::string unitPlace(const TracePlan::Unit &planned, bool isA, const TraceComparison &result)
{
    const auto iteration = isA ? planned.iteration : planned.ofB;
    return result.ranks[planned.rank].coordinate.toText()
        + (iteration ? ", step " + std::to_string(*iteration) : std::string());
}

/// A side that is not whole proves nothing equal.
void Certification::fail(bool isA, std::string place, const std::string &problem,
                         TraceComparison &result)
{
    result.facts.incomplete = true;
    if (++m_failures > MostShown)
        return;
    result.diagnostics.push_back(
        {Severity::Warning, "not-certified", sideWord(isA), std::move(place), problem});
}

void Certification::takeTrace(const Trace &trace, const std::set<std::int64_t> &iterations,
                              bool isA, TraceComparison &result)
{
    for (const std::string &problem : gridProblems(trace, iterations))
        fail(isA, {}, problem, result);
    for (const std::string &doubt : settingDoubts(trace))
        m_doubts.insert(sideWord(isA) + ": " + doubt);
}

void Certification::takeUnit(const TraceCertificate &certificate, bool isA,
                             const TracePlan::Unit &planned, TraceComparison &result)
{
    for (const std::string &problem : certificate.problems())
        fail(isA, unitPlace(planned, isA, result), problem, result);
    for (const std::string &doubt : certificate.doubts())
        m_doubts.insert(sideWord(isA) + ": " + doubt);
    auto &[with, without] = m_runtimes[isA];
    ++(certificate.hasRuntime() ? with : without);
}

void Certification::finish(TraceComparison &result)
{
    for (const auto &[isA, units] : m_runtimes) {
        if (units.first > 0 && units.second > 0)
            fail(isA, {},
                 counted(units.second, "iteration of a rank does", "iterations of ranks do")
                     + " not state the runtime",
                 result);
    }
    if (m_failures > MostShown)
        result.diagnostics.push_back({Severity::Warning,
                                      "not-certified",
                                      {},
                                      {},
                                      grouped(m_failures - MostShown) + " more like these"});
    if (m_doubts.empty())
        return;
    std::string text;
    for (const std::string &doubt : m_doubts)
        text += (text.empty() ? "" : "; ") + doubt;
    result.findings.push_back({"may-vary",
                               Certainty::Is,
                               Severity::Warning,
                               "values may vary from run to run: " + text,
                               {}});
}

} // namespace forkpoint
