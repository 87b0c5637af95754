// SPDX-License-Identifier: GPL-3.0-or-later
// Digests of a tensor's logical bytes that other tools record beside what they trained.
#pragma once

#include "model/bytes.h"
#include "model/dtype.h"
#include "model/result.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace forkpoint {

/// A digest fed piece by piece, in order.
class TensorDigest
{
public:
    virtual ~TensorDigest() = default;
    virtual void update(ByteView data) = 0;
    virtual std::string finish() = 0; ///< as its tool writes it; call once, last

protected:
    TensorDigest() = default;
};

/// What is worth knowing of a digest before anything is said of two equal ones.
struct TensorDigestInfo
{
    std::string_view name;
    std::string_view cannotSee; ///< changes that leave it as it is, whatever their size
};

/// sha256, sha1, md5 (of the bytes), crc32 (zlib's), hash_tensor (torch.hash_tensor's xor),
/// megatron128 (the position-weighted sums of Megatron Core), xor64 (the xor of raw 64-bit words).
const std::vector<TensorDigestInfo> &tensorDigestInfos();
const TensorDigestInfo *tensorDigestInfo(std::string_view name);

/// Starts a digest of elements of that type; the error says why its tool has none of them.
Result<std::unique_ptr<TensorDigest>> makeTensorDigest(std::string_view name, const DType &dtype);

/// Bits of the digest that elements of that type can set at all: of two tensors that have nothing
/// to do with each other, one in 2^bits goes unnoticed.
unsigned tensorDigestBits(std::string_view name, const DType &dtype, std::uint64_t bytes);

} // namespace forkpoint
