// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/pickle_digest.h"

#include <openssl/evp.h>

#include <array>

namespace forkpoint {

std::string sha256Hex(ByteView bytes)
{
    static constexpr char digits[] = "0123456789abcdef";
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned length = 0;
    EVP_Digest(bytes.data(), bytes.size(), digest.data(), &length, EVP_sha256(), nullptr);
    std::string text;
    for (unsigned i = 0; i < length; ++i)
        (text += digits[digest[i] >> 4]) += digits[digest[i] & 15];
    return text;
}

} // namespace forkpoint
