// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/traces/trace_evidence.h"
#include "model/traces/trace_record.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace forkpoint {

/// Fewer free bits than these let an unlike input of some elements pass as equal too often.
inline constexpr int EnoughBits = 16;

/// What a rank's earliest mismatch says of the record (rule M9).
enum class DivergenceClass : std::uint8_t {
    Origin,       ///< equal inputs, other outputs
    Receiver,     ///< its own inputs, or a peer's to the same collective, differ already
    Unclassified, ///< not known: no inputs, too weak a proof, or an operation that cannot vary
};

std::string_view toString(DivergenceClass divergenceClass);

struct Classification
{
    DivergenceClass divergenceClass = DivergenceClass::Unclassified;
    std::string why;                 ///< one clause, lower case, no full stop
    std::string probe;               ///< what to record to know more; may be empty
    bool innocentCollective = false; ///< its own inputs are equal, those of a peer are not (M11)
};

/// Rule M9 with M13 and M15 for one pair that differs. `inputs` are those of the record, or of the
/// begin that belongs to a collective's end.
Classification classify(const TraceRecord &record, const EvidenceSum &inputs,
                        const EvidenceSum &outputs);

/// Rule M13: an operation that moves or maps elements one by one. Equal inputs give equal outputs,
/// on every machine; where they do not, the inputs differ unseen.
bool cannotVary(std::string_view operation);

/// Rule M13, one hop later: a fused operation that recorders do not see and that is the usual producer
/// of values which first appear in such a record, with the probe to add; empty where none is known.
std::string unseenProducer(const TraceRecord &record);

/// Rule M13 for a receiver: where did the values come from that it took on the two sides? `isKnown`:
/// whether both sides had seen that value alike before.
void judgeReceived(Classification &found, const TraceRecord &a, const TraceRecord &b,
                   const std::function<bool(const Observation &)> &isKnown);

/// Of two records that differ, what their values are where both tell some that do: "lr is 0.001 in A
/// and 0.002 in B, and 2 more values differ"; empty where digests alone do.
std::string differingValues(const TraceRecord &a, const TraceRecord &b);

/// Rule M14: calls whose values mean nothing on either side: memory that was not written yet, and
/// collectives as the dispatcher sees them, which are recorded elsewhere. Tensors at boundaries are
/// none, whatever they are called.
bool isArtifact(const TraceRecord &call);

/// Two records that met, compared under rule M14: outputs that one side took before they were there
/// (a collective's that are still its inputs, a small count copied to the host that is still zero)
/// tell no value; the inputs do.
RecordEvidence evidenceOf(const TraceRecord &a, const TraceRecord &b);

/// Whether that depends on what the digests of such a record are, and not only on which are equal.
bool mayBeTooEarly(const TraceRecord &record);

/// The axes along which a process group of that name joins ranks: "dp_cp" along two of them; none where
/// a word of the name is no axis of the coordinate. Views into `group`.
std::vector<std::string_view> groupAxes(const TraceCoordinate &coordinate, std::string_view group);

/// Whether two ranks are in one process group of that name, as far as their coordinates tell: "dp",
/// "dp_cp" join ranks along these axes. A name of no axes may join all.
bool areGroupPeers(const TraceCoordinate &a, const TraceCoordinate &b, std::string_view group);

} // namespace forkpoint
