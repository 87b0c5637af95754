// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/torch/torch_storage.h"

#include "loaders/torch/pickle_print.h"
#include "model/bytes.h"

#include <unordered_map>

namespace forkpoint {

std::optional<StorageClass> storageClass(const PickleGlobal &global)
{
    static const std::unordered_map<std::string_view, StorageClass> classes = {
        {"DoubleStorage", {"float64", 8}},
        {"FloatStorage", {"float32", 4}},
        {"HalfStorage", {"float16", 2}},
        {"BFloat16Storage", {"bfloat16", 2}},
        {"LongStorage", {"int64", 8}},
        {"IntStorage", {"int32", 4}},
        {"ShortStorage", {"int16", 2}},
        {"CharStorage", {"int8", 1}},
        {"ByteStorage", {"uint8", 1}},
        {"BoolStorage", {"bool", 1}},
        {"ComplexFloatStorage", {"complex64", 8}},
        {"ComplexDoubleStorage", {"complex128", 16}},
        {"QInt8Storage", {"qint8", 1}},
        {"QUInt8Storage", {"quint8", 1}},
        {"QInt32Storage", {"qint32", 4}},
        {"QUInt4x2Storage", {"quint4x2", 1}},
        {"QUInt2x4Storage", {"quint2x4", 1}},
        {"UntypedStorage", {"uint8", 1}},
        {"_UntypedStorage", {"uint8", 1}},
    };
    if (global.known != KnownGlobal::TorchStorage)
        return std::nullopt;
    const auto row = classes.find(global.name);
    return row == classes.end() ? std::nullopt : std::optional(row->second);
}

Result<StorageId> storageId(const PickleGraph &graph, NodeId persistentId)
{
    const NodeId tuple =
        graph.is(persistentId, PickleKind::PersistentId) ? graph[persistentId].ref : NoNode;
    const std::span<const NodeId> parts = graph.items(tuple);
    if (parts.size() < 5 || graph.text(parts[0]) != "storage")
        return Error{ErrorCode::Malformed, {}, {}, "its storage is no persistent id of a storage"};
    const PickleGlobal *name = graph.global(parts[1]);
    const auto held = name ? storageClass(*name) : std::nullopt;
    if (!held)
        return Error{ErrorCode::Unsupported,
                     {},
                     {},
                     "an unknown storage class '"
                         + (name ? name->path().substr(0, 80) : std::string("?")) + "'"};
    StorageId id;
    id.held = *held;
    const auto number = pickledInteger(graph, parts[2]); // some old writers used numbers
    id.key = number ? std::to_string(*number) : std::string(graph.text(parts[2]));
    id.location = graph.text(parts[3]);
    const auto numel = pickledInteger(graph, parts[4]);
    const auto bytes =
        numel && *numel >= 0 ? checkedMul(std::uint64_t(*numel), held->itemBytes) : std::nullopt;
    if (!bytes)
        return Error{ErrorCode::Malformed, {}, {}, "a storage of an impossible number of elements"};
    id.bytes = *bytes;
    if (parts.size() > 5 && graph.items(parts[5]).size() == 3)
        id.view = parts[5];
    return id;
}

} // namespace forkpoint
