// SPDX-License-Identifier: GPL-3.0-or-later
// Formats of the LZ77 family, each a few lines: literals and copies of what was decoded already.
// None reads outside `stored`, none decodes beyond `cap`; memory grows with what was decoded.
#pragma once

#include "loaders/hdf5/chunk_filters.h"

namespace forkpoint {

FilterResult decodeLzf(ByteView stored, std::size_t cap);      ///< liblzf
FilterResult decodeLz4Block(ByteView stored, std::size_t cap); ///< a block without a frame
FilterResult decodeSnappy(ByteView stored, std::size_t cap);   ///< the raw format
FilterResult decodeBloscLz(ByteView stored, std::size_t cap);  ///< the codec of Blosc's own

} // namespace forkpoint
