// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/hdf5/chunk_codecs.h"

#ifdef FORKPOINT_HAVE_BZIP2
#include <algorithm>

#include <bzlib.h>
#endif

namespace forkpoint {

#ifdef FORKPOINT_HAVE_BZIP2

namespace {

struct Decoder
{
    bz_stream stream = {};
    bool valid = BZ2_bzDecompressInit(&stream, 0, 0) == BZ_OK;

    Decoder() = default;
    Decoder(const Decoder &) = delete;
    Decoder &operator=(const Decoder &) = delete;
    ~Decoder()
    {
        if (valid)
            BZ2_bzDecompressEnd(&stream);
    }
};

constexpr std::size_t FirstBytes = 1u << 20;

} // namespace

std::string_view whyNoBzip2()
{
    return {};
}

FilterResult undoBzip2(ByteView stored, FilterParameters, std::size_t cap)
{
    Decoder decoder;
    if (!decoder.valid)
        return damaged("there is no memory for a decoder");
    bz_stream &bz = decoder.stream;
    bz.next_in = reinterpret_cast<char *>(const_cast<std::byte *>(stored.data())); // lacks const
    bz.avail_in = unsigned(stored.size());
    std::vector<std::byte> out(std::min(cap + 1, std::max(FirstBytes, stored.size() * 4)));
    std::size_t produced = 0;
    while (true) {
        bz.next_out = reinterpret_cast<char *>(out.data() + produced);
        bz.avail_out = unsigned(out.size() - produced);
        const int result = BZ2_bzDecompress(&bz);
        produced = out.size() - bz.avail_out;
        if (produced > cap)
            return overCap(cap);
        if (result == BZ_STREAM_END)
            break;
        if (result != BZ_OK)
            return damaged("bad data");
        if (bz.avail_out != 0)
            return damaged("the stream ends too early");
        out.resize(std::min(cap + 1, out.size() * 2));
    }
    out.resize(produced);
    return out;
}

#else

std::string_view whyNoBzip2()
{
    return "this build was made without libbz2";
}

FilterResult undoBzip2(ByteView, FilterParameters, std::size_t)
{
    return Error{ErrorCode::Unsupported, {}, {}, std::string(whyNoBzip2())};
}

#endif

} // namespace forkpoint
