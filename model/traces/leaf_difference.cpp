// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/traces/leaf_difference.h"

#include "model/compute_backend.h"
#include "model/dtype.h"
#include "model/format.h"

#include <algorithm>
#include <cstring>

namespace forkpoint {

namespace {

constexpr std::size_t DigestBytes = 16;
/// Tensors of one record that are placed: a call with more says enough by these.
constexpr std::size_t MostPairs = 16;
/// Leaves of each side that are held at one time.
constexpr std::uint64_t RowsAtOnce = 4096;

/// Of a tensor of one leaf the digest says no more than that it differs.
bool canBePlaced(const Observation &a, const Observation &b)
{
    const auto hasLeaves = [](const Observation &each) {
        return each.absence == Absence::Recorded && each.kind == DigestKind::Fingerprint
            && each.leaves && each.leaves->count > 1 && each.count;
    };
    return hasLeaves(a) && hasLeaves(b) && a.digest != b.digest && a.dtype == b.dtype
        && a.shape == b.shape && a.leaves->count == b.leaves->count
        && !(a.payloadOffset && b.payloadOffset);
}

Result<LeafDifference> locate(const Trace &a, const Trace &b, const LeafPair &pair,
                              const std::function<bool()> &stopped)
{
    LeafDifference found;
    found.isInput = pair.isInput;
    found.path = pair.path;
    found.leaves = pair.a.count;
    found.elements = pair.number;
    std::vector<std::byte> ofA, ofB;
    for (std::uint64_t row = 0; row < pair.a.count; row += RowsAtOnce) {
        if (stopped())
            return Error{ErrorCode::Cancelled, {}, {}, "was cancelled"};
        const auto count = std::size_t(std::min(RowsAtOnce, pair.a.count - row));
        ofA.resize(count * DigestBytes);
        ofB.resize(count * DigestBytes);
        FP_CHECK(a.leafDigests(pair.placeA, pair.a.first + row, ofA));
        FP_CHECK(b.leafDigests(pair.placeB, pair.b.first + row, ofB));
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t at = i * DigestBytes;
            if (std::memcmp(ofA.data() + at, ofB.data() + at, DigestBytes) == 0)
                continue;
            if (found.different++ == 0)
                found.leaf = row + i;
        }
    }
    if (found.different == 0)
        return Error{ErrorCode::Malformed,
                     {},
                     pair.placeA.toText(),
                     "the digests of all leaves are equal, those of the tensors are not"};
    const std::uint64_t perLeaf = 8 * LeafBytes;
    const std::uint64_t begin = found.leaf * perLeaf;
    found.firstElement = begin / pair.bits;
    found.lastElement = std::min((begin + perLeaf + pair.bits - 1) / pair.bits, found.elements) - 1;
    return found;
}

} // namespace

std::vector<LeafPair> leafPairs(const TraceRecord &a, const TraceRecord &b)
{
    std::vector<LeafPair> pairs;
    for (const bool isInput : {true, false}) {
        const auto &ofA = isInput ? a.inputs : a.outputs, &ofB = isInput ? b.inputs : b.outputs;
        for (std::size_t i = 0; i < std::min(ofA.size(), ofB.size()); ++i) {
            const auto dtype = dtypeByName(ofA[i].dtype);
            if (dtype && pairs.size() < MostPairs && canBePlaced(ofA[i], ofB[i]))
                pairs.push_back({isInput, ofA[i].path, dtype->bits, *ofA[i].count, a.place, b.place,
                                 *ofA[i].leaves, *ofB[i].leaves});
        }
    }
    return pairs;
}

Result<std::vector<LeafDifference>> locateLeaves(const Trace &a, const Trace &b,
                                                 const std::vector<LeafPair> &pairs,
                                                 const std::function<bool()> &stopped)
{
    std::vector<LeafDifference> differences;
    for (const LeafPair &pair : pairs) {
        FP_TRY(LeafDifference difference, locate(a, b, pair, stopped));
        differences.push_back(std::move(difference));
    }
    return differences;
}

std::string leafWords(const LeafDifference &difference)
{
    const std::string path = difference.path.empty() ? "" : " '" + difference.path + "'";
    return std::string("the first difference of ") + (difference.isInput ? "input" : "output")
        + path + " is among elements " + grouped(difference.firstElement) + " to "
        + grouped(difference.lastElement) + " of " + grouped(difference.elements) + " ("
        + grouped(difference.different) + " of " + grouped(difference.leaves) + " leaves "
        + (difference.different == 1 ? "differs)" : "differ)");
}

} // namespace forkpoint
