// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/checkpoint_comparer.h"

#include "model/comparison_findings.h"
#include "model/comparison_verdict.h"
#include "model/content_join.h"
#include "model/element.h"
#include "model/pair_reading.h"
#include "model/value_comparison.h"

#include <algorithm>
#include <set>

namespace forkpoint {

namespace {

/// Reading of one batch; a batch is what an interactive request may have to wait for.
constexpr std::uint64_t BatchBytes = 64u << 20;
constexpr std::size_t BatchTasks = 4096;
/// One piece of work of a thread: a multiple of the leaf.
constexpr std::uint64_t TaskBytes = 8u << 20;

enum class Phase { Reading, Measuring, Finished };

/// What reading has found out about one row so far.
struct RowReading
{
    std::unique_ptr<FingerprintTree> treeA, treeB;
    bool differs = false;
    bool failed = false;
};

struct ReadTask
{
    std::size_t row = 0;
    bool sideA = false, sideB = false;
    ByteRange range;
};

struct MeasureTask
{
    std::size_t row = 0;
    Index first = 0, count = 0;
};

/// How the two dtypes of a row are compared, or that they are not.
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

/// The rank that a tensor belongs to; nothing where it is of the whole run.
const OwnerCoordinate *rankOf(const Catalog &catalog, TensorIndex index)
{
    const OwnerIndex owner = catalog.tensors[index].owner;
    return owner < catalog.owners.size() ? &catalog.owners[owner] : nullptr;
}

/// The ranks that have tensors of their own.
std::set<std::vector<std::pair<std::string, std::int64_t>>> ranksOf(const Catalog &catalog)
{
    std::set<std::vector<std::pair<std::string, std::int64_t>>> ranks;
    for (TensorIndex i = 0; i < catalog.tensors.size(); ++i) {
        if (const OwnerCoordinate *rank = rankOf(catalog, i))
            ranks.insert(rank->axes);
    }
    return ranks;
}

} // namespace

struct CheckpointComparer::State
{
    std::shared_ptr<const TensorSource> a, b;
    CompareOptions options;
    const ComputeBackend &backend;
    Executor &executor;

    CheckpointComparison result;
    Pairing pairing;
    bool unlikeRanks = false; ///< rank-local tensors do not come from the same ranks on both sides
    std::vector<std::optional<MeasuredAs>> measuredAs; ///< per row; nothing: no common type
    std::vector<RowReading> readings;
    std::vector<ReadTask> readTasks;
    std::vector<MeasureTask> measureTasks;
    std::size_t nextTask = 0;
    bool changed = false; ///< a file did, while it was read
    Phase phase = Phase::Reading;
    Progress progress;

    State(std::shared_ptr<const TensorSource> sourceA, std::shared_ptr<const TensorSource> sourceB,
          CompareOptions compareOptions, const ComputeBackend &computeBackend,
          Executor &workExecutor)
        : a(std::move(sourceA)),
          b(std::move(sourceB)),
          options(std::move(compareOptions)),
          backend(computeBackend),
          executor(workExecutor)
    {
    }

    void prepare();
    TensorRow rowOf(const TensorPair &pair) const;
    bool ownedByRank(const TensorRow &row) const;
    std::string unreadableReason(const TensorRow &row) const;
    void classify(TensorRow &row, std::optional<MeasuredAs> &as) const;
    void planReading();
    void planSide(std::size_t row, bool sideA, bool sideB, std::uint64_t bytes);
    void planMeasuring();

    bool readBatch(std::stop_token stop);
    void takeReading(const ReadTask &task, LeafReading reading);
    void fail(TensorRow &row, const Error &error, bool differs);
    void finishReading();
    void decideRow(std::size_t row);
    bool measureBatch(std::stop_token stop);
    void finish();

    PairOfTensors tensorsOf(const TensorRow &row, bool sideA = true, bool sideB = true) const;
    ComparisonContext context() const;
};

PairOfTensors CheckpointComparer::State::tensorsOf(const TensorRow &row, bool sideA,
                                                   bool sideB) const
{
    PairOfTensors pair;
    if (row.a && sideA)
        pair.a = SourcedTensor{a.get(), *row.a};
    if (row.b && sideB)
        pair.b = SourcedTensor{b.get(), *row.b};
    return pair;
}

// --- step 1: pair, and decide what needs no bytes

TensorRow CheckpointComparer::State::rowOf(const TensorPair &pair) const
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
    };
    if (pair.b)
        describe(b->catalog().tensors[*pair.b], row.nameB, row.dtypeB, row.shapeB,
                 row.layoutKnownB);
    if (pair.a)
        describe(a->catalog().tensors[*pair.a], row.nameA, row.dtypeA, row.shapeA,
                 row.layoutKnownA);
    return row;
}

/// Of a pair: why its bytes cannot be had, or empty.
std::string CheckpointComparer::State::unreadableReason(const TensorRow &row) const
{
    if (const auto &error = a->catalog().tensors[*row.a].unreadable)
        return "A: " + error->message();
    if (const auto &error = b->catalog().tensors[*row.b].unreadable)
        return "B: " + error->message();
    return {};
}

void CheckpointComparer::State::classify(TensorRow &row, std::optional<MeasuredAs> &as) const
{
    if (unlikeRanks && ownedByRank(row)) {
        row.status = ItemStatus::NotCompared;
        row.notComparable = true;
        row.reason = "the state of one rank, and the two sides were written by unlike ranks";
        return;
    }
    if (!row.a || !row.b) {
        row.status = row.a ? ItemStatus::OnlyInA : ItemStatus::OnlyInB;
        return;
    }
    if (!row.layoutKnownA || !row.layoutKnownB) {
        row.reason = unreadableReason(row);
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
    row.reason = unreadableReason(row);
    if (!row.reason.empty()) {
        as.reset();
        return;
    }
    row.reason = "not read yet";
}

bool CheckpointComparer::State::ownedByRank(const TensorRow &row) const
{
    return (row.a && rankOf(a->catalog(), *row.a)) || (row.b && rankOf(b->catalog(), *row.b));
}

void CheckpointComparer::State::prepare()
{
    unlikeRanks = ranksOf(a->catalog()) != ranksOf(b->catalog());
    pairing = pairCatalogs(a->catalog(), b->catalog(), options.pairing);
    for (const TensorPair &pair : pairing.tensors) {
        result.tensors.push_back(rowOf(pair));
        measuredAs.emplace_back();
        classify(result.tensors.back(), measuredAs.back());
    }
    result.values = compareValues(a->catalog(), b->catalog(), pairing.values, options.strictValues,
                                  options.tolerance);
    planReading();
    progress.itemsTotal = result.tensors.size();
    progress.phase = "comparing";
}

// --- step 2: read both sides once

void CheckpointComparer::State::planSide(std::size_t row, bool sideA, bool sideB,
                                         std::uint64_t bytes)
{
    // An empty tensor still has one (empty) range, so that it is decided like any other.
    std::uint64_t first = 0;
    do {
        const std::uint64_t size = std::min(TaskBytes, bytes - first);
        readTasks.push_back({row, sideA, sideB, {first, size}});
        progress.bytesTotal += size * (std::uint64_t(sideA) + std::uint64_t(sideB));
        first += size;
    } while (first < bytes);
}

void CheckpointComparer::State::planReading()
{
    readings.resize(result.tensors.size());
    for (std::size_t i = 0; i < result.tensors.size(); ++i) {
        const TensorRow &row = result.tensors[i];
        readings[i].treeA = std::make_unique<FingerprintTree>(backend);
        readings[i].treeB = std::make_unique<FingerprintTree>(backend);
        const PairOfTensors pair = tensorsOf(row);
        if (measuredAs[i]) {
            const std::uint64_t bytesA = pair.a->ref().bytes, bytesB = pair.b->ref().bytes;
            if (bytesA == bytesB) {
                planSide(i, true, true, bytesA);
            } else {
                planSide(i, true, false, bytesA);
                planSide(i, false, true, bytesB);
            }
        } else if (row.a.has_value() != row.b.has_value() && !options.pairing.strict) {
            // Unpaired: read for a join by content, unless it cannot be read.
            const TensorRef &tensor = pair.a ? pair.a->ref() : pair.b->ref();
            if (!tensor.unreadable)
                planSide(i, row.a.has_value(), row.b.has_value(), tensor.bytes);
        }
    }
}

/// A difference that was seen stays one, whatever cannot be read after it.
void CheckpointComparer::State::fail(TensorRow &row, const Error &error, bool differs)
{
    result.diagnostics.push_back(toDiagnostic(error, Severity::Error));
    if (!row.a || !row.b)
        return;
    row.status = differs ? ItemStatus::Different : ItemStatus::NotCompared;
    row.partlyRead = differs;
    row.reason = (differs ? "differs; not read to the end: " : "") + error.message();
}

void CheckpointComparer::State::takeReading(const ReadTask &task, LeafReading reading)
{
    RowReading &state = readings[task.row];
    TensorRow &row = result.tensors[task.row];
    state.differs |= reading.differs;
    if (state.failed)
        return;
    if (reading.errorA || reading.errorB) {
        state.failed = true;
        const bool onA = reading.errorA.has_value();
        const std::string &name = onA ? row.nameA : row.nameB;
        fail(row,
             (onA ? std::move(*reading.errorA) : std::move(*reading.errorB))
                 .atPlace("tensor '" + name + "' of " + (onA ? "A" : "B")),
             state.differs);
        return;
    }
    for (const Digest128 &leaf : reading.leavesA)
        state.treeA->push(leaf);
    for (const Digest128 &leaf : reading.leavesB)
        state.treeB->push(leaf);
}

bool CheckpointComparer::State::readBatch(std::stop_token stop)
{
    const std::size_t begin = nextTask;
    const std::uint64_t doneBefore = progress.bytesDone;
    std::vector<ReadTask> batch;
    std::uint64_t bytes = 0;
    while (nextTask < readTasks.size() && bytes < BatchBytes && batch.size() < BatchTasks) {
        const ReadTask &task = readTasks[nextTask++];
        const RowReading &state = readings[task.row];
        const std::uint64_t size =
            task.range.size * (std::uint64_t(task.sideA) + std::uint64_t(task.sideB));
        progress.bytesDone += size;
        if (state.failed)
            continue;
        if (options.verdictOnly && state.differs) {
            result.tensors[task.row].stoppedEarly = true;
            continue;
        }
        batch.push_back(task);
        bytes += size;
    }
    if (batch.empty())
        return nextTask < readTasks.size();
    std::vector<LeafReading> results(batch.size());
    executor.forEach(batch.size(), [&](std::size_t i) {
        const ReadTask &task = batch[i];
        results[i] = readLeaves(tensorsOf(result.tensors[task.row], task.sideA, task.sideB),
                                task.range, backend, options.fingerprints, stop);
    });
    if (stop.stop_requested()) { // half a batch is dropped, and done again if the caller goes on
        nextTask = begin;
        progress.bytesDone = doneBefore;
        return true;
    }
    for (std::size_t i = 0; i < batch.size(); ++i)
        takeReading(batch[i], std::move(results[i]));
    // Rows whose last range was read are decided at once, so that results appear on the way.
    for (const ReadTask &task : batch) {
        if (nextTask >= readTasks.size() || readTasks[nextTask].row > task.row)
            decideRow(task.row);
    }
    progress.item = result.tensors[batch.back().row].name;
    progress.itemsDone = batch.back().row + 1;
    return true;
}

void CheckpointComparer::State::decideRow(std::size_t index)
{
    TensorRow &row = result.tensors[index];
    RowReading &state = readings[index];
    if (!state.treeA)
        return; // decided before
    if (!state.failed && options.fingerprints && !row.stoppedEarly) {
        const auto print = [&](const TensorSource &source, TensorIndex tensor,
                               FingerprintTree &tree) {
            const Digest128 content = tree.finish();
            return TensorFingerprint{
                content, tensorDigest(backend, source.catalog().tensors[tensor], content)};
        };
        if (row.a)
            row.fingerprintA = print(*a, *row.a, *state.treeA);
        if (row.b)
            row.fingerprintB = print(*b, *row.b, *state.treeB);
    }
    state.treeA.reset();
    state.treeB.reset();
    if (state.failed || !measuredAs[index])
        return;
    const bool sameType = !measuredAs[index]->widenA && !measuredAs[index]->widenB;
    row.status = state.differs || !sameType ? ItemStatus::Different : ItemStatus::Identical;
    row.reason.clear();
    if (row.status == ItemStatus::Identical)
        row.valueEqual = true;
    if (!sameType)
        row.reason = "dtype " + row.dtypeA.name + " against " + row.dtypeB.name;
    else if (row.dtypeA != row.dtypeB)
        row.reason = std::string(row.dtypeA.name == row.comparedAs ? "B" : "A")
            + "'s file does not name the type; bits compared as " + row.comparedAs;
}

// --- steps 3 and 4: join by content, then measure

void CheckpointComparer::State::finishReading()
{
    for (std::size_t i = 0; i < result.tensors.size(); ++i)
        if (readings[i].treeA && measuredAs[i])
            decideRow(i);
    if (!options.pairing.strict) {
        const JoinedRows joined = joinByContent(result.tensors, a->catalog(), b->catalog());
        pairing.anyNameInCommon |= joined.pairs > 0;
        if (joined.pairs > 0) {
            // Rows have moved; only rows that still need measuring keep a type.
            measuredAs.clear();
            for (const TensorRow &row : result.tensors) {
                const bool readable = row.a && row.b && row.status != ItemStatus::NotCompared
                    && row.shapeA == row.shapeB;
                measuredAs.push_back(readable ? commonType(row.dtypeA, row.dtypeB) : std::nullopt);
            }
        }
    }
    for (std::size_t i = 0; i < result.tensors.size(); ++i) {
        TensorRow &row = result.tensors[i];
        if (row.a && row.b)
            row.reason = row.reason == "not read yet" ? std::string() : row.reason;
    }
    planMeasuring();
    nextTask = 0;
    phase = Phase::Measuring;
    progress.phase = "measuring differences";
}

void CheckpointComparer::State::planMeasuring()
{
    if ((options.verdictOnly || !options.measure) && !options.tolerance.asked())
        return;
    for (std::size_t i = 0; i < result.tensors.size(); ++i) {
        const TensorRow &row = result.tensors[i];
        if (!measuredAs[i] || row.status == ItemStatus::NotCompared || row.partlyRead)
            continue;
        if (row.status == ItemStatus::Identical && !options.full)
            continue;
        const Index unit = unitElements(measuredAs[i]->dtype);
        for (Index first = 0; first < row.elements; first += unit)
            measureTasks.push_back({i, first, std::min(unit, row.elements - first)});
        if (row.elements == 0)
            result.tensors[i].stats.emplace();
        progress.bytesTotal += row.bytes;
    }
}

bool CheckpointComparer::State::measureBatch(std::stop_token stop)
{
    const std::size_t begin = nextTask;
    std::vector<MeasureTask> batch;
    std::uint64_t bytes = 0;
    while (nextTask < measureTasks.size() && bytes < BatchBytes && batch.size() < BatchTasks) {
        const MeasureTask &task = measureTasks[nextTask++];
        const TensorRow &row = result.tensors[task.row];
        if (row.status == ItemStatus::NotCompared || row.partlyRead)
            continue;
        bytes += task.count * (row.dtypeA.bits + row.dtypeB.bits) / 8;
        batch.push_back(task);
    }
    progress.bytesDone += bytes;
    std::vector<std::optional<Result<DiffStats>>> stats(batch.size());
    executor.forEach(batch.size(), [&](std::size_t i) {
        const MeasureTask &task = batch[i];
        stats[i] = measure(tensorsOf(result.tensors[task.row]), *measuredAs[task.row], task.first,
                           task.count, {options.tolerance, options.full}, backend, stop);
    });
    if (stop.stop_requested()) {
        nextTask = begin;
        progress.bytesDone -= bytes;
        return true;
    }
    for (std::size_t i = 0; i < batch.size(); ++i) {
        TensorRow &row = result.tensors[batch[i].row];
        if (row.status == ItemStatus::NotCompared || row.partlyRead)
            continue;
        if (!stats[i]->ok()) {
            row.stats.reset();
            fail(row, std::move(*stats[i]).error(), row.status == ItemStatus::Different);
            continue;
        }
        if (!row.stats)
            row.stats.emplace();
        row.stats->append(stats[i]->value());
        progress.item = row.name;
    }
    return nextTask < measureTasks.size();
}

// --- step 5: findings and the verdict

ComparisonContext CheckpointComparer::State::context() const
{
    ComparisonContext context;
    context.complete = a->catalog().complete && b->catalog().complete;
    context.anyNameInCommon = pairing.anyNameInCommon;
    context.toleranceAsked = options.tolerance.asked();
    context.partial = phase != Phase::Finished;
    context.changed = changed;
    context.contextInScope = options.pairing.scope
        && std::any_of(options.pairing.scope->begin(), options.pairing.scope->end(), isContext);
    return context;
}

void CheckpointComparer::State::finish()
{
    for (TensorRow &row : result.tensors) {
        if (!row.stats || row.status != ItemStatus::Different)
            continue;
        row.valueEqual = row.stats->valueEqual();
        row.withinTolerance = options.tolerance.asked() && row.stats->beyondTolerance == 0;
    }
    for (const auto &[side, source] : {std::pair{"A", a.get()}, std::pair{"B", b.get()}}) {
        if (const Status status = source->unchanged(); !status) {
            changed = true;
            result.diagnostics.push_back(
                toDiagnostic(Error(status.error()).atPlace(side), Severity::Error));
        }
        const Catalog &catalog = source->catalog();
        result.diagnostics.insert(result.diagnostics.end(), catalog.diagnostics.begin(),
                                  catalog.diagnostics.end());
    }
    phase = Phase::Finished;
    result.findings = comparisonFindings(result, *a, *b, pairing);
    result.finished = true;
    progress.phase = "finished";
    progress.itemsDone = progress.itemsTotal;
    progress.bytesDone = progress.bytesTotal;
}

// --- the public face

CheckpointComparer::CheckpointComparer(std::shared_ptr<const TensorSource> a,
                                       std::shared_ptr<const TensorSource> b,
                                       CompareOptions options, const ComputeBackend &backend,
                                       Executor &executor)
    : m_state(
        std::make_unique<State>(std::move(a), std::move(b), std::move(options), backend, executor))
{
    m_state->prepare();
}

CheckpointComparer::~CheckpointComparer() = default;

bool CheckpointComparer::advance(std::stop_token stop)
{
    State &state = *m_state;
    switch (state.phase) {
    case Phase::Reading:
        if (!state.readBatch(stop))
            state.finishReading();
        return true;
    case Phase::Measuring:
        if (!state.measureBatch(stop))
            state.finish();
        return state.phase != Phase::Finished;
    case Phase::Finished: break;
    }
    return false;
}

Progress CheckpointComparer::progress() const
{
    return m_state->progress;
}

CheckpointComparison CheckpointComparer::snapshot() const
{
    CheckpointComparison result = m_state->result;
    summarise(result, m_state->context());
    return result;
}

} // namespace forkpoint
