// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/pickle_graph.h"
#include "model/key_path.h"

#include <cstddef>
#include <optional>
#include <string>

namespace forkpoint {

/// What Python's repr() would print of a node, cut at `cap` characters ("..." says so). Bounded in
/// depth and work by the cap, whatever the graph shares or repeats. Tensors and other objects show
/// as the call that would make them.
std::string printedPickle(const PickleGraph &graph, NodeId node, std::size_t cap);

/// Decimal digits of a BigInt up to 4096 bits; "0x..." in hexadecimal above, where decimal digits
/// would take time that grows with the square of the length.
std::string bigIntegerText(const PickleGraph &graph, NodeId node);

/// The bytes of a Bytes node, of raw text, or of the calls that protocol 2 writes for bytes
/// (_codecs.encode, bytes, bytearray). Nothing for other nodes.
std::optional<std::string> pickledBytes(const PickleGraph &graph, NodeId node);

/// A dictionary key: text, an integer, or else as Python would print it.
Key pickledKey(const PickleGraph &graph, NodeId node);

/// The text of a str node, Python 2's too; nothing for other nodes.
std::optional<std::string> pickledText(const PickleGraph &graph, NodeId node);

std::optional<std::int64_t> pickledInteger(const PickleGraph &graph, NodeId node);

/// "torch.device" as torch prints it; the dotted path of what a Global or an Object names.
std::string classPath(const PickleGlobal &global);

} // namespace forkpoint
