// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/hdf5/chunk_codecs.h"

#include <algorithm>

#include <zlib.h>

namespace forkpoint {

namespace {

/// An inflate state that ends in any case.
struct Inflater
{
    z_stream z = {};
    bool valid = inflateInit(&z) == Z_OK;

    Inflater() = default;
    Inflater(const Inflater &) = delete;
    Inflater &operator=(const Inflater &) = delete;
    ~Inflater()
    {
        if (valid)
            inflateEnd(&z);
    }
};

constexpr std::size_t FirstBytes = 1u << 20;

} // namespace

/// Memory grows with what was decoded, never with what was announced.
FilterResult undoDeflate(ByteView stored, FilterParameters, std::size_t cap)
{
    Inflater inflater;
    if (!inflater.valid)
        return damaged("there is no memory for a decoder");
    z_stream &z = inflater.z;
    z.next_in = reinterpret_cast<Bytef *>(const_cast<std::byte *>(stored.data())); // lacks const
    z.avail_in = uInt(stored.size());
    // One byte more than there may be tells a stream that goes on.
    std::vector<std::byte> out(std::min(cap + 1, std::max(FirstBytes, stored.size() * 4)));
    std::size_t produced = 0;
    while (true) {
        z.next_out = reinterpret_cast<Bytef *>(out.data() + produced);
        z.avail_out = uInt(out.size() - produced);
        const int result = inflate(&z, Z_NO_FLUSH);
        produced = out.size() - z.avail_out;
        if (produced > cap)
            return overCap(cap);
        if (result == Z_STREAM_END)
            break;
        if (result != Z_OK && result != Z_BUF_ERROR)
            return damaged(z.msg != nullptr ? z.msg : "bad data");
        if (z.avail_out != 0)
            return damaged("the stream ends too early");
        out.resize(std::min(cap + 1, out.size() * 2));
    }
    out.resize(produced);
    return out;
}

} // namespace forkpoint
