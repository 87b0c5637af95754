// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/byte_source.h"

#include <memory>

namespace forkpoint {

/// The decoded bytes of a gzip file of one member, at any position. Its length is found by decoding
/// it once, up to limits::GzipBytes. A cut file ends where it was cut: `torn` then says so.
struct GzipFile
{
    std::shared_ptr<const ByteSource> decoded;
    bool torn = false;
};
Result<GzipFile> openMeasuredGzip(std::shared_ptr<const ByteSource> compressed);

} // namespace forkpoint
