// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/tensor_digests.h"

#include <openssl/evp.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>

namespace forkpoint {

namespace {

constexpr std::array<std::string_view, 4> Known = {"sha256", "sha1", "md5", "crc32"};
constexpr std::uint64_t ContiguousPiece = 1u << 20;
constexpr std::uint64_t StridedPiece = 8u << 20;

std::string toHex(ByteView bytes)
{
    static constexpr char Digits[] = "0123456789abcdef";
    std::string text;
    for (const std::byte byte : bytes) {
        text += Digits[std::to_integer<unsigned>(byte) >> 4];
        text += Digits[std::to_integer<unsigned>(byte) & 15];
    }
    return text;
}

/// One running digest: OpenSSL's, or zlib's CRC-32.
class RunningDigest
{
public:
    explicit RunningDigest(const std::string &name)
    {
        if (name == "crc32")
            return;
        m_context.reset(EVP_MD_CTX_new());
        EVP_DigestInit_ex(m_context.get(), EVP_get_digestbyname(name.c_str()), nullptr);
    }

    void update(ByteView data)
    {
        if (m_context)
            EVP_DigestUpdate(m_context.get(), data.data(), data.size());
        else
            updateCrc(data);
    }

    std::string finish()
    {
        if (!m_context) {
            std::array<std::byte, 4> bytes;
            for (std::size_t i = 0; i < 4; ++i)
                bytes[i] = std::byte((m_crc >> (24 - 8 * i)) & 0xff);
            return toHex(bytes);
        }
        std::array<unsigned char, EVP_MAX_MD_SIZE> bytes;
        unsigned size = 0;
        EVP_DigestFinal_ex(m_context.get(), bytes.data(), &size);
        return toHex(std::as_bytes(std::span(bytes).first(size)));
    }

private:
    void updateCrc(ByteView data)
    {
        m_crc = crc32_z(m_crc, reinterpret_cast<const Bytef *>(data.data()), data.size());
    }

    struct FreeContext
    {
        void operator()(EVP_MD_CTX *context) const { EVP_MD_CTX_free(context); }
    };
    std::unique_ptr<EVP_MD_CTX, FreeContext> m_context;
    unsigned long m_crc = 0;
};

TensorDigests digestOne(const TensorSource &source, TensorIndex index,
                        const std::vector<std::string> &names, std::stop_token stop,
                        const std::function<void(std::uint64_t)> &done)
{
    TensorDigests result;
    const TensorRef &tensor = source.catalog().tensors[index];
    if (tensor.unreadable) {
        result.error = tensor.unreadable;
        return result;
    }
    std::vector<RunningDigest> digests(names.begin(), names.end());
    const std::uint64_t piece = isContiguous(tensor) ? ContiguousPiece : StridedPiece;
    std::vector<std::byte> buffer(std::size_t(std::min(piece, tensor.bytes)));
    for (std::uint64_t first = 0; first < tensor.bytes; first += piece) {
        if (stop.stop_requested()) {
            result.error = Error{ErrorCode::Cancelled, {}, {}, "cancelled"};
            return result;
        }
        const auto window =
            std::span(buffer).first(std::size_t(std::min(piece, tensor.bytes - first)));
        if (Status status = source.read(index, first, window); !status) {
            result.error = std::move(status).error().atPlace("tensor '" + tensor.name + "'");
            return result;
        }
        for (RunningDigest &digest : digests)
            digest.update(window);
        done(window.size());
    }
    for (std::size_t i = 0; i < names.size(); ++i)
        result.byName[names[i]] = digests[i].finish();
    return result;
}

} // namespace

bool isKnownDigest(std::string_view name)
{
    return std::find(Known.begin(), Known.end(), name) != Known.end();
}

std::vector<TensorDigests> digestTensors(const TensorSource &source,
                                         const std::vector<std::string> &names, Executor &executor,
                                         std::stop_token stop,
                                         const std::function<void(const Progress &)> &progress)
{
    const std::vector<TensorRef> &tensors = source.catalog().tensors;
    Progress now{"reading", {}, 0, 0, 0, tensors.size()};
    for (const TensorRef &tensor : tensors)
        now.bytesTotal += tensor.unreadable ? 0 : tensor.bytes;
    std::mutex reporting;
    std::vector<TensorDigests> result(tensors.size());
    executor.forEach(tensors.size(), [&](std::size_t i) {
        result[i] = digestOne(source, i, names, stop, [&](std::uint64_t bytes) {
            const std::lock_guard lock(reporting);
            now.bytesDone += bytes;
            now.item = tensors[i].name;
            if (progress)
                progress(now);
        });
    });
    return result;
}

} // namespace forkpoint
