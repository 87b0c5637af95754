// SPDX-License-Identifier: GPL-3.0-or-later
// torch.save before 0.1.10: a tar of `storages`, `tensors` and `pickle`.
// Source: torch/serialization.py, legacy_load.
#include "loaders/limits.h"
#include "loaders/storage/tar_directory.h"
#include "loaders/torch/pickle_print.h"
#include "loaders/torch/pickle_vm.h"
#include "loaders/torch/torch_container.h"
#include "loaders/torch/torch_loaders.h"

#include <array>
#include <optional>
#include <unordered_map>

namespace forkpoint {

namespace {

using Members = std::unordered_map<std::string, TarMember>;

Result<Members> tarMembers(const ByteSource &source)
{
    FP_TRY(const auto listed, readTarDirectory(source));
    Members members;
    for (const TarMember &member : listed)
        members.emplace(member.name, member);
    return members;
}

bool isTorchTar(const Members &members)
{
    return members.contains("storages") && members.contains("tensors")
        && members.contains("pickle");
}

/// "torch.FloatTensor" and "torch.FloatStorage" hold the same.
std::optional<StorageClass> heldBy(const PickleGraph &graph, NodeId node)
{
    const PickleGlobal *global = graph.global(node);
    if (!global)
        return std::nullopt;
    PickleGlobal storage = *global;
    if (storage.name.ends_with("Tensor"))
        storage.name = storage.name.substr(0, storage.name.size() - 6) + "Storage";
    storage.known = knownGlobal(storage.module, storage.name);
    return storageClass(storage);
}

/// Reads the pickles and numbers of one member in turn, by positions of the whole file.
class Cursor
{
public:
    Cursor(std::shared_ptr<const ByteSource> member, std::uint64_t base, std::stop_token stop)
        : m_member(std::move(member)),
          m_base(base),
          m_stop(std::move(stop))
    {
    }

    Result<std::shared_ptr<const PickleGraph>> pickle()
    {
        auto graph = readPickle(*m_member, m_at, m_stop);
        if (graph.ok())
            m_at += graph.value()->end;
        return graph;
    }
    Result<std::int64_t> number()
    {
        std::array<std::byte, 8> raw{};
        FP_CHECK(m_member->read(m_at, raw));
        m_at += raw.size();
        return loadLittle<std::int64_t>(raw.data());
    }
    Result<std::int32_t> shortNumber()
    {
        std::array<std::byte, 4> raw{};
        FP_CHECK(m_member->read(m_at, raw));
        m_at += raw.size();
        return loadLittle<std::int32_t>(raw.data());
    }
    std::uint64_t left() const { return m_member->size() - m_at; }
    std::uint64_t position() const { return m_base + m_at; }
    void skip(std::uint64_t bytes) { m_at += bytes; }

private:
    std::shared_ptr<const ByteSource> m_member;
    std::uint64_t m_base, m_at = 0;
    std::stop_token m_stop;
};

class TarTable final : public StorageTable
{
public:
    FileIndex file = 0;
    std::unordered_map<std::int64_t, StorageSlot> storages;
    std::unordered_map<std::int64_t, TensorRef> tensors;

    StorageSlot slot(const PickleGraph &graph, NodeId id) override
    {
        const auto key = pickledInteger(graph, graph[id].ref);
        const auto found = key ? storages.find(*key) : storages.end();
        if (found != storages.end())
            return found->second;
        StorageSlot none;
        none.problem = Error{ErrorCode::NotFound, {}, {}, "no such storage"};
        return none;
    }
    std::optional<TensorRef> tensor(const PickleGraph &graph, NodeId id) override
    {
        const auto key = pickledInteger(graph, graph[id].ref);
        const auto found = key ? tensors.find(*key) : tensors.end();
        return found == tensors.end() ? std::nullopt : std::optional(found->second);
    }
};

Error badMember(const char *member, std::uint64_t at)
{
    return {ErrorCode::Malformed,
            {},
            std::string("member '") + member + "', byte " + std::to_string(at),
            "does not describe what it should"};
}

Result<std::int64_t> countOf(Cursor &cursor, const char *member)
{
    FP_TRY(const auto graph, cursor.pickle());
    const auto count = pickledInteger(*graph, graph->root);
    if (!count || *count < 0)
        return badMember(member, cursor.position());
    return *count;
}

Status readStorages(Cursor &cursor, TarTable &table, CheckpointBuilder &builder)
{
    FP_TRY(const std::int64_t count, countOf(cursor, "storages"));
    for (std::int64_t i = 0; i < count; ++i) {
        FP_TRY(const auto graph, cursor.pickle());
        const auto parts = graph->items(graph->root);
        const auto key = parts.size() == 3 ? pickledInteger(*graph, parts[0]) : std::nullopt;
        const auto held = key ? heldBy(*graph, parts[2]) : std::nullopt;
        if (!held)
            return badMember("storages", cursor.position());
        FP_TRY(const std::int64_t numel, cursor.number());
        const auto bytes =
            numel >= 0 ? checkedMul(std::uint64_t(numel), held->itemBytes) : std::nullopt;
        if (!bytes || *bytes > cursor.left())
            return badMember("storages", cursor.position());
        StorageSlot slot;
        slot.held = *held;
        slot.file = table.file;
        slot.offset = cursor.position();
        slot.length = *bytes;
        slot.identity = builder.newStorage();
        table.storages.emplace(*key, slot);
        cursor.skip(*bytes);
    }
    FP_TRY(const auto views, cursor.pickle());
    for (const NodeId view : views->items(views->root)) { // (target, root, offset, numel)
        const auto parts = views->items(view);
        std::array<std::int64_t, 4> numbers{};
        for (std::size_t i = 0; i < numbers.size(); ++i)
            numbers[i] = i < parts.size() ? pickledInteger(*views, parts[i]).value_or(-1) : -1;
        const auto root = table.storages.find(numbers[1]);
        if (root == table.storages.end() || numbers[2] < 0 || numbers[3] < 0)
            return badMember("storages", cursor.position());
        StorageSlot slot = root->second;
        const auto from = checkedMul(std::uint64_t(numbers[2]), slot.held.itemBytes);
        const auto size = checkedMul(std::uint64_t(numbers[3]), slot.held.itemBytes);
        const auto end = from && size ? checkedAdd(*from, *size) : std::nullopt;
        if (!end || *end > slot.length)
            return badMember("storages", cursor.position());
        slot.offset += *from;
        slot.length = *size;
        table.storages.insert_or_assign(numbers[0], slot);
    }
    return {};
}

Result<TensorRef> readTensor(Cursor &cursor, const StorageSlot &slot, const StorageClass &held)
{
    FP_TRY(const std::int32_t rank, cursor.shortNumber());
    cursor.skip(4);
    if (rank < 0 || std::size_t(rank) > limits::Rank)
        return badMember("tensors", cursor.position());
    TensorRef tensor;
    tensor.dtype = dtypeByName(held.dtype).value_or(opaqueDType(1));
    tensor.storage = slot.identity;
    Extent extent;
    extent.file = slot.file;
    extent.offset = slot.offset;
    extent.length = slot.length;
    for (std::int32_t i = 0; i < rank; ++i) {
        FP_TRY(const std::int64_t size, cursor.number());
        if (size < 0)
            return badMember("tensors", cursor.position());
        tensor.shape.dims.push_back(Index(size));
    }
    for (std::int32_t i = 0; i < rank; ++i) {
        FP_TRY(const std::int64_t stride, cursor.number());
        extent.strides.push_back(stride);
    }
    FP_TRY(const std::int64_t offset, cursor.number());
    if (offset < 0 || !tensor.shape.count())
        return badMember("tensors", cursor.position());
    extent.firstElement = std::uint64_t(offset);
    extent.box = {std::vector<Index>(tensor.shape.rank(), 0), tensor.shape.dims};
    tensor.extents = {std::move(extent)}; // the builder checks its reach
    return tensor;
}

Status readTensors(Cursor &cursor, TarTable &table)
{
    FP_TRY(const std::int64_t count, countOf(cursor, "tensors"));
    for (std::int64_t i = 0; i < count; ++i) {
        FP_TRY(const auto graph, cursor.pickle());
        const auto parts = graph->items(graph->root);
        const auto key = parts.size() == 3 ? pickledInteger(*graph, parts[0]) : std::nullopt;
        const auto storage = key ? pickledInteger(*graph, parts[1]) : std::nullopt;
        const auto held = storage ? heldBy(*graph, parts[2]) : std::nullopt;
        const auto slot = held ? table.storages.find(*storage) : table.storages.end();
        if (slot == table.storages.end())
            return badMember("tensors", cursor.position());
        FP_TRY(TensorRef tensor, readTensor(cursor, slot->second, *held));
        table.tensors.insert_or_assign(*key, std::move(tensor));
    }
    return {};
}

Status listTorchTar(const std::shared_ptr<const ByteSource> &source, const TreeContext &context)
{
    FP_TRY(const Members members, tarMembers(*source));
    if (!isTorchTar(members))
        return Error{ErrorCode::Malformed, {}, {}, "lacks 'storages', 'tensors' or 'pickle'"};
    TarTable table;
    table.file = context.builder.addFile(source);
    const auto cursorOf = [&](const char *name) -> Result<Cursor> {
        const TarMember member = members.at(name);
        FP_TRY(auto window, WindowSource::make(source, member.offset, member.size, source->name()));
        return Cursor(std::move(window), member.offset, context.stop);
    };
    FP_TRY(Cursor storages, cursorOf("storages"));
    FP_CHECK(readStorages(storages, table, context.builder));
    FP_TRY(Cursor tensors, cursorOf("tensors"));
    FP_CHECK(readTensors(tensors, table));
    FP_TRY(Cursor objects, cursorOf("pickle"));
    FP_TRY(const auto graph, objects.pickle());
    reportDangerousGlobals(*graph, context, {});
    return listPickle(*graph, &table, context);
}

class TarLoader final : public Loader
{
public:
    std::string_view name() const override { return "torch"; }
    std::string_view description() const override
    {
        return "torch.save as tar (before torch 0.1.10)";
    }
    Confidence probe(ByteView head, const ByteSource &source) const override
    {
        if (!isTar(head))
            return Confidence::No;
        const auto members = tarMembers(source);
        return members.ok() && isTorchTar(members.value()) ? Confidence::Yes : Confidence::No;
    }
    Status load(std::shared_ptr<const ByteSource> source, const OpenOptions &, std::stop_token stop,
                CheckpointBuilder &builder) const override
    {
        TreeContext context{builder, source->name(), {}, 0, stop};
        auto status = listTorchTar(source, context);
        return status.ok() ? Status() : Status(std::move(status).error().inFile(source->name()));
    }
};

} // namespace

const Loader &torchTarLoader()
{
    static const TarLoader loader;
    return loader;
}

} // namespace forkpoint
