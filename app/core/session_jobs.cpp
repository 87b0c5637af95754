// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/session_jobs.h"

#include "app/core/compare_command.h"
#include "app/core/report_file.h"
#include "model/checkpoint_comparer.h"
#include "model/pair_reading.h"
#include "model/run_comparer.h"

#include <algorithm>

namespace forkpoint {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

namespace {

/// When to hand out an unfinished result: often enough to be alive, and so seldom that copying a
/// catalogue of a million rows costs a tenth of the time at most.
class SnapshotClock
{
public:
    bool due() const { return Clock::now() >= m_next; }

    template <class Take>
    auto timed(Take take)
    {
        const Clock::time_point start = Clock::now();
        auto taken = take();
        const Clock::time_point end = Clock::now();
        m_next = end + std::max<Clock::duration>(milliseconds(100), 10 * (end - start));
        return taken;
    }

private:
    Clock::time_point m_next{}; ///< the first one at once
};

/// A comparer of either kind, and what it refers to for as long as it lives.
template <class Comparer, class Comparison>
struct Comparing
{
    SessionInputs inputs;
    std::optional<Step> step;
    Deliver<std::shared_ptr<const Comparison>> deliver;
    std::unique_ptr<Comparer> comparer;
    SnapshotClock clock;

    Batch advance(JobControl &control)
    {
        const bool more = comparer->advance(control.stop());
        control.report(comparer->progress());
        if (control.stop().stop_requested())
            return Batch::Done;
        if (!more || clock.due())
            hand(control);
        return more ? Batch::More : Batch::Done;
    }

    void hand(JobControl &control)
    {
        auto snapshot =
            clock.timed([&] { return std::make_shared<const Comparison>(comparer->snapshot()); });
        control.post([to = deliver, snapshot = std::move(snapshot)] { to(snapshot); });
    }
};

/// Why the two steps cannot be compared, as a result of its own.
std::shared_ptr<const CheckpointComparison> notComparable(std::string reason)
{
    CheckpointComparison comparison;
    VerdictFacts facts;
    facts.refused = true;
    facts.refusedReason = std::move(reason);
    comparison.verdict = decide(facts);
    comparison.finished = true;
    return std::make_shared<const CheckpointComparison>(std::move(comparison));
}

struct OpenedPair
{
    std::shared_ptr<const TensorSource> a, b; ///< null where that side lacks the step
};

Result<std::shared_ptr<const TensorSource>> openStep(const Run &run, std::optional<Step> step,
                                                     std::stop_token stop)
{
    const std::optional<std::size_t> position = positionOf(run, step);
    if (!position)
        return std::shared_ptr<const TensorSource>();
    return run.open(*position, std::move(stop));
}

Result<OpenedPair> openStepOfBoth(const SessionInputs &inputs, std::optional<Step> step,
                                  const std::stop_token &stop)
{
    FP_TRY(auto a, openStep(*inputs.a, step, stop));
    FP_TRY(auto b, openStep(*inputs.b, step, stop));
    return OpenedPair{std::move(a), std::move(b)};
}

bool lists(const std::shared_ptr<const TensorSource> &source, std::optional<TensorIndex> tensor)
{
    return source && tensor && *tensor < source->catalog().tensors.size();
}

std::shared_ptr<const TensorRef> refOf(const std::shared_ptr<const TensorSource> &source,
                                       std::optional<TensorIndex> tensor)
{
    if (!lists(source, tensor))
        return nullptr;
    return std::make_shared<const TensorRef>(source->catalog().tensors[*tensor]);
}

/// Both sides of an address, where elements can be set against each other.
Result<TensorPairRef> pairRefOf(const SessionInputs &inputs, const PairAddress &address,
                                const std::stop_token &stop)
{
    if (!address.a || !address.b)
        return Error{ErrorCode::Usage, {}, {}, "elements need the tensor on both sides"};
    FP_TRY(const OpenedPair opened, openStepOfBoth(inputs, address.step, stop));
    if (!lists(opened.a, address.a) || !lists(opened.b, address.b))
        return Error{ErrorCode::Changed, {}, {}, "the files list other tensors than before"};
    TensorPairRef pair{opened.a, opened.b, *address.a, *address.b};
    if (!(pair.tensorA().dtype == pair.tensorB().dtype)
        || !(pair.tensorA().shape == pair.tensorB().shape))
        return Error{
            ErrorCode::Usage, {}, {}, "elements need the same dtype and shape on both sides"};
    return pair;
}

/// Statistics of a pair, a unit of about 8 MiB a batch.
struct Measuring
{
    SessionInputs inputs;
    PairFacts facts;
    Deliver<PairFacts> deliver;
    std::optional<TensorPairRef> pair;
    Index next = 0;
    DiffStats stats;

    Result<Batch> begin(JobControl &control);
    Result<Batch> measureNext(JobControl &control);
    void hand(JobControl &control) const
    {
        control.post([to = deliver, known = facts] { to(known); });
    }
};

Result<Batch> Measuring::begin(JobControl &control)
{
    FP_TRY(const OpenedPair opened, openStepOfBoth(inputs, facts.address.step, control.stop()));
    facts.a = refOf(opened.a, facts.address.a);
    facts.b = refOf(opened.b, facts.address.b);
    hand(control);
    const bool measurable = facts.a && facts.b && !facts.a->unreadable && !facts.b->unreadable
        && facts.a->dtype == facts.b->dtype && facts.a->shape == facts.b->shape;
    if ((facts.stats && facts.stats->magnitudes) || !measurable)
        return Batch::Done;
    pair = TensorPairRef{opened.a, opened.b, *facts.address.a, *facts.address.b};
    return Batch::More;
}

Result<Batch> Measuring::measureNext(JobControl &control)
{
    const DType &dtype = facts.a->dtype;
    const Index elements = facts.a->elements;
    const Index count = std::min(unitElements(dtype), elements - next);
    const PairOfTensors tensors{SourcedTensor{pair->sourceA.get(), pair->a},
                                SourcedTensor{pair->sourceB.get(), pair->b}};
    FP_TRY(DiffStats unit,
           measure(tensors, MeasuredAs{dtype}, next, count, {inputs.options.tolerance, true},
                   inputs.engine->backend(), control.stop()));
    stats.append(unit);
    next += count;
    if (next < elements) {
        control.report(
            {"measuring", facts.a->name, facts.a->bytes / elements * next, facts.a->bytes, 0, 0});
        return Batch::More;
    }
    facts.stats = std::make_shared<const DiffStats>(std::move(stats));
    hand(control);
    return Batch::Done;
}

} // namespace

const ComputeBackend &Engine::backend()
{
    std::call_once(m_once, [this] { m_backend = m_makeBackend(); });
    return *m_backend;
}

JobBatch openRunBatch(SessionEnvironment::OpenRun openRun, std::string path,
                      Deliver<std::shared_ptr<const Run>> deliver)
{
    return [openRun = std::move(openRun), path = std::move(path),
            deliver = std::move(deliver)](JobControl &control) -> Result<Batch> {
        control.report({"opening", path, 0, 0, 0, 0});
        FP_TRY(std::shared_ptr<const Run> run, openRun(path, control.stop()));
        control.post([deliver, cached = std::make_shared<const StepCache>(std::move(run))] {
            deliver(cached);
        });
        return Batch::Done;
    };
}

JobBatch compareRunsBatch(SessionInputs inputs,
                          Deliver<std::shared_ptr<const RunComparison>> deliver)
{
    using Work = Comparing<RunComparer, RunComparison>;
    auto work = std::make_shared<Work>();
    work->inputs = std::move(inputs);
    work->deliver = std::move(deliver);
    return [work](JobControl &control) -> Result<Batch> {
        const SessionInputs &in = work->inputs;
        if (!work->comparer)
            work->comparer = std::make_unique<RunComparer>(in.a, in.b, StepSelection{}, in.options,
                                                           in.engine->backend(), in.engine->pool());
        return work->advance(control);
    };
}

JobBatch compareStepBatch(SessionInputs inputs, std::optional<Step> step,
                          Deliver<std::shared_ptr<const CheckpointComparison>> deliver)
{
    using Work = Comparing<CheckpointComparer, CheckpointComparison>;
    auto work = std::make_shared<Work>();
    work->inputs = std::move(inputs);
    work->step = step;
    work->deliver = std::move(deliver);
    return [work](JobControl &control) -> Result<Batch> {
        if (work->comparer)
            return work->advance(control);
        const SessionInputs &in = work->inputs;
        FP_TRY(OpenedPair opened, openStepOfBoth(in, work->step, control.stop()));
        if (!opened.a || !opened.b) {
            const std::string reason = opened.a ? "only A has this step"
                : opened.b                      ? "only B has this step"
                                                : "neither side has this step";
            control.post([to = work->deliver, reason] { to(notComparable(reason)); });
            return Batch::Done;
        }
        work->comparer = std::make_unique<CheckpointComparer>(
            opened.a, opened.b, in.options, in.engine->backend(), in.engine->pool());
        return Batch::More;
    };
}

JobBatch pairFactsBatch(SessionInputs inputs, PairAddress address,
                        std::shared_ptr<const DiffStats> known, Deliver<PairFacts> deliver)
{
    auto work = std::make_shared<Measuring>();
    work->inputs = std::move(inputs);
    work->facts.address = address;
    work->facts.stats = std::move(known);
    work->deliver = std::move(deliver);
    return [work](JobControl &control) {
        return work->pair ? work->measureNext(control) : work->begin(control);
    };
}

JobBatch elementsBatch(SessionInputs inputs, PairAddress address, ElementQuery query,
                       Deliver<std::shared_ptr<const ElementPage>> deliver)
{
    return [=, inputs = std::move(inputs),
            deliver = std::move(deliver)](JobControl &control) -> Result<Batch> {
        FP_TRY(const TensorPairRef pair, pairRefOf(inputs, address, control.stop()));
        FP_TRY(ElementPage page,
               readElements(pair, query, control.stop(),
                            [&](const Progress &progress) { control.report(progress); }));
        control.post([deliver, page = std::make_shared<const ElementPage>(std::move(page))] {
            deliver(page);
        });
        return Batch::Done;
    };
}

JobBatch nextDifferenceBatch(SessionInputs inputs, PairAddress address, Index from, bool backward,
                             Deliver<std::optional<Index>> deliver)
{
    return [=, inputs = std::move(inputs),
            deliver = std::move(deliver)](JobControl &control) -> Result<Batch> {
        FP_TRY(const TensorPairRef pair, pairRefOf(inputs, address, control.stop()));
        FP_TRY(const std::optional<Index> index,
               nextDifference(pair, from, backward, control.stop()));
        control.post([deliver, index] { deliver(index); });
        return Batch::Done;
    };
}

JobBatch exportBatch(std::shared_ptr<const RunComparison> comparison, CompareOptions options,
                     std::string path)
{
    return [=, comparison = std::move(comparison), options = std::move(options),
            path = std::move(path)](JobControl &control) -> Result<Batch> {
        control.report({"writing", path, 0, 0, 0, 0});
        ReportOptions report;
        report.histograms = options.full;
        report.request =
            reportRequest({comparison->pathA, comparison->pathB, options, {}, {}}, *comparison);
        if (const auto written = writeReport(path, *comparison, report); !written)
            return written.error();
        return Batch::Done;
    };
}

} // namespace forkpoint
