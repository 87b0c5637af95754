// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/compare/checkpoint_comparer.h"

#include "model/compare/compare_rows.h"
#include "model/compare/comparer_state.h"
#include "model/compare/comparison_findings.h"
#include "model/compare/lost_items.h"
#include "model/compare/owner_differences.h"
#include "model/compare/unlike_replicas.h"
#include "model/pairing/content_join.h"
#include "model/resume/resume_facts.h"

#include <algorithm>
#include <array>

namespace forkpoint {

namespace {

/// Reading of one batch; a batch is what an interactive request may have to wait for.
constexpr std::uint64_t BatchBytes = 64u << 20;
constexpr std::size_t BatchTasks = 4096;
/// Masters and weights of a side that are read again, to be held against each other.
constexpr std::uint64_t MasterBytes = 32u << 20;

} // namespace

MeasureWhen measuringOf(const CompareOptions &options)
{
    if (options.tolerance.asked())
        return MeasureWhen::IfDifferent;
    return options.verdictOnly || !options.measure ? MeasureWhen::Never
        : options.full                             ? MeasureWhen::Always
                                                   : MeasureWhen::IfDifferent;
}

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

/// A difference that was seen stays one, whatever cannot be read after it.
void CheckpointComparer::State::fail(std::size_t index, const Error &error)
{
    TensorRow &row = result.tensors[index];
    const bool differs = readings[index].differs() || row.status == ItemStatus::Different;
    readings[index].fail();
    result.diagnostics.push_back(toDiagnostic(error, Severity::Error));
    row.stats.reset();
    if (!row.a || !row.b)
        return;
    row.status = differs ? ItemStatus::Different : ItemStatus::NotCompared;
    row.partlyRead = differs;
    row.reason = (differs ? "differs; not read to the end: " : "") + error.message();
}

/// Only the verdict counts, and of this row it is known.
bool CheckpointComparer::State::endsEarly(std::size_t row) const
{
    return options.verdictOnly && !options.tolerance.asked() && readings[row].differs();
}

/// Tells the storage what is read next, so that it can begin.
void CheckpointComparer::State::announce(const ReadTask &task) const
{
    constexpr std::uint64_t Worthwhile = 1u << 20;
    if (task.bytes < Worthwhile)
        return;
    const PairOfTensors pair = tensorsOf(result.tensors[task.row], task.sideA, task.sideB);
    for (const std::optional<SourcedTensor> &side : {pair.a, pair.b}) {
        if (!side)
            continue;
        const bool unit = task.kind == ReadTask::Kind::Unit;
        const std::uint64_t bits = unit ? side->ref().dtype.bits : 8;
        side->source->willRead(side->index, task.first * bits / 8, (task.size * bits + 7) / 8);
    }
}

UnitReading CheckpointComparer::State::runTask(const ReadTask &task, std::stop_token stop) const
{
    const TensorRow &row = result.tensors[task.row];
    const PairOfTensors pair = tensorsOf(row, task.sideA, task.sideB);
    if (task.kind == ReadTask::Kind::Leaves)
        return {readLeaves(pair, {task.first, task.size}, backend,
                           options.fingerprints || evidence[task.row].withoutBytes(), stop),
                std::nullopt};
    UnitRequest request;
    request.first = task.first;
    request.count = task.size;
    request.digests = options.fingerprints;
    request.measuring = measuring;
    if (measuring == MeasureWhen::IfDifferent && (options.full || readings[task.row].differs()))
        request.measuring = MeasureWhen::Always;
    request.firstDifferenceEnds = options.verdictOnly && !options.tolerance.asked();
    request.diff = {options.tolerance, options.magnitudes || options.full};
    return readUnit(pair, *measuredAs[task.row], request, backend, stop);
}

void CheckpointComparer::State::readBatch(std::stop_token stop)
{
    const std::size_t begin = nextTask;
    const std::uint64_t doneBefore = progress.bytesDone;
    std::vector<ReadTask> batch;
    std::uint64_t bytes = 0;
    while (nextTask < readTasks.size() && bytes < BatchBytes && batch.size() < BatchTasks) {
        const ReadTask &task = readTasks[nextTask++];
        progress.bytesDone += task.bytes;
        batch.push_back(task);
        bytes += readings[task.row].failed() || endsEarly(task.row) ? 0 : task.bytes;
    }
    std::vector<UnitReading> results(batch.size());
    const std::size_t ahead = executor.threadCount();
    executor.forEach(batch.size(), [&](std::size_t i) {
        if (begin + i + ahead < readTasks.size())
            announce(readTasks[begin + i + ahead]);
        if (!readings[batch[i].row].failed() && !endsEarly(batch[i].row))
            results[i] = runTask(batch[i], stop);
    });
    if (stop.stop_requested()) { // half a batch is dropped, and done again if the caller goes on
        nextTask = begin;
        progress.bytesDone = doneBefore;
        return;
    }
    for (std::size_t i = 0; i < batch.size(); ++i)
        takeReading(batch[i], std::move(results[i]));
    for (std::size_t i = 0; i < batch.size(); ++i) {
        if (i == 0 || batch[i].row != batch[i - 1].row)
            planMissing(batch[i].row);
    }
    progress.item = result.tensors[batch.back().row].name;
}

void CheckpointComparer::State::takeReading(const ReadTask &task, UnitReading reading)
{
    RowReading &state = readings[task.row];
    TensorRow &row = result.tensors[task.row];
    if (state.failed() || row.stoppedEarly) {
        endTask(task.row);
        return;
    }
    if (reading.errorA || reading.errorB) {
        state.addDifference(reading.differs);
        const bool onA = reading.errorA.has_value();
        const std::string &name = onA ? row.nameA : row.nameB;
        fail(task.row,
             (onA ? std::move(*reading.errorA) : std::move(*reading.errorB))
                 .atPlace("tensor '" + name + "' of " + (onA ? "A" : "B")));
    } else if (task.kind == ReadTask::Kind::Unit) {
        state.addUnit(std::move(reading), backend);
    } else {
        state.addLeaves(reading, task.sideA, task.sideB, backend);
    }
    // Also where it was the last task: the unit may have ended at its first difference.
    row.stoppedEarly = !state.failed() && endsEarly(task.row);
    endTask(task.row);
}

/// Rows whose last piece was read are decided at once, so that results appear on the way.
void CheckpointComparer::State::endTask(std::size_t row)
{
    if (--tasksLeft[row] == 0) {
        ++progress.itemsDone;
        decideRow(row);
    }
}

void CheckpointComparer::State::decideRow(std::size_t index)
{
    TensorRow &row = result.tensors[index];
    RowReading &state = readings[index];
    if (state.failed())
        return;
    const auto print = [&](const TensorSource &source, TensorIndex tensor,
                           const Digest128 &content) {
        return TensorFingerprint{content,
                                 tensorDigest(backend, source.catalog().tensors[tensor], content)};
    };
    auto contentA = state.finishA(), contentB = state.finishB();
    if (options.fingerprints && !row.stoppedEarly) {
        if (contentA)
            readOfA.emplace_back(*row.a, *contentA);
        if (contentB)
            readOfB.emplace_back(*row.b, *contentB);
    }
    const RowEvidence &known = evidence[index];
    contentA = contentA ? contentA : known.a.content;
    contentB = contentB ? contentB : known.b.content;
    if (options.fingerprints && !row.stoppedEarly) {
        if (row.a && contentA)
            row.fingerprintA = print(*a, *row.a, *contentA);
        if (row.b && contentB)
            row.fingerprintB = print(*b, *row.b, *contentB);
    }
    if (known.any())
        row.strength = known.strength();
    if (!measuredAs[index])
        return;
    if (known.any()) {
        const PairOfContents contents{contentA.value_or(Digest128()),
                                      contentB.value_or(Digest128()), state.takeNodes()};
        decideByDigests(row, *measuredAs[index], known, contents,
                        options.tolerance.asked() && toleranceApplies(row.dtypeA, row.dtypeB),
                        backend);
        return;
    }
    const bool sameType = !measuredAs[index]->widenA && !measuredAs[index]->widenB;
    row.status = state.differs() || !sameType ? ItemStatus::Different : ItemStatus::Identical;
    row.reason.clear();
    if (row.status == ItemStatus::Identical)
        row.valueEqual = true;
    if (!sameType)
        row.reason = "dtype " + row.dtypeA.name + " against " + row.dtypeB.name;
    else if (row.dtypeA != row.dtypeB)
        row.reason = unnamedTypeText(row);
    row.stats = state.takeStats();
}

// --- steps 3 and 4: join by content, then measure what was not measured while it was read

void CheckpointComparer::State::finishReading()
{
    if (!options.pairing.strict) {
        const JoinedRows joined = joinByContent(result.tensors, a->catalog(), b->catalog());
        pairing.anyNameInCommon |= joined.pairs > 0;
    }
    for (std::size_t i = 0; i < result.tensors.size(); ++i) {
        TensorRow &row = result.tensors[i];
        if (row.a && row.b)
            row.reason = row.reason == "not read yet" ? std::string() : row.reason;
    }
    planMeasuring();
    phase = ComparerPhase::Measuring;
    progress.phase = "measuring differences";
}

/// False when there was nothing left to measure.
bool CheckpointComparer::State::measureBatch(std::stop_token stop)
{
    std::size_t end = nextMeasure;
    std::uint64_t bytes = 0;
    while (end < measureTasks.size() && bytes < BatchBytes && end - nextMeasure < BatchTasks)
        bytes += measureTasks[end++].bytes;
    const std::span batch = std::span(measureTasks).subspan(nextMeasure, end - nextMeasure);
    std::vector<std::optional<Result<DiffStats>>> stats(batch.size());
    executor.forEach(batch.size(), [&](std::size_t i) {
        const MeasureTask &task = batch[i];
        PairOfTensors pair = tensorsOf(result.tensors[task.row]);
        if (task.equal)
            pair.b.reset();
        stats[i] = measure(pair, *measuredAs[task.row], task.first, task.count,
                           {options.tolerance, options.magnitudes || options.full}, backend, stop);
    });
    if (stop.stop_requested())
        return true;
    for (std::size_t i = 0; i < batch.size(); ++i)
        takeMeasured(batch[i], std::move(*stats[i]));
    nextMeasure = end;
    progress.bytesDone += bytes;
    return nextMeasure < measureTasks.size();
}

void CheckpointComparer::State::takeMeasured(const MeasureTask &task, Result<DiffStats> stats)
{
    TensorRow &row = result.tensors[task.row];
    RowReading &state = readings[task.row];
    if (state.failed())
        return;
    if (!stats) {
        fail(task.row, std::move(stats).error());
        return;
    }
    progress.item = row.name;
    state.addMeasured(task.unit, std::move(stats).value());
    if (tasksLeft[task.row] == 0)
        row.stats = state.takeStats();
}

// --- step 5: what both sides have of tensors that may lack shards; whether one side is the other one
// rounded

void CheckpointComparer::State::planRounding()
{
    progress.bytesTotal += rounded.plan(result);
    // With a tolerance bits that are unlike may be within it.
    const std::uint64_t bytes = options.tolerance.asked() ? 0 : shared.plan(result);
    progress.bytesTotal += bytes;
    phase = ComparerPhase::Rounding;
    progress.phase =
        bytes > 0 ? "comparing rows that both sides have" : "looking for rounded copies";
}

/// False when there was nothing left to read.
bool CheckpointComparer::State::roundBatch(std::stop_token stop)
{
    auto bytes = shared.advance(result, executor, stop);
    if (!bytes) {
        progress.phase = "looking for rounded copies";
        bytes = rounded.advance(executor, std::move(stop));
    }
    progress.bytesDone += bytes.value_or(0);
    return bytes.has_value();
}

// --- step 6: findings and the verdict

ComparisonContext CheckpointComparer::State::context() const
{
    ComparisonContext context;
    context.complete = a->catalog().complete && b->catalog().complete;
    context.anyNameInCommon = pairing.anyNameInCommon;
    context.toleranceAsked = options.tolerance.asked();
    context.partial = phase != ComparerPhase::Finished;
    context.changed = changed;
    context.unread = unread;
    context.contextInScope = options.pairing.scope
        && std::any_of(options.pairing.scope->begin(), options.pairing.scope->end(), isContext);
    return context;
}

void CheckpointComparer::State::finish(std::stop_token stop)
{
    doubtUnlikeReplicas(result.tensors, a->catalog(), b->catalog());
    tellMayBeLost(result, a->catalog(), b->catalog());
    for (TensorRow &row : result.tensors) {
        if (!row.stats || row.status != ItemStatus::Different)
            continue;
        row.valueEqual = row.stats->valueEqual();
        row.firstPlaces = firstPlacesOf(row, a->catalog(), b->catalog());
        row.withinTolerance = options.tolerance.asked() && toleranceApplies(row.dtypeA, row.dtypeB)
            && row.stats->beyondTolerance == 0;
    }
    // The verdict alone needs no byte read again.
    result.findings =
        comparisonFindings(result, *a, *b, pairing, rounded.rows(), !options.verdictOnly, stop);
    result.resume = resumeFacts(result, *a, *b, options.verdictOnly ? 0 : MasterBytes, stop);
    for (Finding &finding : resumeFindings(result.resume, true))
        result.findings.push_back(std::move(finding));
    if (stop.stop_requested()) // they may be cut short: once more if the caller goes on
        return;
    const std::array sources{std::pair{"A", a.get()}, std::pair{"B", b.get()}};
    std::array<Status, 2> unchanged;
    executor.forEach(2, [&](std::size_t i) { unchanged[i] = sources[i].second->unchanged(); });
    for (std::size_t i = 0; i < sources.size(); ++i) {
        const auto &[side, source] = sources[i];
        const auto &read = source == a.get() ? readOfA : readOfB;
        const Status &status = unchanged[i];
        if (status && options.known) {
            const Diagnostics news = options.known->learn(*source, read);
            result.diagnostics.insert(result.diagnostics.end(), news.begin(), news.end());
        } else if (!status) {
            (status.error().code == ErrorCode::Changed ? changed : unread) = true;
            result.diagnostics.push_back(
                toDiagnostic(Error(status.error()).atPlace(side), Severity::Error));
        }
        const Catalog &catalog = source->catalog();
        for (const Diagnostic &diagnostic : catalog.diagnostics)
            result.diagnostics.push_back(ofSide(side, diagnostic));
    }
    phase = ComparerPhase::Finished;
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
    case ComparerPhase::Reading:
        if (state.nextMeasure < state.measureTasks.size())
            state.measureBatch(stop);
        else if (state.nextTask < state.readTasks.size())
            state.readBatch(stop);
        else
            state.finishReading();
        return true;
    case ComparerPhase::Measuring:
        if (!state.measureBatch(stop))
            state.planRounding();
        return true;
    case ComparerPhase::Rounding:
        if (!state.roundBatch(stop))
            state.finish(stop);
        return state.phase != ComparerPhase::Finished;
    case ComparerPhase::Finished: break;
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

CheckpointComparison CheckpointComparer::take()
{
    CheckpointComparison result = std::move(m_state->result);
    summarise(result, m_state->context());
    return result;
}

} // namespace forkpoint
