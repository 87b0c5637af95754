// SPDX-License-Identifier: GPL-3.0-or-later
// The commands that look at one path: inspect, fingerprint, extract.
#include "app/cli/commands.h"
#include "app/cli/device.h"
#include "app/cli/output.h"
#include "app/core/extract.h"
#include "app/core/fingerprint_file.h"
#include "app/core/fingerprint_index.h"
#include "app/core/inspect_document.h"
#include "app/core/mapping_preview.h"
#include "app/core/thread_pool.h"
#include "model/text/json_writer.h"

#include <cstdio>

namespace forkpoint {

namespace {

std::optional<Step> wantedStep(const Options &options)
{
    return options.steps.only ? std::optional(options.steps.only->a) : std::nullopt;
}

std::string extractJson(const Options &options)
{
    JsonWriter json;
    json.beginObject();
    json.key("schema").text("forkpoint.extract/1");
    json.key("path").text(options.pathA);
    json.key("tensor").text(options.tensor);
    json.key("file").text(options.output);
    json.endObject();
    return json.take();
}

/// With --json the document of a refusal: the bytes themselves are no document.
int refuseExtract(const Options &options, const Error &error)
{
    printError(error);
    if (options.json)
        std::fputs(refusalDocument("extract", error.message()).c_str(), stdout);
    return 2;
}

/// How a mapping sheet understands the first lines; a line that it does not is something not read.
int runPreview(const Options &options)
{
    const auto preview = previewMapping(options.pathA, options.open.mapping, options.preview, {});
    if (!preview) {
        printError(preview.error());
        if (options.json)
            writeOutput(options, refusalDocument("inspect", preview.error().message()));
        return 2;
    }
    const std::string text = options.json ? previewJson(*preview) : previewText(*preview);
    const bool all = preview->count(MappedLine::Use::NotUnderstood) == 0;
    return writeOutput(options, text) && all ? 0 : 2;
}

} // namespace

int runInspect(const Options &options)
{
    if (options.preview > 0)
        return runPreview(options);
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
    const auto device = Device::choose(options);
    if (!device) {
        printError(device.error());
        if (options.json)
            writeOutput(options, refusalDocument("fingerprint", device.error().message()));
        return 2;
    }
    ThreadPool threads(device->threads());
    ProgressLine line(options);
    const FingerprintRequest request{
        options.pathA, options.open, wantedStep(options), options.digests,
        userIndex(!options.noIndex, !options.verify, device->backend())};
    const auto progress = [&](const Progress &now) { line.show(now); };
    FingerprintFile file;
    if (options.fingerprintFile.empty())
        file.shown = fingerprint(request, device->backend(), threads, {}, progress);
    else
        file = fingerprintToFile(request, options.fingerprintFile, !options.verify,
                                 device->backend(), threads, {}, progress);
    const FingerprintDocument &document = file.shown;
    printDiagnostics(options, document.diagnostics);
    device->printIncidents();
    if (file.wentOn > 0 && !options.quiet)
        std::fprintf(stderr, "forkpoint-cli: %s: went on; %zu tensors had been done before\n",
                     options.fingerprintFile.c_str(), file.wentOn);
    const std::string text = options.json ? fingerprintJson(document) : fingerprintText(document);
    const bool all = options.fingerprintFile.empty() || (file.written && file.allRead);
    return writeOutput(options, text) && document.allRead() && all ? 0 : 2;
}

int runExtract(const Options &options)
{
    if (options.json && options.output.empty())
        return refuseExtract(options,
                             {ErrorCode::Usage, {}, {}, "the bytes need -o FILE beside --json"});
    auto chosen = openCheckpoint(options.pathA, options.open, wantedStep(options), {});
    if (!chosen)
        return refuseExtract(options, chosen.error());
    const bool npy = options.extractFormat.empty() ? options.output.ends_with(".npy")
                                                   : options.extractFormat == "npy";
    const Status status =
        extractTensor(*chosen->source, options.tensor,
                      npy ? ExtractFormat::Npy : ExtractFormat::Raw, options.output);
    if (!status)
        return refuseExtract(options, status.error());
    if (options.json)
        std::fputs(extractJson(options).c_str(), stdout);
    return 0;
}

} // namespace forkpoint
