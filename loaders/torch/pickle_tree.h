// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/checkpoint.h"
#include "loaders/torch/pickle_graph.h"
#include "loaders/torch/torch_storage.h"

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>

namespace forkpoint {

/// What is left of the caps of limits.h, over a pickle and all that is nested in it.
struct TreeBudget
{
    std::size_t items = 0;                ///< listed so far
    std::uint64_t crcBytes = 0;           ///< of records whose CRCs were checked
    std::size_t keys = 0;                 ///< keys in all paths listed so far
    std::size_t repeatedKeys = 0;         ///< of these, below objects that were listed before
    std::uint64_t text = 0;               ///< characters of all paths and values listed so far
    std::uint64_t textLimit = 256u << 20; ///< and twice the pickle: a file may repeat long text
    bool full = false;
    bool saidRepeated = false;
    bool saidUnlisted = false;
};

/// Where the items of a pickle go and what they may refer to.
struct TreeContext
{
    CheckpointBuilder &builder;
    std::string file; ///< name of the file they are in
    KeyPath prefix;   ///< path of the pickle's root
    int nesting = 0;  ///< pickles around this one
    std::stop_token stop;
    std::shared_ptr<TreeBudget> budget = std::make_shared<TreeBudget>();
};

/// Lists what a pickle's graph holds: dictionaries, lists and objects by their keys, tensors and
/// arrays as tensors, everything else as values. What is damaged becomes diagnostics. Iterative;
/// cycles show as links, and once shared parts have been unfolded generously (memo bombs), further
/// repetitions show as links to the first place. `storages` may be nullptr (a bare pickle).
Status listPickle(const PickleGraph &graph, StorageTable *storages, const TreeContext &context);

/// Findings and warnings for the names in a pickle that run code when it is loaded. `where` names
/// the place in the file.
void reportDangerousGlobals(const PickleGraph &graph, const TreeContext &context,
                            const std::string &where);

} // namespace forkpoint
