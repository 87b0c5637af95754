// SPDX-License-Identifier: GPL-3.0-or-later
// Tensors and other values of torch and numpy in the tree of a pickle.
#include "loaders/limits.h"
#include "loaders/pickle_numpy.h"
#include "loaders/pickle_print.h"
#include "loaders/pickle_walker.h"
#include "loaders/torch_container.h"

namespace forkpoint {

namespace {

using K = KnownGlobal;

/// Shape of the tensor that a call rebuilds: _rebuild_tensor_v2(storage, offset, size, ...).
std::optional<Shape> rebuiltShape(const PickleGraph &graph, NodeId tensor)
{
    const std::span<const NodeId> arguments = graph.arguments(tensor);
    return arguments.size() > 2 ? pickledShape(graph, arguments[2]) : std::nullopt;
}

} // namespace

// --- torch --------------------------------------------------------------------------------------

bool PickleWalker::expandTorchValue(NodeId node, PickleChildren &children, int wrappers)
{
    const std::span<const NodeId> arguments = m_graph.arguments(node);
    const K known = m_graph.known(node);
    if (known == K::TorchGetLayout || known == K::GetAttr) {
        emitOpaque(printedPickle(m_graph, node, limits::PrintedText));
        return true;
    }
    if (arguments.empty())
        return false;
    switch (known) {
    case K::TorchSize:
    case K::JitList:
    case K::JitTypeTag: expand(arguments[0], children, wrappers + 1); return true;
    case K::TorchDevice: {
        std::string text = "device(type=" + printedPickle(m_graph, arguments[0], 64);
        if (arguments.size() > 1)
            text += ", index=" + printedPickle(m_graph, arguments[1], 64);
        emitOpaque(text + ")");
        return true;
    }
    case K::TorchGenerator: {
        emitOpaque("torch.Generator");
        const auto state = m_graph.items(m_graph.more(*m_graph.object(node)).state);
        static constexpr const char *names[] = {"seed", "offset", "state"};
        for (std::size_t i = 0; i < state.size() && i < 3; ++i)
            addNamed(names[i], state[i], children);
        return true;
    }
    case K::LoadFromBytes: {
        auto bytes = pickledBytes(m_graph, arguments[0]);
        if (!bytes)
            return false;
        if (nested(*bytes))
            return true;
        bytesValue(std::move(*bytes));
        return true;
    }
    default: return false;
    }
}

StorageSlot PickleWalker::slotOf(NodeId storage)
{
    if (m_graph.is(storage, PickleKind::PersistentId) && m_storages)
        return m_storages->slot(m_graph, storage);
    StorageSlot slot;
    if (m_graph.known(storage) != K::LoadFromBytes || m_graph.arguments(storage).empty()) {
        slot.problem = Error{ErrorCode::Malformed, {}, {}, "its storage is not described"};
        return slot;
    }
    if (const auto seen = m_slots.find(storage); seen != m_slots.end())
        return seen->second;
    auto bytes = pickledBytes(m_graph, m_graph.arguments(storage)[0]);
    auto found = storageOfBytes(std::move(bytes).value_or(""), below());
    if (found.ok())
        slot = std::move(found).value();
    else
        slot.problem = std::move(found).error();
    m_slots.emplace(storage, slot);
    return slot;
}

void PickleWalker::emitTensor(TensorRef tensor)
{
    if (!spend())
        return;
    tensor.path = m_path;
    if (tensor.path.keys.empty()) { // named by its file
        const std::string last = m_context.file.substr(m_context.file.find_last_of('/') + 1);
        tensor.path.keys.push_back(Key::of(last.substr(0, last.find_last_of('.'))));
    }
    tensor.files = {m_context.file};
    if (const auto found = m_parts.find(m_current); found != m_parts.end()) {
        const DistributedPart &part = found->second;
        tensor.globalShape = part.global;
        tensor.globalOrigin = part.origin;
        tensor.partialSumGroup = part.partialSum;
        if (part.rank)
            tensor.owner = m_context.builder.addOwner({{{"rank", *part.rank}}});
        tensor.note = "rank-local part of " + part.global.toString();
    }
    if (!m_subclass.empty())
        tensor.note += (tensor.note.empty() ? "" : ", ") + m_subclass;
    if (m_bookkeeping)
        tensor.stateClass = StateClass::Bookkeeping;
    if (!tensor.unreadable)
        return m_context.builder.addTensor(std::move(tensor));
    Error error = *tensor.unreadable;
    tensor.unreadable.reset();
    m_context.builder.addUnreadable(std::move(tensor), std::move(error));
}

void PickleWalker::strided(NodeId storage, const StridedDescription &description, std::string note)
{
    const StorageSlot slot = slotOf(storage);
    TensorRef tensor = stridedTensor(m_graph, slot, description);
    if (slot.leftOut)
        return emitOpaque("tensor " + tensor.dtype.name + " " + tensor.shape.toString()
                          + ", no data");
    if (!note.empty())
        tensor.note += (tensor.note.empty() ? "" : ", ") + note;
    emitTensor(std::move(tensor));
}

void PickleWalker::expandQuantized(std::span<const NodeId> arguments, PickleChildren &children)
{
    const std::span<const NodeId> quantizer = m_graph.items(arguments[4]);
    const std::string scheme = quantizer.empty() ? "" : printedPickle(m_graph, quantizer[0], 128);
    strided(arguments[0], {arguments[1], arguments[2], arguments[3], NoNode, NoNode}, scheme);
    const bool perChannel = quantizer.size() > 3;
    if (quantizer.size() < 3)
        return;
    addNamed(perChannel ? "scales" : "scale", quantizer[1], children);
    addNamed(perChannel ? "zero_points" : "zero_point", quantizer[2], children);
    if (perChannel)
        addNamed("axis", quantizer[3], children);
}

void PickleWalker::expandSparse(std::span<const NodeId> arguments, PickleChildren &children)
{
    const std::string layout = printedPickle(m_graph, arguments[0], 64);
    const std::span<const NodeId> parts = m_graph.items(arguments[1]);
    const bool coo = layout == "torch.sparse_coo";
    const std::size_t sizeAt = coo ? 2 : 3;
    const auto shape = parts.size() > sizeAt ? pickledShape(m_graph, parts[sizeAt]) : std::nullopt;
    emitOpaque(layout + (shape ? " " + shape->toString() : ""));
    if (coo && parts.size() >= 2) {
        addNamed("indices", parts[0], children);
        addNamed("values", parts[1], children);
        if (parts.size() > 3)
            addNamed("is_coalesced", parts[3], children);
    } else if (parts.size() >= 3) {
        const bool rows = layout == "torch.sparse_csr" || layout == "torch.sparse_bsr";
        addNamed(rows ? "crow_indices" : "ccol_indices", parts[0], children);
        addNamed(rows ? "col_indices" : "row_indices", parts[1], children);
        addNamed("values", parts[2], children);
    }
}

/// A tensor without storage of its own (DTensor, ShardedTensor): its state holds the local part.
void PickleWalker::expandWrapper(const std::string &path, std::span<const NodeId> given,
                                 NodeId state, PickleChildren &children)
{
    const auto shape = pickledShape(m_graph, given[2]);
    emitOpaque(path + " " + torchDTypeName(m_graph, given[1])
               + (shape ? " " + shape->toString() : ""));
    const std::span<const NodeId> parts = m_graph.items(state);
    if (shape && path.ends_with(".ShardedTensor") && m_graph.is(state, PickleKind::Tuple)
        && parts.size() > 1)
        return expandShards(parts, *shape, children);
    const NodeId slots = parts.size() == 2 ? parts[1] : state;
    for (const NodeId dict : {state, slots}) {
        const NodeId local = m_graph.find(dict, "_local_tensor");
        const auto localShape = rebuiltShape(m_graph, local);
        if (local != NoNode && shape) {
            m_parts[local] = partOfSpec(m_graph, m_graph.find(dict, "_spec"), *shape,
                                        localShape.value_or(Shape()));
        }
    }
    addState(state, children, false);
}

/// (local shards, metadata, process group, ...) of a ShardedTensor.
void PickleWalker::expandShards(std::span<const NodeId> state, const Shape &global,
                                PickleChildren &children)
{
    const std::span<const NodeId> shards = m_graph.items(state[0]);
    for (std::size_t i = 0; i < shards.size(); ++i) {
        const NodeId tensor = stateMember(m_graph, shards[i], "tensor");
        if (tensor != NoNode)
            m_parts[tensor] = partOfShard(m_graph, shards[i], global);
        children.push_back({Key::at(std::int64_t(i)), shards[i], false});
    }
    for (std::size_t i = 1; i < state.size(); ++i)
        children.push_back({Key::of("state." + std::to_string(i)), state[i], true});
}

/// _rebuild_from_type_v2(function, class, arguments, state)
void PickleWalker::expandFromType(std::span<const NodeId> arguments, PickleChildren &children,
                                  int wrappers)
{
    const K inner =
        m_graph.is(arguments[0], PickleKind::Global) ? m_graph.known(arguments[0]) : K::None;
    const std::string path = printedPickle(m_graph, arguments[1], 256);
    const std::span<const NodeId> given = m_graph.items(arguments[2]);
    const NodeId state = arguments.size() > 3 ? arguments[3] : NoNode;
    m_subclass = path == "torch.Tensor" || path == "torch.nn.parameter.Parameter" ? "" : path;
    if (inner == K::RebuildWrapperSubclass && given.size() > 3)
        return expandWrapper(path, given, state, children);
    if (inner == K::RebuildFromType || !expandTensor(inner, given, children, wrappers + 1)) {
        emitOpaque(path);
        if (state == NoNode || m_graph.is(state, PickleKind::None))
            expandList(given, "()", children);
    }
    addState(state, children, false);
}

bool PickleWalker::expandTensor(K known, std::span<const NodeId> a, PickleChildren &children,
                                int wrappers)
{
    const auto optional = [&](std::size_t i) { return i < a.size() ? a[i] : NoNode; };
    switch (known) {
    case K::RebuildTensor:
        if (a.size() < 4)
            return false;
        strided(a[0], {a[1], a[2], a[3], NoNode, optional(6)}, {});
        return true;
    case K::RebuildTensorV3:
        if (a.size() < 7)
            return false;
        strided(a[0], {a[1], a[2], a[3], a[6], optional(7)}, {});
        return true;
    case K::RebuildParameter:
    case K::RebuildParameterWithState:
    case K::RebuildFromNumpy:
    case K::RebuildFromCpu:
        if (a.empty())
            return false;
        expand(a[0], children, wrappers + 1);
        if (known == K::RebuildParameterWithState)
            addState(optional(3), children, false);
        return true;
    case K::RebuildQuantized:
        if (a.size() < 5)
            return false;
        expandQuantized(a, children);
        return true;
    case K::RebuildSparse:
        if (a.size() < 2)
            return false;
        expandSparse(a, children);
        return true;
    case K::RebuildSparseCsr:
        if (a.size() < 4)
            return false;
        emitOpaque("torch.sparse_csr");
        addNamed("crow_indices", a[0], children);
        addNamed("col_indices", a[1], children);
        addNamed("values", a[2], children);
        return true;
    case K::RebuildMeta: {
        if (a.size() < 2)
            return false;
        const auto shape = pickledShape(m_graph, a[1]);
        emitOpaque("meta tensor " + torchDTypeName(m_graph, a[0])
                   + (shape ? " " + shape->toString() : "") + ", no data");
        return true;
    }
    case K::RebuildNested: {
        static constexpr const char *names[] = {"buffer", "sizes", "strides", "offsets"};
        emitOpaque("nested tensor");
        for (std::size_t i = 0; i < a.size() && i < 4; ++i)
            addNamed(names[i], a[i], children);
        return true;
    }
    case K::RebuildFromType:
        if (a.size() < 3)
            return false;
        expandFromType(a, children, wrappers);
        return true;
    default: return false;
    }
}

// --- numpy --------------------------------------------------------------------------------------

void PickleWalker::numpyArray(const NumpyArray &array, PickleChildren &children)
{
    if (array.type.isObject)
        return expandList(m_graph.items(array.objects), "[]", children);
    const auto add = [&](const DType &dtype, ByteOrder order, const std::string &bytes) {
        TensorRef tensor;
        tensor.dtype = dtype;
        tensor.shape = array.shape;
        const auto count = array.shape.count();
        const auto size = count ? checkedMul(*count, dtype.positionBits() / 8) : std::nullopt;
        const auto data = asBytes(bytes);
        Extent extent;
        extent.length = bytes.size();
        extent.order = order;
        extent.box = {std::vector<Index>(array.shape.rank(), 0), array.shape.dims};
        if (array.shape.rank() > limits::Rank) {
            tensor.shape = Shape{{0}};
            tensor.unreadable = Error{ErrorCode::Limit, {}, {}, "too many dimensions"};
        } else if (!size || *size != bytes.size()) {
            tensor.unreadable =
                Error{ErrorCode::Malformed, {}, {}, "its bytes do not fill its shape"};
            tensor.shape = count ? array.shape : Shape{{0}};
        } else {
            extent.strides =
                array.fortran ? fortranStrides(array.shape) : array.shape.rowMajorStrides();
            extent.file = m_context.builder.addFile(std::make_shared<MemorySource>(
                m_context.file, std::vector<std::byte>(data.begin(), data.end())));
            tensor.extents = {std::move(extent)};
        }
        emitTensor(std::move(tensor));
    };
    if (!array.mask)
        return add(array.type.dtype, array.type.order, array.bytes);
    emitOpaque("numpy.ma.MaskedArray");
    m_path.keys.push_back(Key::of("data"));
    add(array.type.dtype, array.type.order, array.bytes);
    m_path.keys.back() = Key::of("mask");
    add(*dtypeByName("bool"), ByteOrder::Little, *array.mask);
    m_path.keys.pop_back();
}

bool PickleWalker::expandNumpy(NodeId node, PickleChildren &children)
{
    switch (m_graph.known(node)) {
    case K::NumpyReconstruct:
    case K::NumpyFromBuffer:
    case K::NumpyMaskedReconstruct: {
        const auto array = pickledNumpyArray(m_graph, node);
        if (array.ok()) {
            numpyArray(array.value(), children);
        } else {
            TensorRef tensor;
            tensor.dtype = opaqueDType(1);
            tensor.shape = Shape{{0}};
            tensor.unreadable = array.error();
            emitTensor(std::move(tensor));
        }
        return true;
    }
    case K::NumpyScalar: {
        auto value = pickledNumpyScalar(m_graph, node);
        value.ok() ? emit(std::move(value).value())
                   : emitOpaque(printedPickle(m_graph, node, limits::PrintedText));
        return true;
    }
    case K::NumpyDType: {
        const auto type = pickledNumpyType(m_graph, node);
        emitOpaque(type.ok() ? "dtype('" + type.value().spelling + "')"
                             : printedPickle(m_graph, node, limits::PrintedText));
        return true;
    }
    default: return false;
    }
}

} // namespace forkpoint
