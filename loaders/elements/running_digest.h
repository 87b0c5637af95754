// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/bytes.h"

#include <memory>
#include <string>
#include <string_view>

namespace forkpoint {

/// A digest fed piece by piece: "sha256", "sha1", "md5" (OpenSSL's) or "crc32" (zlib's).
class RunningDigest
{
public:
    explicit RunningDigest(std::string_view name); ///< a known name
    ~RunningDigest();
    RunningDigest(RunningDigest &&) noexcept;
    RunningDigest &operator=(RunningDigest &&) noexcept;

    void update(ByteView data);
    std::string finish(); ///< lower-case hexadecimal; call once, last

private:
    struct State;
    std::unique_ptr<State> m_state;
};

/// SHA-256 of some bytes in memory, 64 lower-case hexadecimal digits.
std::string sha256Hex(ByteView bytes);

/// CRC-32 as zip and zlib define it: of `data`, continuing from `crc` (0 at the beginning).
std::uint32_t crc32Of(ByteView data, std::uint32_t crc = 0);

} // namespace forkpoint
