// SPDX-License-Identifier: GPL-3.0-or-later
// What DebugMode writes of a call: argument texts with layouts, and trees of hashes.
#pragma once

#include "loaders/text/json.h"
#include "model/traces/trace_record.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace forkpoint {

/// One hash in a tree of hashes that has the shape of the arguments.
struct HashLeaf
{
    std::string path; ///< "[0][1]", "[1]['alpha']"; "<root>" for a tree that is one leaf
    std::string text; ///< an integer, a decimal, or "nan"
    bool integer = false;
};

/// The leaves of a tree that save_logs wrote: {"type": "tuple", "items": [...]} and the like; null
/// leaves, which are arguments without a hash, are left out.
std::vector<HashLeaf> leavesOf(const JsonValue &tree);

/// The same of Python's text of the tree. Nothing where the text is no such literal.
std::optional<std::vector<HashLeaf>> leavesOf(std::string_view python);

/// Layouts in an argument text, in order: "t: f32[1, 8], [t$3: i64[2]], dt: bf16[8]| S(0)".
std::vector<Observation> layoutsOf(std::string_view arguments);

/// Hashes with the layouts of their tensors where there are as many of one as of the other. Integers
/// are XOR digests (torch.hash_tensor), decimals norms.
std::vector<Observation> observationsOf(const std::vector<HashLeaf> &leaves,
                                        std::string_view arguments);

} // namespace forkpoint
