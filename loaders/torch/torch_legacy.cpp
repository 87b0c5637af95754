// SPDX-License-Identifier: GPL-3.0-or-later
// torch.save before 1.6: five pickles in a row, then the storages, in the order of their keys.
// Source: torch/serialization.py, _legacy_save and _legacy_load.
#include "loaders/limits.h"
#include "loaders/torch/pickle_print.h"
#include "loaders/torch/pickle_vm.h"
#include "loaders/torch/torch_container.h"
#include "loaders/torch/torch_loaders.h"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace forkpoint {

namespace {

constexpr std::array<std::uint8_t, 15> Magic = {0x80, 0x02, 0x8a, 0x0a, 0x6c, 0xfc, 0x9c, 0x46,
                                                0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19, 0x2e};

struct Stored
{
    std::uint64_t offset = 0, length = 0;
    std::uint64_t identity = NoStorage;
    std::optional<Error> problem;
};

class LegacyTable final : public StorageTable
{
public:
    FileIndex file = 0;
    std::unordered_map<std::string, Stored> stored;

    StorageSlot slot(const PickleGraph &graph, NodeId persistentId) override
    {
        StorageSlot slot;
        const auto id = storageId(graph, persistentId);
        if (!id.ok()) {
            slot.problem = id.error();
            return slot;
        }
        slot.held = id.value().held;
        slot.file = file;
        const auto found = stored.find(id.value().key);
        if (found == stored.end()) {
            slot.problem = Error{ErrorCode::NotFound,
                                 {},
                                 {},
                                 "no storage '" + id.value().key.substr(0, 80) + "' in the stream"};
            return slot;
        }
        slot.offset = found->second.offset;
        slot.length = found->second.length;
        slot.identity = found->second.identity;
        slot.problem = found->second.problem;
        if (!slot.problem && id.value().bytes > slot.length)
            slot.problem = Error{ErrorCode::Mismatch,
                                 {},
                                 {},
                                 "its storage should have " + std::to_string(id.value().bytes)
                                     + " bytes and has " + std::to_string(slot.length)};
        if (!slot.problem && id.value().view != NoNode)
            applyView(graph, id.value(), slot);
        return slot;
    }

private:
    /// (key, offset, numel): a storage that is a part of another one.
    static void applyView(const PickleGraph &graph, const StorageId &id, StorageSlot &slot)
    {
        const auto parts = graph.items(id.view);
        const auto first = pickledInteger(graph, parts[1]);
        const auto count = pickledInteger(graph, parts[2]);
        const bool sound = first && count && *first >= 0 && *count >= 0;
        const auto from =
            sound ? checkedMul(std::uint64_t(*first), id.held.itemBytes) : std::nullopt;
        const auto size =
            sound ? checkedMul(std::uint64_t(*count), id.held.itemBytes) : std::nullopt;
        const auto end = from && size ? checkedAdd(*from, *size) : std::nullopt;
        if (!end || *end > slot.length) {
            slot.problem = Error{ErrorCode::Malformed, {}, {}, "a view outside its storage"};
            return;
        }
        slot.offset += *from;
        slot.length = *size;
    }
};

struct LegacyStream
{
    std::shared_ptr<const PickleGraph> object;
    LegacyTable table;
};

/// Where each storage lies. A cut or contradictory stream keeps the whole storages before it.
Status locateStorages(const ByteSource &source, std::uint64_t at, const PickleGraph &keys,
                      const std::unordered_map<std::string, std::uint64_t> &itemBytes,
                      CheckpointBuilder &builder, LegacyTable &table)
{
    std::optional<Error> stop;
    for (const NodeId key : keys.items(keys.root)) {
        const auto number = pickledInteger(keys, key);
        std::string name = number ? std::to_string(*number) : std::string(keys.text(key));
        Stored stored;
        stored.identity = builder.newStorage();
        std::array<std::byte, 8> raw{};
        const auto item = itemBytes.find(name);
        if (!stop && item == itemBytes.end())
            stop = Error{ErrorCode::Malformed,
                         {},
                         {},
                         "storage '" + name.substr(0, 80) + "' has no known element type"};
        if (!stop && source.size() - at < raw.size())
            stop = Error{ErrorCode::Truncated,
                         {},
                         {},
                         "the file ends at byte " + std::to_string(source.size())
                             + ", before storage '" + name.substr(0, 80) + "'"};
        if (!stop) {
            FP_CHECK(source.read(at, raw));
            const auto count = loadLittle<std::int64_t>(raw.data());
            const auto size =
                count >= 0 ? checkedMul(std::uint64_t(count), item->second) : std::nullopt;
            at += raw.size();
            if (!size || *size > source.size() - at)
                stop = Error{size ? ErrorCode::Truncated : ErrorCode::Malformed,
                             {},
                             {},
                             "storage '" + name.substr(0, 80) + "' of " + std::to_string(count)
                                 + " elements at byte " + std::to_string(at) + ", the file has "
                                 + std::to_string(source.size()) + " bytes"};
            stored.offset = at;
            stored.length = stop ? 0 : *size;
            at += stored.length;
        }
        stored.problem = stop;
        table.stored.emplace(std::move(name), std::move(stored));
    }
    if (!stop && at < source.size()) {
        builder.addDiagnostic(
            {Severity::Error, "trailing-bytes", source.name(), "byte " + std::to_string(at),
             std::to_string(source.size() - at) + " bytes behind the last storage are not listed"});
        builder.setIncomplete();
    }
    return {};
}

Result<LegacyStream> openLegacy(const std::shared_ptr<const ByteSource> &source,
                                const TreeContext &context)
{
    LegacyStream stream;
    std::uint64_t at = 0;
    for (int i = 0; i < 3; ++i) { // magic number, protocol version, system information
        FP_TRY(const auto head, readPickle(*source, at, context.stop));
        at += head->end;
    }
    FP_TRY(stream.object, readPickle(*source, at, context.stop));
    at += stream.object->end;
    FP_TRY(const auto keys, readPickle(*source, at, context.stop));
    at += keys->end;
    if (!keys->is(keys->root, PickleKind::List))
        return Error{ErrorCode::Malformed, source->name(), "byte " + std::to_string(at),
                     "the keys of the storages are no list"};
    std::unordered_map<std::string, std::uint64_t> itemBytes;
    for (const NodeId id : stream.object->persistentIds) {
        if (const auto known = storageId(*stream.object, id); known.ok())
            itemBytes.emplace(known.value().key, known.value().held.itemBytes);
    }
    stream.table.file = context.builder.addFile(source);
    FP_CHECK(locateStorages(*source, at, *keys, itemBytes, context.builder, stream.table));
    return stream;
}

class LegacyLoader final : public Loader
{
public:
    std::string_view name() const override { return "torch"; }
    std::string_view description() const override
    {
        return "torch.save without zip (torch 0.1.10 to 1.5)";
    }
    Confidence probe(ByteView head, const ByteSource &) const override
    {
        return isLegacyStream(head) ? Confidence::Yes : Confidence::No;
    }
    Status load(std::shared_ptr<const ByteSource> source, const OpenOptions &, std::stop_token stop,
                CheckpointBuilder &builder) const override
    {
        TreeContext context{builder, source->name(), {}, 0, stop};
        auto status = listTorchLegacy(source, context);
        return status.ok() ? Status() : Status(std::move(status).error().inFile(source->name()));
    }
};

} // namespace

bool isLegacyStream(ByteView head)
{
    return head.size() >= Magic.size()
        && std::equal(Magic.begin(), Magic.end(), head.begin(),
                      [](std::uint8_t a, std::byte b) { return std::byte(a) == b; });
}

Status listTorchLegacy(const std::shared_ptr<const ByteSource> &source, const TreeContext &context)
{
    FP_TRY(LegacyStream stream, openLegacy(source, context));
    reportDangerousGlobals(*stream.object, context, {});
    return listPickle(*stream.object, &stream.table, context);
}

Result<StorageSlot> storageOfBytes(std::string bytes, const TreeContext &context)
{
    const auto data = asBytes(bytes);
    if (context.nesting > limits::NestedPickles)
        return Error{ErrorCode::Limit, {}, {}, "pickles nested too deep"};
    if (!isLegacyStream(data))
        return Error{ErrorCode::Unsupported, {}, {}, "its storage is not a legacy stream"};
    const auto source = std::make_shared<MemorySource>(
        context.file, std::vector<std::byte>(data.begin(), data.end()));
    FP_TRY(LegacyStream stream, openLegacy(source, context));
    reportDangerousGlobals(*stream.object, context, {});
    return stream.table.slot(*stream.object, stream.object->root);
}

const Loader &torchLegacyLoader()
{
    static const LegacyLoader loader;
    return loader;
}

} // namespace forkpoint
