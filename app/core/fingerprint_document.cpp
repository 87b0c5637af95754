// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/fingerprint_document.h"

#include "model/json_values.h"
#include "model/pair_reading.h"
#include "model/printable.h"

#include <algorithm>

namespace forkpoint {

namespace {

constexpr std::uint64_t RangeBytes = 8u << 20; ///< a multiple of the leaf

struct Range
{
    TensorIndex tensor = 0;
    ByteRange bytes;
};

std::vector<Range> rangesOf(const Catalog &catalog)
{
    std::vector<Range> ranges;
    for (TensorIndex i = 0; i < catalog.tensors.size(); ++i) {
        const TensorRef &tensor = catalog.tensors[i];
        for (std::uint64_t first = 0; !tensor.unreadable && first < tensor.bytes;
             first += RangeBytes)
            ranges.push_back({i, {first, std::min(RangeBytes, tensor.bytes - first)}});
    }
    return ranges;
}

/// Reads all ranges, a batch in parallel at a time, and folds their leaves in order.
class Fingerprinter
{
public:
    Fingerprinter(FingerprintDocument &document, const ComputeBackend &backend, Executor &executor)
        : m_document(document),
          m_source(*document.chosen->source),
          m_backend(backend),
          m_executor(executor)
    {
    }

    void run(std::stop_token stop, const std::function<void(const Progress &)> &progress)
    {
        const std::vector<TensorRef> &tensors = m_source.catalog().tensors;
        const std::vector<Range> ranges = rangesOf(m_source.catalog());
        m_trees.reserve(tensors.size());
        for (std::size_t i = 0; i < tensors.size(); ++i)
            m_trees.emplace_back(m_backend);
        m_failed.assign(tensors.size(), false);
        for (std::size_t i = 0; i < tensors.size(); ++i)
            m_failed[i] = tensors[i].unreadable.has_value();
        Progress now{"fingerprinting", {}, 0, 0, 0, tensors.size()};
        for (const Range &range : ranges)
            now.bytesTotal += range.bytes.size;
        const std::size_t batch = 4 * m_executor.threadCount();
        for (std::size_t first = 0; first < ranges.size() && !stop.stop_requested();
             first += batch) {
            readBatch(std::span(ranges).subspan(first, std::min(batch, ranges.size() - first)), now,
                      stop);
            if (progress)
                progress(now);
        }
        if (!stop.stop_requested())
            finish();
    }

private:
    void readBatch(std::span<const Range> ranges, Progress &now, std::stop_token stop)
    {
        std::vector<LeafReading> readings(ranges.size());
        m_executor.forEach(ranges.size(), [&](std::size_t i) {
            const PairOfTensors one{SourcedTensor{&m_source, ranges[i].tensor}, std::nullopt};
            readings[i] = readLeaves(one, ranges[i].bytes, m_backend, true, stop);
        });
        for (std::size_t i = 0; i < ranges.size(); ++i) {
            const TensorIndex tensor = ranges[i].tensor;
            now.bytesDone += ranges[i].bytes.size;
            now.item = m_source.catalog().tensors[tensor].name;
            if (m_failed[tensor])
                continue;
            if (readings[i].errorA) {
                m_failed[tensor] = true;
                m_document.diagnostics.push_back(toDiagnostic(
                    std::move(*readings[i].errorA).atPlace("tensor '" + now.item + "'"),
                    Severity::Error));
                continue;
            }
            for (const Digest128 &leaf : readings[i].leavesA)
                m_trees[tensor].push(leaf);
        }
    }

    void finish()
    {
        const std::vector<TensorRef> &tensors = m_source.catalog().tensors;
        std::vector<std::pair<std::string, TensorFingerprint>> all;
        for (TensorIndex i = 0; i < tensors.size(); ++i) {
            m_document.fingerprints.emplace_back();
            if (m_failed[i])
                continue;
            const Digest128 content = m_trees[i].finish();
            m_document.fingerprints.back() =
                TensorFingerprint{content, tensorDigest(m_backend, tensors[i], content)};
            all.emplace_back(tensors[i].name, *m_document.fingerprints.back());
        }
        if (all.size() == tensors.size() && m_source.catalog().complete)
            m_document.checkpoint = checkpointFingerprint(m_backend, std::move(all));
    }

    FingerprintDocument &m_document;
    const TensorSource &m_source;
    const ComputeBackend &m_backend;
    Executor &m_executor;
    std::vector<FingerprintTree> m_trees;
    std::vector<bool> m_failed;
};

} // namespace

FingerprintDocument fingerprint(const std::string &path, const OpenOptions &options,
                                std::optional<Step> step, const std::vector<std::string> &with,
                                const ComputeBackend &backend, Executor &executor,
                                std::stop_token stop,
                                const std::function<void(const Progress &)> &progress)
{
    FingerprintDocument document;
    document.path = path;
    auto chosen = openCheckpoint(path, options, step, stop);
    if (!chosen) {
        document.diagnostics.push_back(toDiagnostic(chosen.error(), Severity::Error));
        return document;
    }
    document.chosen = std::move(chosen).value();
    document.diagnostics = document.chosen->run->diagnostics();
    const Diagnostics &own = document.chosen->source->catalog().diagnostics;
    document.diagnostics.insert(document.diagnostics.end(), own.begin(), own.end());
    Fingerprinter(document, backend, executor).run(stop, progress);
    if (!with.empty())
        document.digests = digestTensors(*document.chosen->source, with, executor, stop, progress);
    if (const Status status = document.chosen->source->unchanged(); !status) {
        document.diagnostics.push_back(toDiagnostic(status.error(), Severity::Error));
        document.checkpoint.reset();
    }
    return document;
}

std::string fingerprintJson(const FingerprintDocument &document)
{
    JsonWriter json;
    json.beginObject();
    json.key("schema").text("forkpoint.fingerprint/1");
    json.key("path").text(document.path);
    json.key("version").number(std::uint64_t(FingerprintVersion));
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
            json.key("with").beginObject();
            for (const auto &[name, hex] : document.digests[i].byName)
                json.key(name).text(hex);
            json.endObject();
        }
        json.endObject();
    }
    json.endArray();
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
                text += "  " + name + ":" + hex;
        }
        text += "\n";
    }
    if (document.checkpoint)
        text += document.checkpoint->named.toHex() + "  (checkpoint, with names)\n"
            + document.checkpoint->contents.toHex() + "  (checkpoint, without names)\n";
    return text;
}

} // namespace forkpoint
