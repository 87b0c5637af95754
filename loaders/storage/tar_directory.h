// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/storage/byte_source.h"

#include <string>
#include <vector>

namespace forkpoint {

/// One member of a tar archive: where its bytes are.
struct TarMember
{
    enum class Kind { File, Directory, Link, Special };
    std::string name; ///< raw, without a leading "./"; never used as a path
    Kind kind = Kind::File;
    std::uint64_t offset = 0, size = 0;
};

/// Whether a file begins with a header of a POSIX or GNU tar.
bool isTar(ByteView head);

/// The members in order, by their headers: ustar, with GNU's and pax's long names and sizes.
/// Checksums are checked, sizes compared with what is left; at most limits::TarMembers.
Result<std::vector<TarMember>> readTarDirectory(const ByteSource &source);

/// The decoded bytes of a gzip file that has one member. Its size is not known without decoding it
/// all: size() is an upper bound, and a read behind the end is an error.
Result<std::shared_ptr<const ByteSource>> openGzip(std::shared_ptr<const ByteSource> source);
bool isGzip(ByteView head);
/// Bytes of a gzip file before its deflate stream (RFC 1952).
Result<std::uint64_t> gzipHeaderSize(const ByteSource &source);

} // namespace forkpoint
