// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/session_jobs.h"

#include "app/core/digest_check.h"
#include "app/core/output_file.h"
#include "app/core/report_evidence.h"
#include "app/core/report_file.h"
#include "app/core/side_listing.h"
#include "app/core/snapshot_clock.h"
#include "app/core/step_pair.h"
#include "model/compare/checkpoint_comparer.h"
#include "model/compare/run_comparer.h"

#include <algorithm>
#include <array>

namespace forkpoint {

namespace {

/// What the command line adds to a comparison that is done.
void complete(RunComparison &comparison, const SessionInputs &inputs, std::stop_token stop)
{
    addDigestFindings(comparison, *inputs.a, *inputs.b, std::move(stop));
}

void complete(CheckpointComparison &, const SessionInputs &, std::stop_token) {}

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
            hand(control, !more);
        return more ? Batch::More : Batch::Done;
    }

    void hand(JobControl &control, bool isLast)
    {
        auto snapshot =
            clock.timed([&] { return std::make_shared<Comparison>(comparer->snapshot()); });
        if (isLast)
            complete(*snapshot, inputs, control.stop());
        control.post([to = deliver, snapshot = std::move(snapshot)] { to(snapshot); });
    }
};

} // namespace

const ComputeBackend &Engine::backend()
{
    std::call_once(m_once, [this] {
        m_backend = m_makeBackend();
        m_found = true;
    });
    return *m_backend;
}

CompareOptions SessionInputs::withIndex() const
{
    CompareOptions own = options;
    if (makeIndex)
        own.known = makeIndex(engine->backend(), believesIndex);
    return own;
}

JobBatch openSideBatch(const SessionEnvironment &environment, std::string path,
                       std::shared_ptr<const MappingSheet> sheet, Deliver<OpenedSide> deliver,
                       Deliver<std::shared_ptr<RecordedReport>> deliverReport)
{
    SessionEnvironment::OpenRun openRun = environment.openRun;
    if (sheet)
        openRun = [open = environment.openMapped, sheet](const std::string &at,
                                                         std::stop_token stop) {
            return open(at, sheet, std::move(stop));
        };
    return [openRun = std::move(openRun), reportIn = sheet ? nullptr : environment.reportIn,
            path = std::move(path), deliver = std::move(deliver),
            deliverReport = std::move(deliverReport)](JobControl &control) -> Result<Batch> {
        control.report({"opening", path, 0, 0, 0, 0});
        if (reportIn) {
            FP_TRY(std::optional<RecordedReport> report, reportIn(path));
            if (report) {
                control.post([deliverReport,
                              recorded = std::make_shared<RecordedReport>(std::move(*report))] {
                    deliverReport(recorded);
                });
                return Batch::Done;
            }
        }
        FP_TRY(std::shared_ptr<const Run> run, openRun(path, control.stop()));
        OpenedSide opened{std::make_shared<const StepCache>(std::move(run)), nullptr};
        if (const auto trace = opened.run->trace())
            opened.outline = std::make_shared<const TraceOutline>(outlineOf(*trace));
        control.post([deliver, opened = std::move(opened)] { deliver(opened); });
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
            work->comparer =
                std::make_unique<RunComparer>(in.a, in.b, StepSelection{}, in.withIndex(),
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
        FP_TRY(OpenedPair opened, openWhatIsThere(in, work->step, control.stop()));
        if (!opened.a || !opened.b) {
            control.post([to = work->deliver,
                          listing = listedSides(opened, whyOneSided(in, opened, work->step),
                                                in.options)] { to(listing); });
            return Batch::Done;
        }
        work->comparer = std::make_unique<CheckpointComparer>(
            opened.a, opened.b, in.withIndex(), in.engine->backend(), in.engine->pool());
        return Batch::More;
    };
}

JobBatch unchangedBatch(SessionInputs inputs, std::optional<Step> step,
                        Deliver<std::optional<Error>> deliver)
{
    return [=, inputs = std::move(inputs),
            deliver = std::move(deliver)](JobControl &control) -> Result<Batch> {
        FP_TRY(const OpenedPair opened, openStepOfBoth(inputs, step, control.stop()));
        std::optional<Error> change;
        for (const auto &source : {opened.a, opened.b}) {
            const Status status = source ? source->unchanged() : Status();
            if (!status && !change)
                change = status.error();
        }
        for (const auto &run : {inputs.a, inputs.b}) {
            const auto trace = run ? run->trace() : nullptr;
            const Status status = trace ? trace->unchanged() : Status();
            if (!status && !change)
                change = status.error();
        }
        control.post([deliver, change] { deliver(change); });
        return Batch::Done;
    };
}

JobBatch exportBatch(SessionInputs inputs, std::shared_ptr<const RunComparison> comparison,
                     ReportOptions options, std::string path)
{
    return [=, inputs = std::move(inputs), comparison = std::move(comparison),
            options = std::move(options),
            path = std::move(path)](JobControl &control) mutable -> Result<Batch> {
        control.report({"writing", path, 0, 0, 0, 0});
        FP_CHECK(checkOutput(path, std::array{comparison->pathA, comparison->pathB}));
        if (inputs.a && inputs.b)
            options.evidence = reportEvidence(*inputs.a, *inputs.b, *comparison);
        if (const auto written = writeReport(path, *comparison, options); !written)
            return written.error();
        return Batch::Done;
    };
}

} // namespace forkpoint
