// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/torch/pickle_graph.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

/// What the protocols write in several ways, read as one.
namespace forkpoint {

/// Where the bytes of a bytes-like object are: in a Bytes node or raw text, or encoded by a call
/// in Latin-1, as protocol 2 does it.
struct PickledData
{
    NodeId node = NoNode;
    bool isEncoded = false;
};

/// Looks through bytes(), bytearray() and _codecs.encode(); nothing for what is no bytes. Takes
/// no time for long bytes, and hence does not look whether encoded text is Latin-1.
std::optional<PickledData> pickledData(const PickleGraph &graph, NodeId node);
/// How many bytes; nothing where encoded text is not Latin-1.
std::optional<std::uint64_t> sizeOf(const PickleGraph &graph, const PickledData &data);
/// The bytes; nothing where encoded text is not Latin-1.
std::optional<std::string> bytesOf(const PickleGraph &graph, const PickledData &data);
/// The two in one, for short bytes.
std::optional<std::string> pickledBytes(const PickleGraph &graph, NodeId node);

/// The members of a set or frozenset, as an opcode or a call made it; nothing for other nodes.
std::optional<std::span<const NodeId>> pickledMembers(const PickleGraph &graph, NodeId node);

/// Whether opcodes added keywords, items, entries or a state to what an Object node calls.
bool hasAdditions(const PickleGraph &graph, NodeId node);

/// What an Object node calls with what: copyreg._reconstructor(C, object, None) of protocol 0 is
/// C(), and with a base that has a value C(value), as the later protocols have it.
struct PlainCall
{
    NodeId callee = NoNode;
    std::span<const NodeId> arguments;
};
PlainCall plainCall(const PickleGraph &graph, NodeId node);

/// Everything that a node refers to.
std::vector<NodeId> pickledParts(const PickleGraph &graph, NodeId node);

} // namespace forkpoint
