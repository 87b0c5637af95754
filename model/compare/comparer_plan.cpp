// SPDX-License-Identifier: GPL-3.0-or-later
// What a comparison of two checkpoints will read, and what it knows without.
#include "model/compare/compare_rows.h"
#include "model/compare/comparer_state.h"
#include "model/compare/value_comparison.h"
#include "model/pairing/logical_sides.h"

#include <algorithm>

namespace forkpoint {

namespace {

/// One piece of work of a thread, where only leaves are wanted: a multiple of the leaf.
constexpr std::uint64_t TaskBytes = 4u << 20;

} // namespace

// --- step 1: pair, and decide what needs no bytes

void CheckpointComparer::State::prepare()
{
    pairing = pairCatalogs(a->catalog(), b->catalog(), options.pairing);
    tellAssembled(pairing.tensors, *a, *b);
    const RankStates ranks(a->catalog(), b->catalog(), options.pairing.strict);
    PreparedRows prepared = prepareRows(pairing, a->catalog(), b->catalog(), ranks);
    result.tensors = std::move(prepared.rows);
    measuredAs = std::move(prepared.measuredAs);
    result.values = compareValues(a->catalog(), b->catalog(), pairing.values, ranks,
                                  options.strictValues, options.tolerance);
    planReading();
    progress.itemsTotal = result.tensors.size();
    progress.phase = "comparing";
}

// --- step 2: read both sides once

/// The largest first, so that no thread is left with one at the end.
void CheckpointComparer::State::planReading()
{
    evidence.resize(result.tensors.size());
    readings.resize(result.tensors.size());
    tasksLeft.resize(result.tensors.size());
    std::vector<std::size_t> order(result.tensors.size());
    for (std::size_t i = 0; i < order.size(); ++i)
        order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t left, std::size_t right) {
        return result.tensors[left].bytes > result.tensors[right].bytes;
    });
    for (const std::size_t row : order) {
        const std::size_t before = readTasks.size();
        planRow(row);
        tasksLeft[row] = readTasks.size() - before;
        if (tasksLeft[row] > 0)
            continue;
        ++progress.itemsDone;
        if (evidence[row].any())
            decideRow(row);
    }
}

void CheckpointComparer::State::planRow(std::size_t index)
{
    const TensorRow &row = result.tensors[index];
    if (measuredAs[index]) {
        planPair(index);
    } else if (row.a.has_value() != row.b.has_value() && !options.pairing.strict) {
        // Unpaired: read for a join by content, unless its digest is known or it cannot be read.
        const PairOfTensors pair = tensorsOf(row);
        const TensorRef &tensor = pair.a ? pair.a->ref() : pair.b->ref();
        evidence[index] = evidenceOf(row, *a, *b, options.known.get());
        if (!tensor.unreadable && !evidence[index].any())
            planLeaves(index, row.a.has_value(), row.b.has_value(), tensor.bytes);
    }
}

void CheckpointComparer::State::planPair(std::size_t index)
{
    const MeasuredAs &as = *measuredAs[index];
    RowEvidence known = evidenceOf(result.tensors[index], *a, *b, options.known.get());
    const bool differenceTold = measuring == MeasureWhen::Never && !options.verdictOnly;
    if (known.withoutBytes() || decidedByDigests(known, as, options.full, !differenceTold)) {
        evidence[index] = known;
        if (known.withoutBytes())
            planWithoutBytes(index);
    } else if (as.dtype.kind == ElementKind::Opaque) {
        planLeaves(index, true, true, tensorsOf(result.tensors[index]).a->ref().bytes);
    } else {
        planUnits(index);
    }
}

/// A side that has bytes is read, unless it is known to equal the other's digest; where it differs,
/// its nodes tell about the place.
void CheckpointComparer::State::planWithoutBytes(std::size_t index)
{
    RowEvidence &known = evidence[index];
    const MeasuredAs &as = *measuredAs[index];
    if (as.widenA || as.widenB)
        return;
    for (const auto &[side, other] : {std::pair{&known.a, &known.b}, {&known.b, &known.a}}) {
        if (side->recorded || (side->content && side->content == other->content))
            continue;
        *side = {};
        readings[index].keepNodes(other->recorded->level);
        const bool sideA = side == &known.a;
        planLeaves(index, sideA, !sideA, result.tensors[index].bytes / 2);
    }
}

void CheckpointComparer::State::planUnits(std::size_t index)
{
    const TensorRow &row = result.tensors[index];
    const Index unit = unitLength(*measuredAs[index]);
    // An empty tensor still has one (empty) unit, so that it is decided like any other.
    Index first = 0;
    do {
        const Index count = std::min(unit, row.elements - first);
        const std::uint64_t bytes = (count * (row.dtypeA.bits + row.dtypeB.bits) + 7) / 8;
        readTasks.push_back({index, ReadTask::Kind::Unit, true, true, first, count, bytes});
        progress.bytesTotal += bytes;
        first += count;
    } while (first < row.elements);
}

void CheckpointComparer::State::planLeaves(std::size_t row, bool sideA, bool sideB,
                                           std::uint64_t bytes)
{
    std::uint64_t first = 0;
    do {
        const std::uint64_t size = std::min(TaskBytes, bytes - first);
        const std::uint64_t both = size * (std::uint64_t(sideA) + std::uint64_t(sideB));
        readTasks.push_back({row, ReadTask::Kind::Leaves, sideA, sideB, first, size, both});
        progress.bytesTotal += both;
        first += size;
    } while (first < bytes);
}

// --- step 4: what was not measured while it was read

void CheckpointComparer::State::planMeasuring()
{
    // Rows may have moved: all readings are done, and hold nothing that is needed again.
    readings.clear();
    readings.resize(result.tensors.size());
    tasksLeft.assign(result.tensors.size(), 0);
    if (measuring == MeasureWhen::Never)
        return;
    for (std::size_t i = 0; i < result.tensors.size(); ++i) {
        const TensorRow &row = result.tensors[i];
        const bool wanted = row.status == ItemStatus::Different
            || (row.status == ItemStatus::Identical && options.full);
        if (row.a && row.b && wanted && !row.stats && !row.partlyRead && row.shapeA == row.shapeB
            && !a->recorded(*row.a) && !b->recorded(*row.b))
            planMeasuringOf(i);
    }
}

/// All of a row that was read without being measured: opaque types, pairs joined by content.
void CheckpointComparer::State::planMeasuringOf(std::size_t index)
{
    TensorRow &row = result.tensors[index];
    const std::optional<MeasuredAs> as = commonType(row.dtypeA, row.dtypeB);
    if (!as)
        return;
    measuredAs[index] = as;
    if (row.elements == 0)
        row.stats = std::make_shared<const DiffStats>();
    const Index unit = unitElements(as->dtype);
    std::size_t units = 0;
    for (Index first = 0; first < row.elements; first += unit, ++units) {
        const Index count = std::min(unit, row.elements - first);
        const std::uint64_t bytes = (count * (row.dtypeA.bits + row.dtypeB.bits) + 7) / 8;
        measureTasks.push_back({index, units, first, count, false, bytes});
        progress.bytesTotal += bytes;
    }
    readings[index].expectUnits(units);
}

/// The units of a differing row that were equal, and left out, before it was known to differ.
void CheckpointComparer::State::planMissing(std::size_t index)
{
    const RowReading &state = readings[index];
    if (measuring == MeasureWhen::Never || state.failed() || !state.differs())
        return;
    const TensorRow &row = result.tensors[index];
    for (const std::size_t number : state.unmeasured()) {
        const Index unit = unitLength(*measuredAs[index]);
        const Index first = number * unit, count = std::min(unit, row.elements - first);
        const std::uint64_t bytes = (count * row.dtypeA.bits + 7) / 8;
        measureTasks.push_back({index, number, first, count, true, bytes});
        progress.bytesTotal += bytes;
    }
}

} // namespace forkpoint
