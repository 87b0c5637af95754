// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/torch/torch_rebuild.h"

#include "loaders/limits.h"
#include "loaders/torch/pickle_numpy.h"
#include "loaders/torch/pickle_print.h"
#include "model/bytes.h"
#include "model/format.h"

#include <algorithm>

namespace forkpoint {

namespace {

std::optional<std::vector<std::int64_t>> stridesOf(const PickleGraph &graph, NodeId node)
{
    std::vector<std::int64_t> strides;
    if (graph.items(node).size() > limits::Rank)
        return std::nullopt;
    for (const NodeId item : graph.items(node)) {
        const auto stride = pickledInteger(graph, item);
        if (!stride || *stride < 0)
            return std::nullopt;
        strides.push_back(*stride);
    }
    return strides;
}

/// Bytes of the storage that the view reaches into; nothing when 64 bits do not suffice.
std::optional<std::uint64_t> bytesReached(const Extent &extent, std::uint64_t itemBytes)
{
    std::optional<std::uint64_t> last = extent.firstElement;
    for (std::size_t i = 0; i < extent.box.size.size() && last; ++i) {
        if (extent.box.size[i] == 0)
            return 0;
        const auto step = checkedMul(extent.box.size[i] - 1, std::uint64_t(extent.strides[i]));
        last = step ? checkedAdd(*last, *step) : std::nullopt;
    }
    const auto count = last ? checkedAdd(*last, 1) : std::nullopt;
    return count ? checkedMul(*count, itemBytes) : std::nullopt;
}

/// Types that pack several elements into a byte while torch's shape counts elements.
std::optional<std::string> packedQuantised(const std::string &name)
{
    if (name == "quint4x2")
        return "uint4";
    if (name == "quint2x4")
        return "uint2";
    return std::nullopt;
}

void impossible(TensorRef &tensor, std::string text)
{
    tensor.shape = Shape{{0}};
    tensor.layoutKnown = false;
    tensor.extents.clear();
    tensor.unreadable = Error{ErrorCode::Malformed, {}, {}, std::move(text)};
}

void readFlags(TensorRef &tensor, const PickleGraph &graph, NodeId metadata)
{
    const auto flag = [&](std::string_view key) {
        const NodeId value = graph.find(metadata, key);
        return graph.is(value, PickleKind::Bool) && graph[value].integer != 0;
    };
    tensor.conjugate = flag("conj");
    tensor.negate = flag("neg");
}

/// A packed quantised tensor: only whole, contiguous ones are what torch writes.
void setPacked(TensorRef &tensor, Extent extent, const std::string &packed)
{
    tensor.note = "stored as " + tensor.dtype.name;
    tensor.dtype = *dtypeByName(packed);
    if (extent.strides != tensor.shape.rowMajorStrides() || extent.firstElement != 0) {
        tensor.unreadable = Error{ErrorCode::Unsupported, {}, {}, "a view of packed elements"};
        return;
    }
    extent.fills = Extent::Fills::FlatRange;
    extent.flatCount = *tensor.shape.count();
    extent.box = {};
    extent.strides.clear();
    tensor.extents = {std::move(extent)};
}

void checkReach(TensorRef &tensor, const Extent &extent, std::uint64_t itemBytes)
{
    const auto reached = bytesReached(extent, itemBytes);
    if (!reached || *reached > extent.length) {
        tensor.unreadable =
            Error{ErrorCode::Malformed,
                  {},
                  {},
                  "reaches to byte " + (reached ? std::to_string(*reached) : "2^64 and beyond")
                      + " of its storage, which has " + std::to_string(extent.length)};
        return;
    }
    const auto logical = checkedMul(*tensor.shape.count(), itemBytes);
    if (!logical || (*logical > limits::ExpandedBytes && *logical > extent.length))
        tensor.unreadable =
            Error{ErrorCode::Limit,
                  {},
                  {},
                  "an expanded view of " + (logical ? byteSize(*logical) : "more than 16 EB")
                      + " over a storage of " + byteSize(extent.length) + ", the limit is "
                      + byteSize(limits::ExpandedBytes)};
}

} // namespace

std::string torchDTypeName(const PickleGraph &graph, NodeId node)
{
    const PickleGlobal *global = graph.global(node);
    if (!global || global->known != KnownGlobal::TorchDType)
        return {};
    static constexpr std::pair<std::string_view, std::string_view> aliases[] = {
        {"float", "float32"}, {"double", "float64"}, {"half", "float16"},
        {"int", "int32"},     {"long", "int64"},     {"short", "int16"}};
    for (const auto &[alias, name] : aliases) {
        if (global->name == alias)
            return std::string(name);
    }
    return global->name;
}

TensorRef stridedTensor(const PickleGraph &graph, const StorageSlot &slot,
                        const StridedDescription &description)
{
    TensorRef tensor;
    std::string name = torchDTypeName(graph, description.dtype);
    if (name.empty() && slot.held.dtype.empty() && slot.problem) {
        // A storage of an unknown class: nothing tells a type, and none is made up.
        tensor.layoutKnown = false;
        tensor.unreadable = slot.problem;
        return tensor;
    }
    if (name.empty())
        name = slot.held.dtype.empty() ? "uint8" : slot.held.dtype;
    const auto dtype = dtypeByName(name);
    tensor.dtype = dtype.value_or(opaqueDType(1));
    tensor.storage = slot.identity;
    readFlags(tensor, graph, description.metadata);
    const auto shape = pickledShape(graph, description.size);
    const auto strides = stridesOf(graph, description.stride);
    const auto offset = pickledInteger(graph, description.offset);
    if (!shape || !strides || !offset || *offset < 0) {
        impossible(tensor, "sizes, strides and offset must be integers that are not negative");
        return tensor;
    }
    if (shape->rank() > limits::Rank) {
        impossible(tensor,
                   std::to_string(shape->rank()) + " dimensions, at most "
                       + std::to_string(limits::Rank) + " are read");
        return tensor;
    }
    if (shape->rank() != strides->size() || !shape->count()) {
        impossible(tensor,
                   shape->count() ? "sizes and strides differ in number"
                                  : "its elements cannot be counted in 64 bits");
        return tensor;
    }
    tensor.shape = *shape;
    Extent extent;
    extent.file = slot.file;
    extent.offset = slot.offset;
    extent.length = slot.length;
    extent.order = slot.order;
    extent.box = {std::vector<Index>(shape->rank(), 0), shape->dims};
    extent.strides = *strides;
    extent.firstElement = std::uint64_t(*offset);
    if (slot.problem) {
        tensor.unreadable = slot.problem;
        return tensor;
    }
    if (!dtype) {
        tensor.layoutKnown = false;
        tensor.unreadable = Error{ErrorCode::Unsupported, {}, {}, "an element type '" + name + "'"};
        return tensor;
    }
    if (const auto packed = packedQuantised(name)) {
        setPacked(tensor, std::move(extent), *packed);
        return tensor;
    }
    // An offset into no elements is legal, whatever it is.
    if (*shape->count() == 0)
        extent.firstElement = 0;
    checkReach(tensor, extent, dtype->positionBits() / 8);
    tensor.extents = {std::move(extent)};
    return tensor;
}

} // namespace forkpoint
