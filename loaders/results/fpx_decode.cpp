// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/results/fpx_format.h"
#include "loaders/results/fpx_layout.h"
#include "loaders/results/fpx_reader.h"

#include "loaders/elements/running_digest.h"
#include "loaders/limits.h"
#include "loaders/storage/zstd_source.h"
#include "model/compute_backend.h"
#include "model/folded_numbers.h"

#include <algorithm>
#include <bit>

namespace forkpoint {

namespace {

Diagnostics readDiagnostics(FpxReader &in)
{
    Diagnostics diagnostics;
    for (std::uint64_t left = in.items(in.u64(), 17); left > 0 && in.ok(); --left) {
        Diagnostic diagnostic;
        diagnostic.severity =
            Severity(in.oneOf(in.u8(), std::uint64_t(Severity::Error) + 1, "a severity"));
        diagnostic.code = in.text();
        diagnostic.file = in.text();
        diagnostic.place = in.text();
        diagnostic.text = in.text();
        diagnostics.push_back(std::move(diagnostic));
    }
    return diagnostics;
}

KeyPath readPath(FpxReader &in)
{
    KeyPath path;
    for (std::uint64_t left = in.items(in.u32(), 13); left > 0 && in.ok(); --left) {
        Key key;
        key.kind =
            Key::Kind(in.oneOf(in.u8(), std::uint64_t(Key::Kind::Other) + 1, "a key's kind"));
        key.number = std::int64_t(in.u64());
        key.text = in.text();
        path.keys.push_back(std::move(key));
    }
    return path;
}

Error readError(FpxReader &in)
{
    Error error;
    const std::string code = in.text();
    error.code = ErrorCode::Io;
    for (int i = 0; i <= int(ErrorCode::Usage); ++i) {
        if (toString(ErrorCode(i)) == code)
            error.code = ErrorCode(i);
    }
    error.file = in.text();
    error.place = in.text();
    error.text = in.text();
    return error;
}

StateClass readClass(FpxReader &in)
{
    const std::string name = in.text();
    const auto known = stateClassByName(name);
    if (!known)
        in.fail("'" + escapeInvalidUtf8(name) + "' is no class");
    return known.value_or(StateClass::Unknown);
}

std::optional<Step> readStep(FpxReader &in)
{
    const bool there = in.flag();
    const auto step = Step(in.u64());
    return there ? std::optional(step) : std::nullopt;
}

/// A name of the table must have the table's width; any other name is that of an opaque type.
DType readDtype(FpxReader &in)
{
    const std::string name = in.text();
    const std::uint32_t bits = in.u32(), packing = in.u32();
    if (const auto known = dtypeByName(name)) {
        if (known->bits != bits || known->packing != packing)
            in.fail("dtype " + name + " has other bits than this version knows");
        return *known;
    }
    if (bits == 0 || bits % 8 != 0 || packing != 1)
        in.fail("an opaque type must be of whole bytes");
    return namedOpaqueDType(name, bits / 8);
}

/// How many nodes a level of the tree over so many bytes has.
std::uint64_t nodesOfLevel(std::uint64_t bytes, std::uint32_t level)
{
    std::uint64_t nodes = bytes / LeafBytes + (bytes % LeafBytes != 0);
    for (; level > 0; --level)
        nodes = nodes / FingerprintFanOut + (nodes % FingerprintFanOut != 0);
    return nodes;
}

RecordedDigests readDigests(FpxReader &in, std::uint64_t bytes)
{
    RecordedDigests digests;
    digests.content = in.digest();
    digests.level = std::uint32_t(in.oneOf(in.u8(), FpxHighestLevel + 1, "a level"));
    const std::uint64_t nodes = in.fitting(in.u64(), FpxDigestBytes);
    const std::uint64_t expected = nodesOfLevel(bytes, digests.level);
    if (nodes != (expected < 2 ? 0 : expected))
        in.fail("level " + std::to_string(digests.level) + " of this tensor has "
                + std::to_string(expected) + " nodes, recorded are " + std::to_string(nodes));
    for (std::uint64_t i = 0; i < nodes && in.ok(); ++i)
        digests.nodes.push_back(in.digest());
    if (!in.flag())
        return digests;
    RecordedFacts facts;
    facts.finite = in.u64();
    facts.nan = in.u64();
    facts.inf = in.u64();
    const bool rms = in.flag();
    const auto value = std::bit_cast<double>(in.u64());
    if (rms)
        facts.rms = value;
    digests.facts = facts;
    return digests;
}

void measure(FpxReader &in, TensorRef &tensor)
{
    const auto positions = tensor.shape.count();
    const auto elements = positions ? checkedMul(*positions, tensor.dtype.packing) : std::nullopt;
    const auto bits = elements ? checkedMul(*elements, tensor.dtype.bits) : std::nullopt;
    if (!bits || *bits > ~std::uint64_t(0) - 7) {
        in.fail("shape " + tensor.shape.toString() + " exceeds 64 bits");
        return;
    }
    tensor.elements = *elements;
    tensor.bytes = (*bits + 7) / 8;
}

void readTensor(FpxReader &in, FpxCheckpoint &checkpoint)
{
    Catalog &catalog = checkpoint.catalog;
    TensorRef tensor;
    tensor.path = readPath(in);
    tensor.name = in.text();
    tensor.stateClass = readClass(in);
    tensor.dtype = readDtype(in);
    const std::uint64_t rank = in.oneOf(in.u32(), limits::Rank + 1, "a rank");
    for (std::uint64_t i = 0; i < rank && in.ok(); ++i)
        tensor.shape.dims.push_back(in.u64());
    for (std::uint64_t left = in.items(in.u32(), 4); left > 0 && in.ok(); --left) {
        const std::uint64_t file = in.oneOf(in.u32(), catalog.files.size(), "a file's number");
        if (in.ok())
            tensor.files.push_back(in.repeated(catalog.files[std::size_t(file)]));
    }
    tensor.fileOrder = in.u64();
    tensor.executionOrder = in.u64();
    tensor.owner = in.u32();
    if (tensor.owner != NoOwner)
        in.oneOf(tensor.owner, catalog.owners.size(), "an owner's number");
    tensor.layoutKnown = in.flag();
    tensor.note = in.text();
    measure(in, tensor);
    checkpoint.digests.emplace_back();
    if (in.flag())
        checkpoint.digests.back() = readDigests(in, tensor.bytes);
    else
        tensor.unreadable = readError(in);
    if (!tensor.layoutKnown && !tensor.unreadable)
        in.fail("a tensor without a layout cannot have been read");
    if (!catalog.tensors.empty() && catalog.tensors.back().name >= tensor.name)
        in.fail("names must rise");
    catalog.tensors.push_back(std::move(tensor));
}

Value readValue(FpxReader &in)
{
    Value value;
    value.type = ValueType(in.oneOf(in.u8(), std::uint64_t(ValueType::Link) + 1, "a value's type"));
    switch (FpxData(in.oneOf(in.u8(), std::uint64_t(FpxData::Text) + 1, "a kind of data"))) {
    case FpxData::Nothing: break;
    case FpxData::Bool: value.data = in.flag(); break;
    case FpxData::Signed: value.data = std::int64_t(in.u64()); break;
    case FpxData::Unsigned: value.data = in.u64(); break;
    case FpxData::Real: value.data = std::bit_cast<double>(in.u64()); break;
    case FpxData::Text: value.data = in.text(); break;
    }
    value.count = in.u64();
    value.digest = in.text();
    return value;
}

/// Whether the data are such as a value of that type has: whoever shows it relies on that.
bool fits(const Value &value)
{
    const auto data = FpxData(value.data.index());
    switch (value.type) {
    case ValueType::None:
    case ValueType::Bytes: return data == FpxData::Nothing;
    case ValueType::Numbers: return !foldedFacts(value).empty();
    case ValueType::Bool: return data == FpxData::Bool;
    case ValueType::Int:
        return data == FpxData::Signed || data == FpxData::Unsigned || data == FpxData::Text;
    case ValueType::Float: return data == FpxData::Real;
    case ValueType::Text:
    case ValueType::Opaque:
    case ValueType::Empty:
    case ValueType::Link: return data == FpxData::Text;
    }
    return false;
}

void readValueRef(FpxReader &in, Catalog &catalog)
{
    ValueRef value;
    value.path = readPath(in);
    value.name = in.text();
    value.stateClass = readClass(in);
    const std::uint64_t file = in.oneOf(in.u32(), catalog.files.size(), "a file's number");
    if (in.ok())
        value.file = in.repeated(catalog.files[std::size_t(file)]);
    value.value = readValue(in);
    if (!fits(value.value))
        in.fail("a value has data of another type");
    if (!catalog.values.empty() && catalog.values.back().name >= value.name)
        in.fail("names must rise");
    catalog.values.push_back(std::move(value));
}

FpxCheckpoint readCheckpoint(FpxReader &in)
{
    FpxCheckpoint checkpoint;
    checkpoint.step.step = readStep(in);
    checkpoint.step.namedStep = readStep(in);
    checkpoint.step.complete = in.flag();
    checkpoint.step.path = in.text();
    Catalog &catalog = checkpoint.catalog;
    catalog.format = in.text();
    catalog.complete = in.flag();
    for (std::uint64_t left = in.items(in.u64(), 4); left > 0 && in.ok(); --left)
        catalog.files.push_back(in.text());
    for (std::uint64_t left = in.items(in.u64(), 4); left > 0 && in.ok(); --left) {
        OwnerCoordinate owner;
        for (std::uint64_t axes = in.items(in.u32(), 12); axes > 0 && in.ok(); --axes) {
            std::string axis = in.text();
            owner.axes.emplace_back(std::move(axis), std::int64_t(in.u64()));
        }
        catalog.owners.push_back(std::move(owner));
    }
    for (std::uint64_t left = in.items(in.u64(), 70); left > 0 && in.ok(); --left)
        readTensor(in, checkpoint);
    for (std::uint64_t left = in.items(in.u64(), 30); left > 0 && in.ok(); --left)
        readValueRef(in, catalog);
    catalog.diagnostics = readDiagnostics(in);
    return checkpoint;
}

Result<FpxDocument> readBody(ByteView body, const std::string &file)
{
    FpxReader in(body, file);
    FpxDocument document;
    if (const std::uint32_t version = in.u32(); in.ok() && version != FingerprintVersion) {
        return Error{ErrorCode::Unsupported,
                     file,
                     {},
                     "holds fingerprints of version " + std::to_string(version)
                         + ", this version compares version " + std::to_string(FingerprintVersion)};
    }
    document.format = in.text();
    document.complete = in.flag();
    document.diagnostics = readDiagnostics(in);
    for (std::uint64_t left = in.items(in.u64(), 60); left > 0 && in.ok(); --left)
        document.checkpoints.push_back(readCheckpoint(in));
    for (std::size_t i = 1; i < document.checkpoints.size(); ++i) {
        const auto &before = document.checkpoints[i - 1].step.step;
        const auto &step = document.checkpoints[i].step.step;
        if (!before || !step || *before >= *step)
            in.fail("steps must rise");
    }
    if (in.ok() && in.left() > 0)
        in.fail("must end here, " + std::to_string(in.left()) + " bytes follow");
    FP_CHECK(in.status());
    return document;
}

struct FpxHeader
{
    std::uint32_t compression = 0;
    std::uint64_t stored = 0, body = 0;
};

Result<FpxHeader> readHeader(ByteView bytes, const ByteSource &file)
{
    const auto refuse = [&](ErrorCode code, std::string text) {
        return Error{code, file.name(), "header", std::move(text)};
    };
    ByteCursor cursor(bytes, FpxMagic.size());
    const std::uint32_t version = *cursor.little<std::uint32_t>();
    FpxHeader header;
    header.compression = *cursor.little<std::uint32_t>();
    header.stored = *cursor.little<std::uint64_t>();
    header.body = *cursor.little<std::uint64_t>();
    if (version != FpxVersion)
        return refuse(ErrorCode::Unsupported,
                      "version must be " + std::to_string(FpxVersion) + ", is "
                          + std::to_string(version));
    if (header.compression > FpxZstd)
        return refuse(ErrorCode::Unsupported,
                      "knows compressions 0 and 1, not " + std::to_string(header.compression));
    if (header.stored != file.size() - FpxHeaderBytes)
        return refuse(ErrorCode::Truncated,
                      "announces " + std::to_string(header.stored) + " bytes, "
                          + std::to_string(file.size() - FpxHeaderBytes) + " follow");
    if (header.compression == FpxStored && header.body != header.stored)
        return refuse(ErrorCode::Malformed, "a stored body is as long as its bytes");
    if (header.body > std::min(limits::FingerprintFileBytes, fpxLargestBody(header.stored)))
        return refuse(ErrorCode::Limit,
                      "a body of " + std::to_string(header.body) + " bytes is too large for "
                          + std::to_string(header.stored) + " bytes");
    return header;
}

Result<std::vector<std::byte>> bodyOf(const std::shared_ptr<const ByteSource> &file,
                                      const FpxHeader &header)
{
    if (header.compression == FpxStored)
        return readAll(*file, FpxHeaderBytes, header.stored, limits::FingerprintFileBytes);
    FP_TRY(auto packed, WindowSource::make(file, FpxHeaderBytes, header.stored, file->name()));
    FP_TRY(const auto decoded, openZstd(std::move(packed), header.body, file->name()));
    if (decoded->size() != header.body) {
        return Error{ErrorCode::Malformed, file->name(), "header",
                     "announces a body of " + std::to_string(header.body) + " bytes, it has "
                         + std::to_string(decoded->size())};
    }
    return readAll(*decoded, 0, decoded->size(), limits::FingerprintFileBytes);
}

} // namespace

bool isFpx(ByteView head)
{
    return head.size() >= FpxMagic.size() && asText(head.first(FpxMagic.size())) == FpxMagic;
}

std::array<std::byte, FpxChecksumBytes> fpxChecksum(ByteView headerBefore, ByteView body)
{
    RunningDigest digest("sha256");
    digest.update(headerBefore);
    digest.update(body);
    const std::string hex = digest.finish();
    std::array<std::byte, FpxChecksumBytes> bytes;
    for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = std::byte(std::stoul(hex.substr(2 * i, 2), nullptr, 16));
    return bytes;
}

Result<RecordedDigests> decodeDigests(ByteView bytes, std::uint64_t bytesOfTensor)
{
    const std::string nowhere;
    FpxReader in(bytes, nowhere);
    RecordedDigests digests = readDigests(in, bytesOfTensor);
    if (in.ok() && in.left() > 0)
        in.fail("must end here");
    FP_CHECK(in.status());
    return digests;
}

Result<FpxDocument> decodeFpx(const std::shared_ptr<const ByteSource> &file)
{
    FP_TRY(const auto head, readAll(*file, 0, FpxHeaderBytes, FpxHeaderBytes));
    if (!isFpx(head))
        return Error{ErrorCode::Malformed, file->name(), "byte 0", "must begin as an .fpx file"};
    FP_TRY(const FpxHeader header, readHeader(head, *file));
    FP_TRY(const auto body, bodyOf(file, header));
    const std::size_t before = FpxHeaderBytes - FpxChecksumBytes;
    const auto checksum = fpxChecksum(ByteView(head).first(before), body);
    if (!std::equal(checksum.begin(), checksum.end(), head.begin() + std::ptrdiff_t(before)))
        return Error{ErrorCode::Mismatch, file->name(), "header",
                     "the checksum is not that of its bytes"};
    return readBody(body, file->name());
}

} // namespace forkpoint
