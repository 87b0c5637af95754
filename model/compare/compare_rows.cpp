// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/compare/compare_rows.h"

#include "model/element.h"
#include "model/pairing/optimizer_names.h"
#include "model/pairing/shard_shapes.h"

#include <algorithm>

namespace forkpoint {

std::optional<MeasuredAs> commonType(const DType &a, const DType &b)
{
    if (a == b)
        return MeasuredAs{a, false, false};
    if (a.packing != b.packing)
        return std::nullopt; // equal shapes, but not as many elements
    // A file that does not name its type takes the other side's, bit for bit.
    if (a.bits == b.bits) {
        if (a.kind == ElementKind::Opaque && a.name.starts_with("void"))
            return MeasuredAs{b, false, false};
        if (b.kind == ElementKind::Opaque && b.name.starts_with("void"))
            return MeasuredAs{a, false, false};
    }
    if (embedsExactly(a, b))
        return MeasuredAs{b, true, false};
    if (embedsExactly(b, a))
        return MeasuredAs{a, false, true};
    return std::nullopt;
}

namespace {

TensorRow rowOf(const TensorPair &pair, const Catalog &a, const Catalog &b)
{
    TensorRow row;
    row.name = pair.name;
    row.a = pair.a;
    row.b = pair.b;
    row.stateClass = pair.stateClass;
    row.pairedBy = pair.by;
    row.pairedReason = pair.reason;
    row.ambiguous = pair.ambiguous;
    const auto describe = [&](const TensorRef &tensor, std::string &name, DType &dtype,
                              Shape &shape, bool &layoutKnown) {
        name = tensor.name;
        dtype = tensor.dtype;
        shape = tensor.shape;
        layoutKnown = tensor.layoutKnown;
        row.elements = std::max(row.elements, tensor.elements);
        row.bytes += tensor.bytes;
        row.order = tensor.fileOrder;
        row.executionOrder = tensor.executionOrder;
        row.recorded = tensor.recorded;
    };
    if (pair.b)
        describe(b.tensors[*pair.b], row.nameB, row.dtypeB, row.shapeB, row.layoutKnownB);
    if (pair.a)
        describe(a.tensors[*pair.a], row.nameA, row.dtypeA, row.shapeA, row.layoutKnownA);
    return row;
}

/// Of a pair: why its bytes cannot be had, or empty.
std::string unreadableReason(const TensorRow &row, const Catalog &a, const Catalog &b)
{
    if (const auto &error = a.tensors[*row.a].unreadable)
        return "A: " + error->message();
    if (const auto &error = b.tensors[*row.b].unreadable)
        return "B: " + error->message();
    return {};
}

void classify(TensorRow &row, const Catalog &a, const Catalog &b, std::optional<MeasuredAs> &as)
{
    if (!row.a || !row.b) {
        row.status = row.a ? ItemStatus::OnlyInA : ItemStatus::OnlyInB;
        return;
    }
    if (!row.layoutKnownA || !row.layoutKnownB) {
        row.reason = unreadableReason(row, a, b);
        return;
    }
    if (row.shapeA != row.shapeB) {
        row.status = ItemStatus::Different;
        row.reason = "shape " + row.shapeA.toString() + " against " + row.shapeB.toString();
        return;
    }
    as = commonType(row.dtypeA, row.dtypeB);
    if (!as) {
        row.status = ItemStatus::Different;
        row.reason = "dtype " + row.dtypeA.name + " against " + row.dtypeB.name;
        return;
    }
    if (row.dtypeA != row.dtypeB)
        row.comparedAs = as->dtype.name;
    row.reason = unreadableReason(row, a, b);
    if (!row.reason.empty()) {
        as.reset();
        return;
    }
    row.reason = "not read yet";
}

/// Of a numbered state of an optimizer, on whichever side it is clear.
std::string parameterOfPair(const TensorPair &pair, const Catalog &a, const Catalog &b,
                            const std::vector<OptimizerNames> &ofA,
                            const std::vector<OptimizerNames> &ofB)
{
    std::string parameter;
    if (pair.a && pair.stateClass == StateClass::Optimizer)
        parameter = parameterOf(a.tensors[*pair.a].path, ofA);
    if (pair.b && pair.stateClass == StateClass::Optimizer && parameter.empty())
        parameter = parameterOf(b.tensors[*pair.b].path, ofB);
    return parameter;
}

} // namespace

std::string unnamedTypeText(const TensorRow &row)
{
    return std::string(row.dtypeA.name == row.comparedAs ? "B" : "A")
        + "'s file does not name the type; bits compared as " + row.comparedAs;
}

PreparedRows prepareRows(const Pairing &pairing, const Catalog &a, const Catalog &b,
                         const RankStates &ranks)
{
    const std::vector<OptimizerNames> ofA = optimizerNames(a), ofB = optimizerNames(b);
    PreparedRows prepared;
    prepared.rows.reserve(pairing.tensors.size());
    prepared.measuredAs.reserve(pairing.tensors.size());
    for (const TensorPair &pair : pairing.tensors) {
        prepared.rows.push_back(rowOf(pair, a, b));
        prepared.rows.back().parameter = parameterOfPair(pair, a, b, ofA, ofB);
        prepared.measuredAs.emplace_back();
        TensorRow &row = prepared.rows.back();
        row.reason = ranks.whyNothing(row.a ? &a.tensors[*row.a] : nullptr,
                                      row.b ? &b.tensors[*row.b] : nullptr);
        if (!row.reason.empty()) {
            row.status = ItemStatus::NotCompared;
            row.notComparable = true;
        } else {
            classify(row, a, b, prepared.measuredAs.back());
        }
    }
    doubtShardShapes(prepared.rows, a, b);
    return prepared;
}

} // namespace forkpoint
