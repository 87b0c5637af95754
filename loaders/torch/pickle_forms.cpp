// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/torch/pickle_forms.h"

#include "loaders/torch/pickle_text.h"

namespace forkpoint {

namespace {

/// The codecs by whose names protocol 2 writes bytes.
bool isLatin1(std::string_view codec)
{
    return codec == "latin1" || codec == "latin-1";
}

bool isSequence(const PickleGraph &graph, NodeId node)
{
    return graph.is(node, PickleKind::List) || graph.is(node, PickleKind::Tuple)
        || graph.is(node, PickleKind::Set);
}

} // namespace

std::optional<PickledData> pickledData(const PickleGraph &graph, NodeId node)
{
    // bytearray(encode(text, 'latin-1')): at most three calls deep in what Python writes.
    for (int depth = 0; depth < 4; ++depth) {
        if (graph.is(node, PickleKind::Bytes)
            || (graph.is(node, PickleKind::Text) && graph[node].flag))
            return PickledData{node, false};
        const KnownGlobal known = graph.known(node);
        const bool isCall = known == KnownGlobal::Bytes || known == KnownGlobal::ByteArray
            || known == KnownGlobal::EncodeText;
        if (!graph.object(node) || !isCall || hasAdditions(graph, node))
            return std::nullopt;
        const std::span<const NodeId> arguments = graph.arguments(node);
        if (arguments.empty())
            return known == KnownGlobal::EncodeText ? std::nullopt
                                                    : std::optional(PickledData{node, false});
        const bool named = arguments.size() == 2 && isLatin1(graph.text(arguments[1]));
        if (arguments.size() > 1 && !named)
            return std::nullopt;
        node = arguments[0];
        if (graph.is(node, PickleKind::Text) && !graph[node].flag)
            return named ? std::optional(PickledData{node, true}) : std::nullopt;
    }
    return std::nullopt;
}

std::optional<std::uint64_t> sizeOf(const PickleGraph &graph, const PickledData &data)
{
    const std::string_view text = graph.text(data.node);
    if (!data.isEncoded)
        return text.size();
    std::uint64_t size = 0;
    for (const char c : text) {
        const auto code = std::uint8_t(c);
        const bool continues = code >= 0x80 && code < 0xc0;
        if (code > 0xc3) // leads a character beyond U+00FF
            return std::nullopt;
        size += continues ? 0 : 1;
    }
    return size;
}

std::optional<std::string> bytesOf(const PickleGraph &graph, const PickledData &data)
{
    const std::string_view text = graph.text(data.node); // empty for a call without arguments
    return data.isEncoded ? pickle::toLatin1(text) : std::optional(std::string(text));
}

std::optional<std::string> pickledBytes(const PickleGraph &graph, NodeId node)
{
    const auto data = pickledData(graph, node);
    return data ? bytesOf(graph, *data) : std::nullopt;
}

std::optional<std::span<const NodeId>> pickledMembers(const PickleGraph &graph, NodeId node)
{
    if (graph.is(node, PickleKind::Set))
        return graph.items(node);
    const KnownGlobal known = graph.known(node);
    const std::span<const NodeId> arguments = graph.arguments(node);
    if (!graph.object(node) || (known != KnownGlobal::Set && known != KnownGlobal::FrozenSet)
        || hasAdditions(graph, node) || arguments.size() > 1)
        return std::nullopt;
    if (arguments.empty())
        return std::span<const NodeId>();
    if (!isSequence(graph, arguments[0]))
        return std::nullopt;
    return graph.items(arguments[0]);
}

bool hasAdditions(const PickleGraph &graph, NodeId node)
{
    const PickleObject *object = graph.object(node);
    return object
        && (object->more != NoNode || object->state != NoNode || object->keywords != NoNode);
}

PlainCall plainCall(const PickleGraph &graph, NodeId node)
{
    const std::span<const NodeId> arguments = graph.arguments(node);
    if (graph.known(node) != KnownGlobal::Reconstructor || arguments.size() != 3)
        return {graph.object(node)->callee, arguments};
    const PickleGlobal *base = graph.global(arguments[1]);
    const bool isPlain = base && base->name == "object" && graph.is(arguments[2], PickleKind::None);
    return {arguments[0], isPlain ? std::span<const NodeId>() : arguments.subspan(2)};
}

std::vector<NodeId> pickledParts(const PickleGraph &graph, NodeId node)
{
    const std::span<const NodeId> items = graph.items(node);
    std::vector<NodeId> parts(items.begin(), items.end());
    if (graph.is(node, PickleKind::PersistentId))
        parts.push_back(graph[node].ref);
    const PickleObject *object = graph.object(node);
    if (!object)
        return parts;
    const PickleAdditions more = graph.more(*object);
    for (const NodeId part : {object->callee, object->arguments, object->keywords}) {
        if (part != NoNode)
            parts.push_back(part);
    }
    for (const auto *list : {&more.items, &more.dictItems, &more.states})
        parts.insert(parts.end(), list->begin(), list->end());
    return parts;
}

} // namespace forkpoint
