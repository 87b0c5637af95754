// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/torch/pickle_graph.h"

namespace forkpoint {

std::string_view PickleGraph::text(NodeId id) const
{
    switch (kind(id)) {
    case PickleKind::Text:
    case PickleKind::Bytes:
    case PickleKind::BigInt: return {nodes[id].data, std::size_t(nodes[id].ref)};
    default: return {};
    }
}

std::span<const NodeId> PickleGraph::items(NodeId id) const
{
    switch (kind(id)) {
    case PickleKind::Tuple:
        return std::span(tupleItems).subspan(nodes[id].ref, std::size_t(nodes[id].bits));
    case PickleKind::List:
    case PickleKind::Set:
    case PickleKind::Dict: return containers[nodes[id].ref];
    default: return {};
    }
}

const PickleObject *PickleGraph::object(NodeId id) const
{
    return is(id, PickleKind::Object) ? &objects[nodes[id].ref] : nullptr;
}

PickleAdditions PickleGraph::more(const PickleObject &object) const
{
    if (object.more != NoNode) {
        const PickleGrowth &growth = growths[object.more];
        return {growth.items, growth.dictItems, growth.states};
    }
    PickleAdditions additions;
    if (object.state != NoNode)
        additions.states = std::span(&object.state, 1);
    return additions;
}

const PickleGlobal *PickleGraph::global(NodeId id) const
{
    return is(id, PickleKind::Global) ? &globals[nodes[id].ref] : nullptr;
}

const PickleGlobal *PickleGraph::calleeOf(NodeId id) const
{
    const PickleObject *call = object(id);
    return call ? global(call->callee) : nullptr;
}

KnownGlobal PickleGraph::known(NodeId id) const
{
    const PickleGlobal *name = is(id, PickleKind::Global) ? global(id) : calleeOf(id);
    return name ? name->known : KnownGlobal::None;
}

std::span<const NodeId> PickleGraph::arguments(NodeId id) const
{
    const PickleObject *call = object(id);
    return call ? items(call->arguments) : std::span<const NodeId>();
}

NodeId PickleGraph::find(NodeId dict, std::string_view key) const
{
    std::span<const NodeId> pairs = items(dict);
    if (const PickleObject *call = object(dict); call && known(dict) == KnownGlobal::Dict)
        pairs = more(*call).dictItems;
    else if (!is(dict, PickleKind::Dict))
        return NoNode;
    for (std::size_t i = pairs.size() / 2; i-- > 0;) {
        if (is(pairs[2 * i], PickleKind::Text) && text(pairs[2 * i]) == key)
            return pairs[2 * i + 1];
    }
    return NoNode;
}

} // namespace forkpoint
