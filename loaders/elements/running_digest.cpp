// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/elements/running_digest.h"

#include <openssl/evp.h>
#include <zlib.h>

#include <array>

namespace forkpoint {

namespace {

std::string toHex(ByteView bytes)
{
    static constexpr char Digits[] = "0123456789abcdef";
    std::string text;
    text.reserve(2 * bytes.size());
    for (const std::byte byte : bytes) {
        text += Digits[std::to_integer<unsigned>(byte) >> 4];
        text += Digits[std::to_integer<unsigned>(byte) & 15];
    }
    return text;
}

/// Looked up once: fetching it takes longer than digesting some bytes.
const EVP_MD *algorithm(std::string_view name)
{
    static const EVP_MD *const sha256 = EVP_MD_fetch(nullptr, "SHA256", nullptr);
    static const EVP_MD *const sha1 = EVP_MD_fetch(nullptr, "SHA1", nullptr);
    static const EVP_MD *const md5 = EVP_MD_fetch(nullptr, "MD5", nullptr);
    return name == "sha256" ? sha256 : name == "sha1" ? sha1 : md5;
}

struct FreeContext
{
    void operator()(EVP_MD_CTX *context) const { EVP_MD_CTX_free(context); }
};

} // namespace

struct RunningDigest::State
{
    std::unique_ptr<EVP_MD_CTX, FreeContext> context; ///< null: the CRC
    std::uint32_t crc = 0;
};

RunningDigest::RunningDigest(std::string_view name) : m_state(std::make_unique<State>())
{
    if (name == "crc32")
        return;
    m_state->context.reset(EVP_MD_CTX_new());
    EVP_DigestInit_ex(m_state->context.get(), algorithm(name), nullptr);
}

RunningDigest::~RunningDigest() = default;
RunningDigest::RunningDigest(RunningDigest &&) noexcept = default;
RunningDigest &RunningDigest::operator=(RunningDigest &&) noexcept = default;

void RunningDigest::update(ByteView data)
{
    if (m_state->context)
        EVP_DigestUpdate(m_state->context.get(), data.data(), data.size());
    else
        m_state->crc = crc32Of(data, m_state->crc);
}

std::string RunningDigest::finish()
{
    if (!m_state->context) {
        std::array<std::byte, 4> bytes;
        for (std::size_t i = 0; i < 4; ++i)
            bytes[i] = std::byte((m_state->crc >> (24 - 8 * i)) & 0xff);
        return toHex(bytes);
    }
    std::array<unsigned char, EVP_MAX_MD_SIZE> bytes;
    unsigned size = 0;
    EVP_DigestFinal_ex(m_state->context.get(), bytes.data(), &size);
    return toHex(std::as_bytes(std::span(bytes).first(size)));
}

std::string sha256Hex(ByteView bytes)
{
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
    unsigned size = 0;
    EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, algorithm("sha256"), nullptr);
    return toHex(std::as_bytes(std::span(digest).first(size)));
}

std::uint32_t crc32Of(ByteView data, std::uint32_t crc)
{
    return std::uint32_t(crc32_z(crc, reinterpret_cast<const Bytef *>(data.data()), data.size()));
}

} // namespace forkpoint
