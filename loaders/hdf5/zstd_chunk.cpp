// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/hdf5/chunk_codecs.h"
#include "loaders/storage/zstd_source.h"

#ifdef FORKPOINT_HAVE_ZSTD
#include <algorithm>

#include <zstd.h>
#endif

namespace forkpoint {

#ifdef FORKPOINT_HAVE_ZSTD

namespace {

constexpr int WindowLog = 27;
constexpr std::size_t FirstBytes = 1u << 20;

struct Decoder
{
    ZSTD_DCtx *context = ZSTD_createDCtx();

    Decoder() = default;
    Decoder(const Decoder &) = delete;
    Decoder &operator=(const Decoder &) = delete;
    ~Decoder() { ZSTD_freeDCtx(context); }
};

} // namespace

/// One frame; memory grows with what was decoded.
FilterResult undoZstd(ByteView stored, FilterParameters, std::size_t cap)
{
    const Decoder decoder;
    if (decoder.context == nullptr)
        return damaged("there is no memory for a decoder");
    ZSTD_DCtx_setParameter(decoder.context, ZSTD_d_windowLogMax, WindowLog);
    ZSTD_inBuffer in{stored.data(), stored.size(), 0};
    std::vector<std::byte> out(std::min(cap + 1, std::max(FirstBytes, stored.size() * 4)));
    ZSTD_outBuffer to{out.data(), out.size(), 0};
    while (true) {
        const std::size_t left = ZSTD_decompressStream(decoder.context, &to, &in);
        if (ZSTD_isError(left))
            return damaged(ZSTD_getErrorName(left));
        if (to.pos > cap)
            return overCap(cap);
        if (left == 0)
            break;
        if (to.pos < to.size && in.pos == in.size)
            return damaged("the frame is cut");
        if (to.pos == to.size) {
            out.resize(std::min(cap + 1, out.size() * 2));
            to.dst = out.data();
            to.size = out.size();
        }
    }
    out.resize(to.pos);
    return out;
}

#else

FilterResult undoZstd(ByteView, FilterParameters, std::size_t)
{
    return Error{ErrorCode::Unsupported, {}, {}, std::string(whyNoZstd())};
}

#endif

} // namespace forkpoint
