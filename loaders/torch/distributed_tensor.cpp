// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/torch/distributed_tensor.h"

#include "loaders/limits.h"
#include "loaders/torch/pickle_numpy.h"
#include "loaders/torch/pickle_print.h"

#include <algorithm>

namespace forkpoint {

namespace {

/// Dimensions of a process mesh; real ones have at most five.
constexpr std::size_t MeshRank = 16;

struct Mesh
{
    std::vector<Index> sizes, coordinate;
    std::vector<std::string> names;
    std::optional<std::int64_t> rank;
};

std::vector<Index> sizesOf(const PickleGraph &graph, NodeId node)
{
    const auto shape = pickledShape(graph, node);
    return shape ? shape->dims : std::vector<Index>();
}

/// Sizes of the mesh: of its layout (torch 2.10 and newer), else of the tensor of its ranks.
std::vector<Index> meshSizes(const PickleGraph &graph, NodeId mesh)
{
    const NodeId layout = stateMember(graph, mesh, "_layout");
    std::vector<Index> sizes;
    for (const NodeId axis : graph.items(stateMember(graph, layout, "axes"))) {
        Index size = 1;
        for (const Index part : sizesOf(graph, stateMember(graph, axis, "shape")))
            size *= std::min<Index>(part, 1u << 20);
        sizes.push_back(size);
    }
    for (const char *name : {"shape", "_shape", "sizes"}) {
        if (sizes.empty())
            sizes = sizesOf(graph, stateMember(graph, layout, name));
    }
    for (const char *name : {"mesh", "_mesh"}) { // _rebuild_tensor_v2(storage, offset, size, ...)
        const auto arguments = graph.arguments(stateMember(graph, mesh, name));
        if (sizes.empty() && arguments.size() > 2)
            sizes = sizesOf(graph, arguments[2]);
    }
    return sizes;
}

std::optional<Mesh> readMesh(const PickleGraph &graph, NodeId node)
{
    Mesh mesh;
    mesh.sizes = meshSizes(graph, node);
    mesh.coordinate = sizesOf(graph, stateMember(graph, node, "_coordinate_on_dim"));
    for (const NodeId name : graph.items(stateMember(graph, node, "_mesh_dim_names")))
        mesh.names.push_back(pickledText(graph, name).value_or("?"));
    if (mesh.names.empty()) {
        for (const NodeId name : graph.items(stateMember(graph, node, "mesh_dim_names")))
            mesh.names.push_back(pickledText(graph, name).value_or("?"));
    }
    mesh.rank = pickledInteger(graph, stateMember(graph, node, "_rank"));
    const bool isSound = !mesh.sizes.empty() && mesh.sizes.size() <= MeshRank
        && mesh.coordinate.size() == mesh.sizes.size();
    if (!isSound)
        return std::nullopt;
    for (std::size_t i = 0; i < mesh.sizes.size(); ++i) {
        if (mesh.sizes[i] == 0 || mesh.coordinate[i] >= mesh.sizes[i])
            return std::nullopt;
    }
    return mesh;
}

struct Placement
{
    enum class Kind { Shard, StridedShard, Replicate, Partial, Unknown };
    Kind kind = Kind::Unknown;
    std::size_t dim = 0;
};

Placement readPlacement(const PickleGraph &graph, NodeId node, std::size_t rank)
{
    Placement placement;
    const PickleGlobal *callee = graph.calleeOf(node);
    const std::string_view name = callee ? std::string_view(callee->name) : std::string_view();
    if (name == "Replicate")
        placement.kind = Placement::Kind::Replicate;
    else if (name == "Partial" || name == "_Partial" || name == "_NormPartial")
        placement.kind = Placement::Kind::Partial;
    if (name != "Shard" && name != "_StridedShard")
        return placement;
    auto dim = pickledInteger(graph, stateMember(graph, node, "dim"));
    if (!dim && !graph.arguments(node).empty())
        dim = pickledInteger(graph, graph.arguments(node)[0]);
    if (!dim || *dim < 0 || std::uint64_t(*dim) >= rank)
        return placement;
    placement.dim = std::size_t(*dim);
    placement.kind = name == "Shard" ? Placement::Kind::Shard : Placement::Kind::StridedShard;
    return placement;
}

/// The mesh dimensions in the order in which they cut: strided shards (FSDP over tensor
/// parallelism) cut what the dimensions behind them have cut already.
std::vector<std::size_t> cuttingOrder(const std::vector<Placement> &placements)
{
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < placements.size(); ++i) {
        if (placements[i].kind == Placement::Kind::Shard)
            order.push_back(i);
    }
    for (std::size_t i = placements.size(); i-- > 0;) {
        if (placements[i].kind == Placement::Kind::StridedShard)
            order.push_back(i);
    }
    return order;
}

} // namespace

NodeId stateMember(const PickleGraph &graph, NodeId node, std::string_view name)
{
    const PickleObject *object = graph.object(node);
    if (!object)
        return NoNode;
    const NodeId state = graph.more(*object).lastState();
    if (!graph.is(state, PickleKind::Tuple))
        return graph.find(state, name);
    for (const NodeId part : graph.items(state)) {
        if (const NodeId found = graph.find(part, name); found != NoNode)
            return found;
    }
    return NoNode;
}

DistributedPart partOfSpec(const PickleGraph &graph, NodeId spec, const Shape &global,
                           const Shape &local)
{
    DistributedPart part;
    part.global = global;
    const auto mesh = readMesh(graph, stateMember(graph, spec, "mesh"));
    const auto items = graph.items(stateMember(graph, spec, "placements"));
    if (!mesh || items.size() != mesh->sizes.size())
        return part;
    part.rank = mesh->rank;
    std::vector<Placement> placements;
    for (std::size_t i = 0; i < items.size(); ++i) {
        placements.push_back(readPlacement(graph, items[i], global.rank()));
        if (placements.back().kind == Placement::Kind::Unknown)
            return part;
        if (placements.back().kind == Placement::Kind::Partial)
            part.partialSum += (part.partialSum.empty() ? "" : ", ")
                + (i < mesh->names.size() ? mesh->names[i] : "mesh dimension " + std::to_string(i));
    }
    std::vector<Index> origin(global.rank(), 0), size = global.dims;
    for (const std::size_t i : cuttingOrder(placements)) {
        const std::size_t dim = placements[i].dim;
        const Index parts = mesh->sizes[i];
        const Index each = size[dim] / parts + (size[dim] % parts != 0 ? 1 : 0);
        const Index begin = std::min(each * mesh->coordinate[i], size[dim]);
        origin[dim] += begin;
        size[dim] = std::min(each, size[dim] - begin);
    }
    if (size == local.dims)
        part.origin = std::move(origin);
    return part;
}

DistributedPart partOfShard(const PickleGraph &graph, NodeId shard, const Shape &global)
{
    DistributedPart part;
    part.global = global;
    const NodeId metadata = stateMember(graph, shard, "metadata");
    if (const auto offsets = pickledShape(graph, stateMember(graph, metadata, "shard_offsets"));
        offsets && offsets->rank() == global.rank())
        part.origin = offsets->dims;
    const NodeId placement = stateMember(graph, metadata, "placement");
    part.rank = pickledInteger(graph, stateMember(graph, placement, "_rank"));
    return part;
}

} // namespace forkpoint
