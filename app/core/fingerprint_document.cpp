// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/fingerprint_document.h"

#include "app/core/run_on.h"
#include "loaders/elements/tensor_digest.h"
#include "model/text/json_values.h"
#include "model/text/printable.h"

namespace forkpoint {

bool checkUnchanged(const TensorSource &source, const Fingerprints &prints, KnownDigests *known,
                    Executor &executor, Diagnostics &diagnostics)
{
    if (const Status status = runOn(executor, [&] { return source.unchanged(); }); !status) {
        diagnostics.push_back(toDiagnostic(status.error(), Severity::Error));
        return false;
    }
    if (known == nullptr)
        return true;
    std::vector<std::pair<TensorIndex, Digest128>> contents;
    for (TensorIndex i = 0; i < prints.tensors.size(); ++i) {
        if (prints.tensors[i])
            contents.emplace_back(i, prints.tensors[i]->content);
    }
    const Diagnostics news = known->learn(source, contents);
    diagnostics.insert(diagnostics.end(), news.begin(), news.end());
    return true;
}

void takeFingerprints(FingerprintDocument &document, const FingerprintRequest &request,
                      const Fingerprints &prints, const ComputeBackend &backend, Executor &executor,
                      std::stop_token stop, const std::function<void(const Progress &)> &progress)
{
    const TensorSource &source = *document.chosen->source;
    const Catalog &catalog = source.catalog();
    for (const Diagnostics *list :
         {&document.chosen->run->diagnostics(), &catalog.diagnostics, &prints.diagnostics})
        document.diagnostics.insert(document.diagnostics.end(), list->begin(), list->end());
    document.strength = prints.strength;
    std::vector<std::pair<std::string, TensorFingerprint>> all;
    for (TensorIndex i = 0; prints.finished && i < catalog.tensors.size(); ++i) {
        document.fingerprints.emplace_back();
        if (!prints.tensors[i])
            continue;
        const Digest128 &content = prints.tensors[i]->content;
        document.fingerprints.back() =
            TensorFingerprint{content, tensorDigest(backend, catalog.tensors[i], content)};
        all.emplace_back(catalog.tensors[i].name, *document.fingerprints.back());
    }
    const bool whole = prints.finished && all.size() == catalog.tensors.size() && catalog.complete;
    if (whole)
        document.checkpoint = checkpointFingerprint(backend, std::move(all));
    document.with = request.with;
    if (!request.with.empty())
        document.digests = digestTensors(source, request.with, executor, stop, progress);
    if (!checkUnchanged(source, prints, request.known.get(), executor, document.diagnostics))
        document.checkpoint.reset();
}

FingerprintDocument fingerprint(const FingerprintRequest &request, const ComputeBackend &backend,
                                Executor &executor, std::stop_token stop,
                                const std::function<void(const Progress &)> &progress)
{
    FingerprintDocument document;
    document.path = request.path;
    auto chosen = runOn(
        executor, [&] { return openCheckpoint(request.path, request.open, request.step, stop); });
    if (!chosen) {
        document.diagnostics.push_back(toDiagnostic(chosen.error(), Severity::Error));
        return document;
    }
    document.chosen = std::move(chosen).value();
    const FingerprintWork work{std::nullopt, request.known.get(), nullptr};
    const Fingerprints prints =
        fingerprintTensors(*document.chosen->source, work, backend, executor, stop, progress);
    takeFingerprints(document, request, prints, backend, executor, stop, progress);
    return document;
}

namespace {

void writeDigests(JsonWriter &json, const TensorRef &tensor, const TensorDigests &digests)
{
    json.key("with").beginObject();
    for (const auto &[name, hex] : digests.byName)
        json.key(name).text(hex);
    json.endObject();
    json.key("effective_bits").beginObject();
    for (const auto &[name, hex] : digests.byName)
        json.key(name).number(std::uint64_t(tensorDigestBits(name, tensor.dtype, tensor.bytes)));
    json.endObject();
    if (digests.absent.empty())
        return;
    json.key("without").beginObject();
    for (const auto &[name, reason] : digests.absent)
        json.key(name).text(reason);
    json.endObject();
}

} // namespace

std::string fingerprintJson(const FingerprintDocument &document)
{
    JsonWriter json;
    json.beginObject();
    json.key("schema").text("forkpoint.fingerprint/1");
    json.key("path").text(document.path);
    json.key("version").number(std::uint64_t(FingerprintVersion));
    json.key("strength").text(toString(document.strength));
    if (const auto step = document.step())
        json.key("step").number(*step);
    if (document.checkpoint) {
        json.key("checkpoint").beginObject();
        json.key("named").text(document.checkpoint->named.toHex());
        json.key("contents").text(document.checkpoint->contents.toHex());
        json.endObject();
    }
    json.key("tensors").beginArray();
    for (std::size_t i = 0; i < document.fingerprints.size(); ++i) {
        const TensorRef &tensor = document.chosen->source->catalog().tensors[i];
        json.beginObject();
        json.key("name").text(tensor.name);
        writePath(json.key("path"), tensor.path);
        if (document.fingerprints[i]) {
            json.key("content").text(document.fingerprints[i]->content.toHex());
            json.key("tensor").text(document.fingerprints[i]->tensor.toHex());
        }
        if (!document.digests.empty()) {
            writeDigests(json, tensor, document.digests[i]);
        }
        json.endObject();
    }
    json.endArray();
    if (!document.with.empty()) {
        json.key("cannot_see").beginObject();
        for (const std::string &name : document.with)
            json.key(name).text(tensorDigestInfo(name)->cannotSee);
        json.endObject();
    }
    writeDiagnostics(json, document.diagnostics);
    json.endObject();
    return json.take();
}

std::string fingerprintText(const FingerprintDocument &document)
{
    std::string text;
    for (std::size_t i = 0; i < document.fingerprints.size(); ++i) {
        const TensorRef &tensor = document.chosen->source->catalog().tensors[i];
        const auto &print = document.fingerprints[i];
        text += (print ? print->tensor.toHex() : std::string("not read")) + "  "
            + printable(tensor.name);
        if (!document.digests.empty()) {
            for (const auto &[name, hex] : document.digests[i].byName)
                text += "  " + name + ":" + hex + " ("
                    + std::to_string(tensorDigestBits(name, tensor.dtype, tensor.bytes)) + " bits)";
            for (const auto &[name, reason] : document.digests[i].absent)
                text += "  " + name + ": none, " + printable(reason);
        }
        text += "\n";
    }
    for (const std::string &name : document.with)
        text += name + " cannot see: " + std::string(tensorDigestInfo(name)->cannotSee) + "\n";
    if (document.strength == Strength::Xxh3Index)
        text += "some were read before and come from the index of fingerprints\n";
    const std::string which =
        document.step() ? "step " + std::to_string(*document.step()) : std::string("checkpoint");
    if (document.checkpoint)
        text += document.checkpoint->named.toHex() + "  (" + which + ", with names)\n"
            + document.checkpoint->contents.toHex() + "  (" + which + ", without names)\n";
    return text;
}

} // namespace forkpoint
