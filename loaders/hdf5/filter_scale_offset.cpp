// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/hdf5/bit_reader.h"
#include "loaders/hdf5/chunk_codecs.h"

#include <algorithm>
#include <cmath>

namespace forkpoint {

namespace {

/// What set-up stored with the dataset: H5Z_SCALEOFFSET_PARM_* of libhdf5.
struct Settings
{
    std::uint32_t scaleType = 0, factor = 0, count = 0, kind = 0, size = 0, isSigned = 0;
    std::uint32_t isBigEndian = 0, hasFill = 0;
    std::uint64_t fill = 0; ///< the bits of the fill value

    bool isFloat() const { return kind == 1; }
};

Result<Settings> settingsOf(FilterParameters p)
{
    constexpr std::size_t Count = 20, FillAt = 8;
    if (p.size() < Count)
        return damaged("must have 20 parameters");
    Settings settings{p[0], p[1], p[2],
                      p[3], p[4], p[5],
                      p[6], p[7], p[FillAt] | std::uint64_t(p[FillAt + 1]) << 32};
    const bool isInteger = settings.kind == 0 && settings.scaleType == 2
        && (settings.size == 1 || settings.size == 2 || settings.size == 4 || settings.size == 8);
    const bool isReal =
        settings.isFloat() && settings.scaleType == 0 && (settings.size == 4 || settings.size == 8);
    if (!isInteger && !isReal)
        return damaged("is applied to elements that it is not for");
    return settings;
}

/// A number n of the stream stands for n / 10^factor + least, in the type's own arithmetic.
template <class Float, class Bits, class Integer>
std::uint64_t scaled(std::uint64_t number, std::uint32_t factor, std::uint64_t least)
{
    const auto base = std::bit_cast<Float>(Bits(least));
    const Float power = std::pow(Float(10), Float(std::int32_t(factor)));
    const Float value = Float(Integer(number)) / power + base;
    return std::bit_cast<Bits>(value);
}

void store(std::uint64_t bits, std::byte *to, const Settings &settings)
{
    for (std::size_t i = 0; i < settings.size; ++i)
        to[settings.isBigEndian != 0 ? settings.size - 1 - i : i] = std::byte(bits >> (8 * i));
}

} // namespace

FilterResult undoScaleOffset(ByteView stored, FilterParameters parameters, std::size_t cap)
{
    constexpr std::size_t HeaderBytes = 21, LeastAt = 5;
    FP_TRY(const Settings settings, settingsOf(parameters));
    const unsigned whole = settings.size * 8;
    if (!settings.isFloat() && settings.factor == whole) // nothing to gain: left as it was
        return std::vector<std::byte>(stored.begin(), stored.end());
    if (stored.size() < HeaderBytes)
        return damaged("is shorter than its header");
    const auto bits = loadLittle<std::uint32_t>(stored.data());
    const unsigned leastBytes = std::min(std::to_integer<unsigned>(stored[4]), 8u);
    std::uint64_t least = 0;
    for (unsigned i = 0; i < leastBytes; ++i)
        least |= std::to_integer<std::uint64_t>(stored[LeastAt + i]) << (8 * i);
    const std::uint64_t size = std::uint64_t(settings.count) * settings.size;
    if (size > cap)
        return overCap(cap);
    const ByteView packed = stored.subspan(HeaderBytes);
    if (bits > whole || (std::uint64_t(settings.count) * bits + 7) / 8 > packed.size())
        return damaged("ends too early");
    std::vector<std::byte> out(size);
    if (bits == whole) { // as they are, but in the order of the machine that wrote them
        std::copy_n(packed.begin(), size, out.begin());
        for (std::size_t i = 0; i < size && settings.isBigEndian != 0; i += settings.size)
            std::reverse(out.begin() + std::ptrdiff_t(i),
                         out.begin() + std::ptrdiff_t(i + settings.size));
        return out;
    }
    BitReader reader(packed);
    const std::uint64_t fillCode = (std::uint64_t(1) << bits) - 1;
    for (std::uint32_t i = 0; i < settings.count; ++i) {
        const std::uint64_t number = reader.take(bits);
        std::uint64_t value = number + least;
        if (settings.hasFill != 0 && number == fillCode)
            value = settings.fill;
        else if (settings.isFloat() && settings.size == 4)
            value = scaled<float, std::uint32_t, std::int32_t>(number, settings.factor, least);
        else if (settings.isFloat())
            value = scaled<double, std::uint64_t, std::int64_t>(number, settings.factor, least);
        store(value, out.data() + std::size_t(i) * settings.size, settings);
    }
    return out;
}

} // namespace forkpoint
