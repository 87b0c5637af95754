// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/device.h"
#include "app/cli/output.h"
#include "app/core/compare_command.h"
#include "app/core/compare_text.h"
#include "app/core/digest_check.h"
#include "app/core/fingerprint_index.h"
#include "app/core/report_evidence.h"
#include "app/core/report_file.h"
#include "app/core/thread_pool.h"
#include "loaders/open_run.h"
#include "model/compare/run_arms.h"
#include "model/compare/run_comparer.h"
#include "model/report/report_json.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>

namespace forkpoint {

namespace {

/// Keeps the average reading rate below the limit the user set.
class Throttle
{
public:
    explicit Throttle(std::uint64_t bytesPerSecond) : m_rate(bytesPerSecond) {}

    void wait(std::uint64_t bytesDone) const
    {
        if (m_rate == 0)
            return;
        const std::chrono::duration<double> due(double(bytesDone) / double(m_rate));
        std::this_thread::sleep_until(
            m_start + std::chrono::duration_cast<std::chrono::steady_clock::duration>(due));
    }

private:
    std::uint64_t m_rate;
    std::chrono::steady_clock::time_point m_start = std::chrono::steady_clock::now();
};

RunComparison refused(const Options &options, std::string reason, Diagnostics diagnostics)
{
    RunComparison comparison;
    comparison.pathA = options.pathA;
    comparison.pathB = options.pathB;
    comparison.diagnostics = std::move(diagnostics);
    VerdictFacts facts;
    facts.refused = true;
    facts.refusedReason = std::move(reason);
    comparison.verdict = decide(facts);
    comparison.finished = true;
    return comparison;
}

RunComparison compareTwo(const Options &options, const std::shared_ptr<const Run> &a,
                         const std::shared_ptr<const Run> &b, const ComputeBackend &backend,
                         ThreadPool &threads)
{
    CompareOptions compare = options.compare;
    compare.known = userIndex(!options.noIndex, !options.verify, backend);
    RunComparer comparer(a, b, options.steps, std::move(compare), backend, threads);
    ProgressLine line(options);
    const Throttle throttle(options.maxRate);
    while (comparer.advance({})) {
        const Progress progress = comparer.progress();
        line.show(progress);
        throttle.wait(progress.bytesDone);
    }
    return comparer.snapshot();
}

/// Repeats and controls against all others: what they say of A and B goes into the findings.
void compareArms(RunComparison &comparison, const Options &options,
                 const std::vector<std::shared_ptr<const Run>> &runs, const ComputeBackend &backend,
                 ThreadPool &threads)
{
    std::vector<RunArm> arms;
    for (std::size_t i = 0; i < runs.size(); ++i)
        arms.push_back({runs[i]->path(), i >= 2 + options.repeats.size()});
    std::vector<ArmPair> pairs = {{0, 1, comparison.verdict.outcome, comparison.firstDivergence}};
    for (std::size_t a = 0; a < runs.size(); ++a) {
        for (std::size_t b = std::max<std::size_t>(a + 1, 2); b < runs.size(); ++b) {
            const RunComparison pair = compareTwo(options, runs[a], runs[b], backend, threads);
            pairs.push_back({a, b, pair.verdict.outcome, pair.firstDivergence});
        }
    }
    for (Finding &finding : armFindings(arms, pairs))
        comparison.findings.push_back(std::move(finding));
}

/// Each is read through to know what is where. Two at a time, for what opening takes in memory.
std::vector<std::optional<Result<std::shared_ptr<const Run>>>>
openRuns(const std::vector<std::string> &paths, const Options &options, ThreadPool &threads)
{
    std::vector<std::optional<Result<std::shared_ptr<const Run>>>> opened(paths.size());
    for (std::size_t first = 0; first < paths.size(); first += 2) {
        threads.forEach(std::min<std::size_t>(2, paths.size() - first), [&](std::size_t i) {
            opened[first + i].emplace(openRun(paths[first + i], options.open, {}));
        });
    }
    return opened;
}

/// The comparison, and what a report keeps of the two runs.
RunComparison compareRuns(const Options &options, const ComputeBackend &backend,
                          ThreadPool &threads, std::shared_ptr<const ReportEvidence> &evidence)
{
    std::vector<std::string> paths = {options.pathA, options.pathB};
    paths.insert(paths.end(), options.repeats.begin(), options.repeats.end());
    paths.insert(paths.end(), options.controls.begin(), options.controls.end());
    std::vector<std::shared_ptr<const Run>> runs;
    std::string reason;
    Diagnostics diagnostics;
    auto opened = openRuns(paths, options, threads);
    for (std::size_t i = 0; i < paths.size(); ++i) {
        auto &run = *opened[i];
        if (run) {
            runs.push_back(std::move(run).value());
            continue;
        }
        reason += (reason.empty() ? "" : "; ")
            + (i < 2 ? std::string(i == 0 ? "A" : "B") : paths[i]) + ": " + run.error().message();
        diagnostics.push_back(toDiagnostic(run.error(), Severity::Error));
    }
    if (!reason.empty())
        return refused(options, std::move(reason), std::move(diagnostics));
    RunComparison comparison = compareTwo(options, runs[0], runs[1], backend, threads);
    addDigestFindings(comparison, *runs[0], *runs[1], {});
    if (runs.size() > 2)
        compareArms(comparison, options, runs, backend, threads);
    if (options.json || !options.reports.empty())
        evidence = reportEvidence(*runs[0], *runs[1], comparison);
    return comparison;
}

} // namespace

int runCompare(const Options &options)
{
    const auto device = Device::choose(options);
    ThreadPool threads(device ? device->threads() : 1);
    ReportOptions report;
    const RunComparison comparison = device
        ? compareRuns(options, device->backend(), threads, report.evidence)
        : refused(options, device.error().message(), {});
    if (device)
        device->printIncidents();
    report.histograms = options.compare.full;
    report.request = reportRequest(
        {options.pathA, options.pathB, options.compare, options.steps, options.open}, comparison);
    if (options.environment) {
        report.environment.emplace_back("version", FORKPOINT_VERSION);
        report.environment.emplace_back("device",
                                        device ? device->backend().description() : "none");
        report.environment.emplace_back("threads", std::to_string(threads.threadCount()));
    }
    printDiagnostics(options, comparison.diagnostics);
    bool written = true;
    for (const std::string &file : options.reports) {
        if (const auto files = writeReport(file, comparison, report); !files) {
            printError(files.error());
            written = false;
        }
    }
    written &= writeOutput(options,
                           options.json ? reportJson(comparison, report) : compareText(comparison));
    return written ? exitStatus(comparison.verdict.outcome) : 2;
}

} // namespace forkpoint
