// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/bytes.h"
#include "model/result.h"

#include <cstdint>
#include <functional>

namespace forkpoint {

/// The records that a version 2 B-tree holds: HDF5 file format, "Version 2 B-trees".
struct BTree2Records
{
    std::uint64_t type = 0;  ///< 11: of filtered chunks, for instance
    std::uint64_t bytes = 0; ///< of one record; never 0
};

/// Hands each record of the tree whose header is at `address` to `take`, node by node: not in the
/// order of their keys. Addresses and lengths of the file have 8 bytes. An error is that of `take`,
/// or names the block that is damaged, of other records, or met twice.
Status walkBTree2(std::uint64_t address, BTree2Records records,
                  const std::function<Status(ByteView record)> &take);

} // namespace forkpoint
