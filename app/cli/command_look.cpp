// SPDX-License-Identifier: GPL-3.0-or-later
// The commands that look at one path: inspect, fingerprint, extract.
#include "app/cli/commands.h"
#include "app/cli/output.h"
#include "app/core/extract.h"
#include "app/core/fingerprint_document.h"
#include "app/core/inspect_document.h"
#include "app/core/thread_pool.h"
#include "gpu/backend_registry.h"

namespace forkpoint {

namespace {

std::optional<Step> wantedStep(const Options &options)
{
    return options.steps.only ? std::optional(options.steps.only->a) : std::nullopt;
}

} // namespace

int runInspect(const Options &options)
{
    ThreadPool threads(options.threads);
    ProgressLine line(options);
    const InspectDocument document =
        inspect(options.pathA, options.open, wantedStep(options), options.digests, threads, {},
                [&](const Progress &progress) { line.show(progress); });
    printDiagnostics(options, document.diagnostics);
    const std::string text = options.json ? inspectJson(document) : inspectText(document);
    return writeOutput(options, text) && document.allRead() ? 0 : 2;
}

int runFingerprint(const Options &options)
{
    auto backend = makeBackend(options.device);
    if (!backend) {
        printError(backend.error());
        if (options.json)
            writeOutput(options, refusalDocument("fingerprint", backend.error().message()));
        return 2;
    }
    ThreadPool threads(options.threads);
    ProgressLine line(options);
    const FingerprintDocument document =
        fingerprint(options.pathA, options.open, wantedStep(options), options.digests, **backend,
                    threads, {}, [&](const Progress &progress) { line.show(progress); });
    printDiagnostics(options, document.diagnostics);
    const std::string text = options.json ? fingerprintJson(document) : fingerprintText(document);
    return writeOutput(options, text) && document.allRead() ? 0 : 2;
}

int runExtract(const Options &options)
{
    auto chosen = openCheckpoint(options.pathA, options.open, wantedStep(options), {});
    if (!chosen) {
        printError(chosen.error());
        return 2;
    }
    const bool npy = options.extractFormat.empty() ? options.output.ends_with(".npy")
                                                   : options.extractFormat == "npy";
    const Status status =
        extractTensor(*chosen->source, options.tensor,
                      npy ? ExtractFormat::Npy : ExtractFormat::Raw, options.output);
    if (!status) {
        printError(status.error());
        return 2;
    }
    return 0;
}

} // namespace forkpoint
