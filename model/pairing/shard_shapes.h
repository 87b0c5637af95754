// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/catalog.h"
#include "model/compare/comparison.h"

#include <vector>

namespace forkpoint {

/// Files of ranks as torch writes them for Hugging Face ("safetensors-shards") store no shape of a
/// whole tensor: it is what the shards that are there reach, and no file says how many there were.
/// Where such a side is shorter than the other along the axis that is cut, the last files may be
/// missing: these rows are not comparable and name the first such file, and with them what only the
/// other side has. They stay as they are where a tensor proves that nothing is missing: each shard
/// that is there holds a part of it, it is as long as the other side's, and one more shard would have
/// held a part, too.
void doubtShardShapes(std::vector<TensorRow> &rows, const Catalog &a, const Catalog &b);

} // namespace forkpoint
