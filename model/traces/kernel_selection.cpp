// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/traces/kernel_selection.h"

#include "model/format.h"
#include "model/traces/trace_evidence.h"

namespace forkpoint {

namespace {

/// Kernels that a sentence names.
constexpr std::size_t MostNamed = 6;

constexpr const char *Second =
    "; a second instrument (a profiler's launch counts) must agree before it is believed";

} // namespace

void KernelSelection::see(const TraceRecord *a, const TraceRecord *b)
{
    const TraceRecord &record = a ? *a : *b;
    if (record.role != RecordRole::Kernel)
        return;
    Launches &launches = m_kernels[record.name];
    launches.a += a ? 1u : 0u;
    launches.b += b ? 1u : 0u;
    if (!a || !b)
        return;
    const RecordEvidence evidence = compareRecords(*a, *b);
    launches.divergent += evidence.inputs.evidence == Evidence::Equal
            && evidence.outputs.evidence == Evidence::Different
        ? 1u
        : 0u;
}

std::optional<Finding> KernelSelection::finding() const
{
    Finding finding{"kernels", Certainty::ConsistentWith, Severity::Warning, {}, {}};
    std::string selection, inside;
    for (const auto &[name, launches] : m_kernels) {
        const bool isOther = launches.a != launches.b;
        if ((!isOther && launches.divergent == 0) || finding.where.size() >= MostNamed)
            continue;
        finding.where.push_back(name);
        std::string &list = isOther ? selection : inside;
        list += (list.empty() ? "" : ", ") + name;
        if (isOther)
            list += " (" + grouped(launches.a) + " → " + grouped(launches.b) + " launches)";
    }
    if (!selection.empty())
        finding.text = "the launched kernels are not the same: " + selection
            + ": a heuristic or an autotuner chose otherwise" + Second;
    else if (!inside.empty())
        finding.text = "the same kernels were launched as often on both sides, and " + inside
            + " gave other outputs of equal inputs: the cause is inside" + Second;
    if (finding.text.empty())
        return std::nullopt;
    return finding;
}

} // namespace forkpoint
