// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/checkpoint.h"
#include "loaders/storage/byte_source.h"

namespace forkpoint {

/// Adds every scalar of a JSON document (RFC 8259, strict: no comments, no NaN, no repeated keys)
/// as a value under `prefix`, with its place as path; empty containers are seen as such. Nesting,
/// size and the number of values are capped by limits.h. On an error nothing is added.
Status addJsonValues(const ByteSource &source, const KeyPath &prefix, CheckpointBuilder &builder);

} // namespace forkpoint
