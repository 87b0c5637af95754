// SPDX-License-Identifier: GPL-3.0-or-later
// Tensors and other values of torch and numpy in the tree of a pickle.
#include "loaders/limits.h"
#include "loaders/torch/pickle_forms.h"
#include "loaders/torch/pickle_numpy.h"
#include "loaders/torch/pickle_print.h"
#include "loaders/torch/pickle_walker.h"
#include "loaders/torch/torch_container.h"

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
    if (known == K::TorchGenerator)
        return expandGenerator(node, children);
    if (hasAdditions(m_graph, node))
        return false;
    if (known == K::TorchGetLayout || known == K::GetAttr) {
        emitPrinted(printPickle(m_graph, node, limits::PrintedText), {node});
        return true;
    }
    if (arguments.empty())
        return false;
    switch (known) {
    case K::TorchSize:
    case K::JitList:
        if (arguments.size() > 1)
            return false;
        expand(arguments[0], children, wrappers + 1);
        return true;
    case K::JitTypeTag: expand(arguments[0], children, wrappers + 1); return true;
    case K::TorchDevice: {
        if (arguments.size() > 2)
            return false;
        PrintedPickle text = printPickle(m_graph, arguments[0], 64);
        text.text.insert(0, "device(type=");
        if (arguments.size() > 1) {
            const PrintedPickle index = printPickle(m_graph, arguments[1], 64);
            text.text += ", index=" + index.text;
            text.complete = text.complete && index.complete;
        }
        text.text += ")";
        emitPrinted(std::move(text), {node});
        return true;
    }
    case K::LoadFromBytes:
        if (!contentOf(arguments[0]))
            return false;
        return nested(arguments[0]) || bytesValue(arguments[0]);
    default: return false;
    }
}

/// torch.Generator(device) with (seed, offset, state)
bool PickleWalker::expandGenerator(NodeId node, PickleChildren &children)
{
    static constexpr const char *names[] = {"seed", "offset", "state"};
    const PickleAdditions more = m_graph.more(*m_graph.object(node));
    const auto state = m_graph.items(more.lastState());
    if (m_graph.object(node)->keywords != NoNode || !more.items.empty() || !more.dictItems.empty()
        || more.states.size() > 1 || state.size() != std::size(names))
        return false;
    emitOpaque("torch.Generator");
    for (const NodeId argument : m_graph.arguments(node))
        addNamed("device", argument, children);
    for (std::size_t i = 0; i < state.size(); ++i)
        addNamed(names[i], state[i], children);
    return true;
}

StorageSlot PickleWalker::slotOf(NodeId storage)
{
    if (m_graph.is(storage, PickleKind::PersistentId) && m_storages) {
        m_storagesListed.insert(storage);
        return m_storages->slot(m_graph, storage);
    }
    StorageSlot slot;
    PickleContent *content = nullptr;
    if (m_graph.known(storage) == K::LoadFromBytes && !m_graph.arguments(storage).empty())
        content = contentOf(m_graph.arguments(storage)[0]);
    if (!content) {
        slot.problem = Error{ErrorCode::Malformed, {}, {}, "its storage is not described"};
        return slot;
    }
    if (content->storage)
        return *content->storage;
    auto bytes = pickledBytes(m_graph, m_graph.arguments(storage)[0]);
    auto found = storageOfBytes(std::move(bytes).value_or(""), below());
    if (found.ok())
        slot = std::move(found).value();
    else
        slot.problem = std::move(found).error();
    content->storage = slot;
    return slot;
}

void PickleWalker::emitTensor(TensorRef tensor)
{
    if (!spend(0))
        return;
    tensor.path = m_path;
    if (tensor.path.keys.empty()) { // named by its file, and no key of it
        const std::string last = m_context.file.substr(m_context.file.find_last_of('/') + 1);
        tensor.name = last.substr(0, last.find_last_of('.'));
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
    const std::string scheme =
        quantizer.empty() ? "" : printPickle(m_graph, quantizer[0], 128).text;
    strided(arguments[0], {arguments[1], arguments[2], arguments[3], NoNode, NoNode}, scheme);
    if (quantizer.size() != 3 && quantizer.size() != 4)
        return addNamed("quantizer", arguments[4], children);
    const bool perChannel = quantizer.size() == 4;
    addNamed("scheme", quantizer[0], children);
    addNamed(perChannel ? "scales" : "scale", quantizer[1], children);
    addNamed(perChannel ? "zero_points" : "zero_point", quantizer[2], children);
    if (perChannel)
        addNamed("axis", quantizer[3], children);
}

/// The layout with the shape; a shape that is none becomes a child.
void PickleWalker::emitLayout(PrintedPickle layout, NodeId layoutNode, NodeId size,
                              PickleChildren &children)
{
    const auto shape = pickledShape(m_graph, size);
    if (shape)
        layout.text += " " + shape->toString();
    else if (size != NoNode)
        addNamed("size", size, children);
    if (!layout.complete)
        emitPrinted(std::move(layout), {layoutNode, size});
    else
        emitOpaque(std::move(layout.text));
}

/// False where the parts are not those of the layout.
bool PickleWalker::expandSparse(std::span<const NodeId> arguments, PickleChildren &children)
{
    PrintedPickle layout = printPickle(m_graph, arguments[0], 64);
    const std::span<const NodeId> parts = m_graph.items(arguments[1]);
    if (layout.text == "torch.sparse_coo") {
        if (parts.size() < 2 || parts.size() > 4)
            return false;
        emitLayout(std::move(layout), arguments[0], parts.size() > 2 ? parts[2] : NoNode, children);
        addNamed("indices", parts[0], children);
        addNamed("values", parts[1], children);
        if (parts.size() > 3)
            addNamed("is_coalesced", parts[3], children);
        return true;
    }
    if (parts.size() != 3 && parts.size() != 4)
        return false;
    const bool rows = layout.text == "torch.sparse_csr" || layout.text == "torch.sparse_bsr";
    emitLayout(std::move(layout), arguments[0], parts.size() > 3 ? parts[3] : NoNode, children);
    addNamed(rows ? "crow_indices" : "ccol_indices", parts[0], children);
    addNamed(rows ? "col_indices" : "row_indices", parts[1], children);
    addNamed("values", parts[2], children);
    return true;
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
    addStates(std::span(&state, 1), children, false);
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
    const PrintedPickle type = printPickle(m_graph, arguments[1], limits::PrintedText);
    const std::string &path = type.text;
    const std::span<const NodeId> given = m_graph.items(arguments[2]);
    const NodeId state = arguments.size() > 3 ? arguments[3] : NoNode;
    m_subclass = path == "torch.Tensor" || path == "torch.nn.parameter.Parameter" ? "" : path;
    if (inner == K::RebuildWrapperSubclass && given.size() > 3)
        return expandWrapper(path, given, state, children);
    if (inner == K::RebuildFromType || !expandTensor(inner, given, children, wrappers + 1)) {
        emitPrinted(type, {arguments[1]});
        addNamed("function", arguments[0], children);
        if (m_graph.is(arguments[2], PickleKind::Tuple))
            expandItems(given, children);
        else
            addNamed("arguments", arguments[2], children);
    }
    addStates(std::span(&state, 1), children, false);
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
            addStates(std::span(a).subspan(std::min<std::size_t>(a.size(), 3)), children, false);
        return true;
    case K::RebuildQuantized:
        if (a.size() < 5)
            return false;
        expandQuantized(a, children);
        return true;
    case K::RebuildSparse:
        if (a.size() < 2)
            return false;
        return expandSparse(a, children);
    case K::RebuildSparseCsr:
        if (a.size() < 4)
            return false;
        emitLayout({"torch.sparse_csr", true}, NoNode, a[3], children);
        addNamed("crow_indices", a[0], children);
        addNamed("col_indices", a[1], children);
        addNamed("values", a[2], children);
        return true;
    case K::RebuildMeta: {
        if (a.size() < 2)
            return false;
        const auto shape = pickledShape(m_graph, a[1]);
        if (!shape)
            return false;
        emitOpaque("meta tensor " + torchDTypeName(m_graph, a[0]) + " " + shape->toString()
                   + ", no data");
        return true;
    }
    case K::RebuildNested: {
        static constexpr const char *names[] = {"buffer", "sizes", "strides", "offsets"};
        if (a.size() > std::size(names))
            return false;
        emitOpaque("nested tensor");
        for (std::size_t i = 0; i < a.size(); ++i)
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

TensorRef PickleWalker::numpyTensor(const NumpyArray &array, const DType &dtype, ByteOrder order,
                                    NodeId data)
{
    TensorRef tensor;
    tensor.dtype = dtype;
    const auto count = array.shape.count();
    tensor.shape = count ? array.shape : Shape{{0}};
    tensor.layoutKnown = count.has_value();
    if (array.shape.rank() > limits::Rank) {
        tensor.shape = Shape{{0}};
        tensor.layoutKnown = false;
        tensor.unreadable = Error{ErrorCode::Limit, {}, {}, "too many dimensions"};
        return tensor;
    }
    if (dtype.positionBits() == 0 && count != Index(0)) {
        // Counting or comparing them would take time that no byte of the file pays for.
        tensor.shape = Shape{{0}};
        tensor.layoutKnown = false;
        tensor.unreadable =
            Error{ErrorCode::Unsupported, {}, {}, "elements must have bytes, its type has none"};
        return tensor;
    }
    PickleContent *const content = contentOf(data);
    const auto size = count ? checkedMul(*count, dtype.positionBits() / 8) : std::nullopt;
    if (!content || !size || *size != content->count) {
        tensor.unreadable =
            Error{ErrorCode::Malformed,
                  {},
                  {},
                  content ? "its bytes do not fill its shape" : "its data are no bytes"};
        return tensor;
    }
    Extent extent;
    extent.file = fileOf(*content, data);
    extent.length = content->count;
    extent.order = order;
    extent.box = {std::vector<Index>(array.shape.rank(), 0), array.shape.dims};
    extent.strides = array.fortran ? fortranStrides(array.shape) : array.shape.rowMajorStrides();
    tensor.extents = {std::move(extent)};
    return tensor;
}

void PickleWalker::numpyArray(const NumpyArray &array, PickleChildren &children)
{
    if (array.type.isObject) {
        if (array.shape.rank() != 1)
            emitOpaque("numpy.ndarray of objects " + array.shape.toString());
        if (m_graph.is(array.data, PickleKind::List))
            expandList(m_graph.items(array.data), "[]", children);
        else
            addNamed("objects", array.data, children);
        return;
    }
    m_budget.text += array.type.spelling.size(); // made anew for each array
    const auto &[dtype, order] = std::tie(array.type.dtype, array.type.order);
    if (array.mask == NoNode)
        return emitTensor(numpyTensor(array, dtype, order, array.data));
    emitOpaque("numpy.ma.MaskedArray");
    m_path.keys.push_back(Key::of("data"));
    emitTensor(numpyTensor(array, dtype, order, array.data));
    m_path.keys.back() = Key::of("mask");
    emitTensor(numpyTensor(array, *dtypeByName("bool"), ByteOrder::Little, array.mask));
    m_path.keys.pop_back();
    if (array.fill != NoNode)
        addNamed("fill_value", array.fill, children);
}

/// A scalar or a type.
Value PickleWalker::numpyValue(NodeId node)
{
    const auto known = m_values.find(node);
    if (known != m_values.end())
        return known->second;
    Result<Value> value = Error{ErrorCode::Malformed, {}, {}, {}};
    if (m_graph.known(node) == K::NumpyScalar) {
        value = pickledNumpyScalar(m_graph, node);
    } else if (const auto type = pickledNumpyType(m_graph, node); type.ok()) {
        // The spelling of structured types lacks offsets, titles and alignment.
        const bool isSimple = type.value().spelling.find_first_of("[(") == std::string::npos;
        value = opaque({"dtype('" + type.value().spelling + "')", isSimple}, {node});
    }
    if (!value.ok())
        value = opaque(printPickle(m_graph, node, limits::PrintedText), {node});
    if (value.value().type == ValueType::Opaque) // which takes time to spell
        m_values.emplace(node, value.value());
    return std::move(value).value();
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
            tensor.layoutKnown = false;
            tensor.unreadable = array.error();
            emitTensor(std::move(tensor));
        }
        return true;
    }
    case K::NumpyScalar:
    case K::NumpyDType: emit(numpyValue(node)); return true;
    default: return false;
    }
}

} // namespace forkpoint
