// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/results/fpx_format.h"
#include "loaders/results/fpx_layout.h"
#include "loaders/results/fpx_writer.h"
#include "loaders/storage/zstd_source.h"
#include "model/folded_numbers.h"

#include <bit>
#include <map>

namespace forkpoint {

namespace {

void write(FpxWriter &out, const Diagnostics &diagnostics)
{
    out.u64(diagnostics.size());
    for (const Diagnostic &diagnostic : diagnostics) {
        out.u8(std::uint64_t(diagnostic.severity));
        out.text(diagnostic.code);
        out.text(diagnostic.file);
        out.text(diagnostic.place);
        out.text(diagnostic.text);
    }
}

void write(FpxWriter &out, const KeyPath &path)
{
    out.u32(path.keys.size());
    for (const Key &key : path.keys) {
        out.u8(std::uint64_t(key.kind));
        out.u64(std::uint64_t(key.number));
        out.text(key.text);
    }
}

void write(FpxWriter &out, const Error &error)
{
    out.text(toString(error.code));
    out.text(error.file);
    out.text(error.place);
    out.text(error.text);
}

void write(FpxWriter &out, const RecordedDigests &digests)
{
    out.digest(digests.content);
    out.u8(digests.level);
    out.u64(digests.nodes.size());
    for (const Digest128 &node : digests.nodes)
        out.digest(node);
    out.u8(digests.facts.has_value());
    if (!digests.facts)
        return;
    out.u64(digests.facts->finite);
    out.u64(digests.facts->nan);
    out.u64(digests.facts->inf);
    out.u8(digests.facts->rms.has_value());
    out.u64(std::bit_cast<std::uint64_t>(digests.facts->rms.value_or(0.0)));
}

/// Names of files, each once.
class FileTable
{
public:
    explicit FileTable(const Catalog &catalog)
    {
        for (const TensorRef &tensor : catalog.tensors) {
            for (const std::string &file : tensor.files)
                add(file);
        }
        for (const ValueRef &value : catalog.values)
            add(value.file);
    }

    std::uint64_t numberOf(const std::string &file) const { return m_numbers.at(file); }
    void write(FpxWriter &out) const
    {
        out.u64(m_files.size());
        for (const std::string &file : m_files)
            out.text(file);
    }

private:
    void add(const std::string &file)
    {
        if (m_numbers.try_emplace(file, m_files.size()).second)
            m_files.push_back(file);
    }

    std::map<std::string, std::uint64_t> m_numbers;
    std::vector<std::string> m_files;
};

void write(FpxWriter &out, const TensorRef &tensor, const std::optional<RecordedDigests> &digests,
           const FileTable &files)
{
    write(out, tensor.path);
    out.text(tensor.name);
    out.text(toString(tensor.stateClass));
    out.text(tensor.dtype.name);
    out.u32(tensor.dtype.bits);
    out.u32(tensor.dtype.packing);
    out.u32(tensor.shape.dims.size());
    for (const Index size : tensor.shape.dims)
        out.u64(size);
    out.u32(tensor.files.size());
    for (const std::string &file : tensor.files)
        out.u32(files.numberOf(file));
    out.u64(tensor.fileOrder);
    out.u64(tensor.executionOrder);
    out.u32(tensor.owner);
    out.u8(tensor.layoutKnown);
    out.text(tensor.note);
    out.u8(digests.has_value());
    if (digests)
        write(out, *digests);
    else
        write(out,
              tensor.unreadable.value_or(
                  Error{ErrorCode::Io, {}, {}, "was not read when it was fingerprinted"}));
}

void write(FpxWriter &out, const Value &value)
{
    out.u8(std::uint64_t(value.type));
    const auto kind = FpxData(value.data.index());
    out.u8(std::uint64_t(kind));
    switch (kind) {
    case FpxData::Nothing: break;
    case FpxData::Bool: out.u8(std::get<bool>(value.data)); break;
    case FpxData::Signed: out.u64(std::uint64_t(std::get<std::int64_t>(value.data))); break;
    case FpxData::Unsigned: out.u64(std::get<std::uint64_t>(value.data)); break;
    case FpxData::Real: out.u64(std::bit_cast<std::uint64_t>(std::get<double>(value.data))); break;
    case FpxData::Text: // of a list of numbers not the numbers
        out.text(value.type == ValueType::Numbers ? foldedFacts(value)
                                                  : std::get<std::string>(value.data));
        break;
    }
    out.u64(value.count);
    out.text(value.digest);
}

void write(FpxWriter &out, const std::optional<Step> &step)
{
    out.u8(step.has_value());
    out.u64(std::uint64_t(step.value_or(0)));
}

void write(FpxWriter &out, const FpxCheckpoint &checkpoint)
{
    write(out, checkpoint.step.step);
    write(out, checkpoint.step.namedStep);
    out.u8(checkpoint.step.complete);
    out.text(checkpoint.step.path);
    const Catalog &catalog = checkpoint.catalog;
    out.text(catalog.format);
    out.u8(catalog.complete);
    const FileTable files(catalog);
    files.write(out);
    out.u64(catalog.owners.size());
    for (const OwnerCoordinate &owner : catalog.owners) {
        out.u32(owner.axes.size());
        for (const auto &[axis, position] : owner.axes) {
            out.text(axis);
            out.u64(std::uint64_t(position));
        }
    }
    out.u64(catalog.tensors.size());
    for (std::size_t i = 0; i < catalog.tensors.size(); ++i)
        write(out, catalog.tensors[i], checkpoint.digests[i], files);
    out.u64(catalog.values.size());
    for (const ValueRef &value : catalog.values) {
        write(out, value.path);
        out.text(value.name);
        out.text(toString(value.stateClass));
        out.u32(files.numberOf(value.file));
        write(out, value.value);
    }
    write(out, catalog.diagnostics);
}

std::vector<std::byte> bodyOf(const FpxDocument &document)
{
    FpxWriter out;
    out.u32(FingerprintVersion);
    out.text(document.format);
    out.u8(document.complete);
    write(out, document.diagnostics);
    out.u64(document.checkpoints.size());
    for (const FpxCheckpoint &checkpoint : document.checkpoints)
        write(out, checkpoint);
    return out.take();
}

} // namespace

std::vector<std::byte> encodeDigests(const RecordedDigests &digests)
{
    FpxWriter out;
    write(out, digests);
    return out.take();
}

std::vector<std::byte> encodeFpx(const FpxDocument &document)
{
    const std::vector<std::byte> body = bodyOf(document);
    std::vector<std::byte> packed = compressZstd(body);
    // What a reader will refuse as a bomb is stored as it is.
    const bool compressed = !packed.empty() && packed.size() < body.size()
        && body.size() <= fpxLargestBody(packed.size());
    const std::vector<std::byte> &stored = compressed ? packed : body;
    FpxWriter out;
    out.raw(asBytes(FpxMagic));
    out.u32(FpxVersion);
    out.u32(compressed ? FpxZstd : FpxStored);
    out.u64(stored.size());
    out.u64(body.size());
    std::vector<std::byte> file = out.take();
    const auto checksum = fpxChecksum(file, body);
    file.insert(file.end(), checksum.begin(), checksum.end());
    file.insert(file.end(), stored.begin(), stored.end());
    return file;
}

} // namespace forkpoint
