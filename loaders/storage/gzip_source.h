// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/storage/byte_source.h"

#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

namespace forkpoint {

/// The decoded bytes of a gzip file (RFC 1952) at any position: of all its members, one after the
/// other, as `cat a.gz b.gz` leaves them.
struct GzipFile
{
    /// What lies behind the last member that could be read.
    struct Rest
    {
        std::uint64_t byte = 0; ///< of the file, where it begins
        std::string text;       ///< what it is, and why it was not read
        bool isPadding = false; ///< zeros alone: nothing is lost
    };
    std::shared_ptr<const ByteSource> decoded;
    bool torn = false; ///< the last member is cut: the bytes end where it was cut
    std::optional<Rest> rest;
};

/// Finds the members and their lengths by decoding all of them once, up to limits::GzipBytes and to
/// eight million members. A first member that is no gzip is an error; a later one is a rest.
Result<GzipFile> openMeasuredGzip(std::shared_ptr<const ByteSource> compressed,
                                  const std::stop_token &stop = {});

/// The first decoded bytes of a gzip file, `most` at the most: fewer where it ends, is cut or broken.
Result<std::vector<std::byte>> gzipHead(const ByteSource &compressed, std::size_t most);

} // namespace forkpoint
