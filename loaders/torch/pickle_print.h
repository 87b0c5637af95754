// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/torch/pickle_digest.h"
#include "loaders/torch/pickle_graph.h"
#include "model/key_path.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace forkpoint {

/// A text for people, and whether it says everything, so that equal texts mean equal contents.
struct PrintedPickle
{
    std::string text;
    bool complete = true;
};

/// What Python's repr() would print of a node, cut at `cap` characters ("..." says so). Bounded in
/// depth and work by the cap, whatever the graph shares or repeats. Tensors and other objects show
/// as the call that would make them, with what was added to them; the members of a set are sorted.
PrintedPickle printPickle(const PickleGraph &graph, NodeId node, std::size_t cap);
/// The same of a call.
PrintedPickle printPickledCall(const PickleGraph &graph, NodeId callee,
                               std::span<const NodeId> arguments, std::size_t cap);

/// Decimal digits of a BigInt up to 4096 bits; "0x..." in hexadecimal above, where decimal digits
/// would take time that grows with the square of the length.
std::string bigIntegerText(const PickleGraph &graph, NodeId node);

/// A dictionary key: text, an integer, or else as Python would print it, with the digest of what
/// that does not show.
Key pickledKey(const PickleGraph &graph, NodeId node, PickleDigests &digests);

/// The text of a str node, Python 2's too; nothing for other nodes.
std::optional<std::string> pickledText(const PickleGraph &graph, NodeId node);

std::optional<std::int64_t> pickledInteger(const PickleGraph &graph, NodeId node);

/// "torch.device" as torch prints it; the dotted path of what a Global or an Object names.
std::string classPath(const PickleGlobal &global);

} // namespace forkpoint
