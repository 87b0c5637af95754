// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/hdf5/chunk_codecs.h"

#ifdef FORKPOINT_HAVE_SZIP
// Debian's header does not say that its functions are C.
extern "C" {
#include <szlib.h>
}
#endif

namespace forkpoint {

#ifdef FORKPOINT_HAVE_SZIP

std::string_view whyNoSzip()
{
    return {};
}

/// The decoded length (u32), then the stream. Parameters: options, pixels a block, bits a pixel,
/// pixels a scan line.
FilterResult undoSzip(ByteView stored, FilterParameters parameters, std::size_t cap)
{
    constexpr std::size_t Count = 4, LengthBytes = 4;
    if (parameters.size() < Count || stored.size() < LengthBytes)
        return damaged("must have four parameters and a length");
    const auto announced = loadLittle<std::uint32_t>(stored.data());
    if (announced > cap)
        return overCap(cap);
    SZ_com_t settings{int(parameters[0]), int(parameters[2]), int(parameters[1]),
                      int(parameters[3])};
    const bool isSane = settings.bits_per_pixel > 0 && settings.bits_per_pixel <= 64
        && settings.pixels_per_block > 0 && settings.pixels_per_block <= SZ_MAX_PIXELS_PER_BLOCK
        && settings.pixels_per_scanline > 0
        && settings.pixels_per_scanline <= SZ_MAX_PIXELS_PER_SCANLINE;
    if (!isSane)
        return damaged("has parameters out of range");
    const ByteView stream = stored.subspan(LengthBytes);
    std::vector<std::byte> out(announced);
    std::size_t produced = out.size();
    const int result =
        SZ_BufftoBuffDecompress(out.data(), &produced, stream.data(), stream.size(), &settings);
    if (result != SZ_OK || produced > out.size())
        return damaged("bad data");
    out.resize(produced);
    return out;
}

#else

std::string_view whyNoSzip()
{
    return "this build was made without libaec";
}

FilterResult undoSzip(ByteView, FilterParameters, std::size_t)
{
    return Error{ErrorCode::Unsupported, {}, {}, std::string(whyNoSzip())};
}

#endif

} // namespace forkpoint
