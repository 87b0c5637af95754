// SPDX-License-Identifier: GPL-3.0-or-later
#include "support/fake_view_context.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace forkpoint {

void FakeViewContext::setRuns(std::shared_ptr<const RunComparison> comparison)
{
    runComparison = std::move(comparison);
    Q_EMIT comparisonChanged();
}

void FakeViewContext::setStep(std::shared_ptr<const CheckpointComparison> comparison,
                              std::optional<Step> at)
{
    checkpointComparison = std::move(comparison);
    step = at;
    Q_EMIT selectedStepChanged();
    Q_EMIT stepComparisonChanged();
}

void FakeViewContext::setSide(Side side, SideState state)
{
    sides[int(side)] = std::move(state);
    Q_EMIT sideChanged(side);
}

void FakeViewContext::setJob(JobState state)
{
    jobState = std::move(state);
    Q_EMIT jobChanged();
}

void FakeViewContext::answer(std::uint64_t id, ElementPage page)
{
    Q_EMIT elementsReady(id, std::make_shared<const ElementPage>(std::move(page)));
}

void FakeViewContext::openSide(Side side, const QString &path)
{
    calls +=
        QStringLiteral("openSide %1 %2").arg(side == Side::A ? QChar(u'A') : QChar(u'B')).arg(path);
}

void FakeViewContext::openPair(const QString &pathA, const QString &pathB)
{
    calls += QStringLiteral("openPair %1 %2").arg(pathA, pathB);
}

void FakeViewContext::selectStep(std::optional<Step> selected)
{
    calls += QStringLiteral("selectStep %1").arg(selected.value_or(-1));
    step = selected;
    Q_EMIT selectedStepChanged();
}

void FakeViewContext::selectTensor(std::optional<std::size_t> row)
{
    calls += QStringLiteral("selectTensor %1").arg(row ? qlonglong(*row) : -1);
    tensor = row;
    Q_EMIT selectedTensorChanged();
}

namespace {

StateClass classOf(const std::string &name)
{
    return name.find("exp_avg") != std::string::npos ? StateClass::Optimizer : StateClass::Weights;
}

TensorRow pairRow(const std::string &name, Shape shape)
{
    TensorRow row;
    row.name = row.nameA = row.nameB = name;
    row.a = row.b = 0;
    row.stateClass = classOf(name);
    row.pairedBy = PairedBy::Exact;
    row.dtypeA = row.dtypeB = *dtypeByName("float32");
    row.elements = shape.count().value_or(0);
    row.bytes = row.elements * 8;
    row.shapeA = row.shapeB = std::move(shape);
    return row;
}

} // namespace

TensorRow differingRow(const std::string &name, Shape shape, Index different, double maxAbs,
                       std::uint64_t maxUlp)
{
    TensorRow row = pairRow(name, std::move(shape));
    row.status = ItemStatus::Different;
    DiffStats stats;
    stats.elements = stats.finitePairs = row.elements;
    stats.differentElements = stats.valueDifferent = different;
    stats.firstIndex = 0;
    stats.lastIndex = row.elements - 1;
    stats.maxAbs = maxAbs;
    stats.maxAbsIndex = row.elements / 2;
    stats.maxUlp = maxUlp;
    stats.maxUlpIndex = row.elements / 2;
    const int top = int(std::floor(std::log2(maxAbs)));
    for (int i = 0; i < 10; ++i) {
        const auto count = std::uint64_t(1) << (10 - i);
        stats.absA.add(-2 - i, count);
        stats.absB.add(-2 - i, count + (i == 3 ? 5 : 0));
        if (i < 6)
            stats.absDifference.add(top - i, 1 + different / std::uint64_t(i + 2));
        if (i < 4)
            stats.ulp.add(i, 1 + different / std::uint64_t(i + 2));
    }
    stats.absDifference.addZeros(row.elements - different);
    stats.ulp.addZeros(row.elements - different);
    row.stats = std::make_shared<const DiffStats>(stats);
    return row;
}

TensorRow identicalRow(const std::string &name, Shape shape)
{
    TensorRow row = pairRow(name, std::move(shape));
    row.status = ItemStatus::Identical;
    return row;
}

ValueRow valueRow(const std::string &name, StateClass stateClass, std::optional<Value> a,
                  std::optional<Value> b)
{
    ValueRow row;
    row.name = name;
    row.stateClass = stateClass;
    row.valueA = std::move(a);
    row.valueB = std::move(b);
    if (!row.valueA)
        row.status = ItemStatus::OnlyInB;
    else if (!row.valueB)
        row.status = ItemStatus::OnlyInA;
    else
        row.status =
            row.valueA->identicalTo(*row.valueB) ? ItemStatus::Identical : ItemStatus::Different;
    return row;
}

std::shared_ptr<CheckpointComparison> makeComparison(std::vector<TensorRow> tensors,
                                                     std::vector<ValueRow> values, bool finished)
{
    auto comparison = std::make_shared<CheckpointComparison>();
    const auto byName = [](const auto &a, const auto &b) { return a.name < b.name; };
    std::sort(tensors.begin(), tensors.end(), byName);
    std::sort(values.begin(), values.end(), byName);
    const auto count = [&](StateClass stateClass, ItemStatus status) {
        ClassSummary &summary = comparison->byClass[stateClass];
        summary.counts.count(status);
        const bool differs =
            summary.counts.different + summary.counts.onlyInA + summary.counts.onlyInB > 0;
        summary.outcome = differs            ? Outcome::Different
            : summary.counts.notCompared > 0 ? Outcome::Undecided
                                             : Outcome::Identical;
    };
    for (const TensorRow &row : tensors) {
        comparison->counts.count(row.status);
        count(row.stateClass, row.status);
    }
    for (const ValueRow &row : values)
        count(row.stateClass, row.status);
    comparison->tensors = std::move(tensors);
    comparison->values = std::move(values);
    comparison->finished = finished;
    return comparison;
}

ElementRow floatRow(Index index, float a, float b)
{
    std::vector<std::byte> bitsA(sizeof a), bitsB(sizeof b);
    std::memcpy(bitsA.data(), &a, sizeof a);
    std::memcpy(bitsB.data(), &b, sizeof b);
    return makeElementRow(*dtypeByName("float32"), index, std::move(bitsA), std::move(bitsB));
}

namespace {

SideState runSide(const QString &path, float nudge)
{
    SideState state;
    state.phase = SideState::Phase::Open;
    state.path = path;
    state.format = QStringLiteral("torch");
    MetricSeries loss;
    loss.name = "loss";
    for (int step = 1; step <= 12; ++step) {
        loss.points.push_back({step, 5.0 / step + double(nudge)});
        if (step % 4 == 0)
            state.steps.push_back({step, path.toStdString(), true});
    }
    state.metrics.push_back(loss);
    return state;
}

std::shared_ptr<CheckpointComparison> sampleStep()
{
    std::vector<TensorRow> tensors;
    for (int layer = 0; layer < 12; ++layer) {
        const std::string prefix = "model.layers." + std::to_string(layer) + ".";
        const double scale = std::ldexp(1.0, -layer);
        tensors.push_back(differingRow(prefix + "fc1.weight", {{96, 24}},
                                       632 - std::uint64_t(layer) * 20, 2.98e-8 * scale, 1280));
        tensors.push_back(differingRow(prefix + "fc1.bias", {{96}}, 22, 1.5e-8 * scale,
                                       std::uint64_t(2 + layer)));
        tensors.push_back(identicalRow(prefix + "ln_2.weight", {{24}}));
        tensors.push_back(differingRow(prefix + "qkv.bias", {{72}}, 33, 6.8e-5 * scale, 58252));
    }
    tensors.push_back(differingRow("model.embed_tokens.weight", {{128, 24}}, 61, 1.2e-7, 2));
    tensors.push_back(differingRow("optimizer.state.0.exp_avg", {{128, 24}}, 3000, 1e-6, 991));
    std::vector<ValueRow> values{
        valueRow("args.accumulate", StateClass::Recipe, Value::text("forward"),
                 Value::text("reverse")),
        valueRow("args.lr", StateClass::Recipe, Value::real(0.001), Value::real(0.001)),
        valueRow("global_step", StateClass::Counter, Value::integer(12), Value::integer(12)),
        valueRow("scheduler.last_epoch", StateClass::Scheduler, Value::integer(12),
                 Value::integer(12)),
        valueRow("rng.torch", StateClass::Rng, Value::text("5056 bytes"),
                 Value::text("5056 bytes"))};
    return makeComparison(std::move(tensors), std::move(values));
}

} // namespace

void fillLikeSamples(FakeViewContext &context)
{
    context.sides[0] = runSide(QStringLiteral("runs/A"), 0.0F);
    context.sides[1] = runSide(QStringLiteral("runs/C"), 0.0F);
    auto step = sampleStep();
    auto runs = std::make_shared<RunComparison>();
    runs->shown = *step;
    runs->shownStep = 4;
    runs->seriesA = runs->seriesB = true;
    for (Step at : {4, 8, 12})
        runs->steps.push_back({at, StepStatus::Different, step->counts.different, {}});
    MetricComparison loss;
    loss.name = "loss";
    loss.commonSteps = 12;
    runs->metrics.push_back(std::move(loss));
    runs->verdict = {
        Outcome::Different,
        Strength::Bytes,
        {150, 150, 1'100'000, 1'100'000},
        "Different: the bits of 114 of 150 tensors differ (all bytes read; 150 of 150 tensors).",
        {}};
    FirstDivergence first;
    first.step = 4;
    first.name = "model.layers.0.fc1.weight";
    first.sentence = "the first divergence lies in steps 1 to 4, before the first checkpoint";
    runs->firstDivergence = first;
    Finding finding;
    finding.id = "recipe-differs";
    finding.severity = Severity::Warning;
    finding.text = "a recipe value differs: args.accumulate";
    finding.where = {"args.accumulate"};
    runs->findings.push_back(finding);
    runs->finished = true;
    context.checkpointComparison = step;
    context.step = 12;
    context.runComparison = runs;
    context.samplePairs = {
        {QStringLiteral("Summed in another order"),
         QStringLiteral("Every logged loss equals to the last bit while a quarter of the weights "
                        "differ."),
         QStringLiteral("samples/A"), QStringLiteral("samples/C")},
        {QStringLiteral("Resumed without its generators"),
         QStringLiteral("Run D was resumed at step 4 and drew other random numbers from there."),
         QStringLiteral("samples/A"), QStringLiteral("samples/D")}};
    context.recent = {QStringLiteral("/data/run1\n/data/run2")};
}

} // namespace forkpoint
