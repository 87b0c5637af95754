// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "gpu/kernels/diff.h"

namespace forkpoint::kernels {

enum class PartKind : int { Float, SignedInteger, UnsignedInteger, Boolean };

/// The type of a part, known when running.
struct PartType
{
    PartKind kind = PartKind::Float;
    int bits = 0;
    RuntimeFormat format; ///< of floats
};

using Float64Parts = Float64Policy<PlainParts<std::uint64_t>>;
using Float32Parts = FloatPolicy<Float32, PlainParts<std::uint32_t>>;
using BFloat16Parts = FloatPolicy<BFloat16, PlainParts<std::uint16_t>>;
using Float16Parts = FloatPolicy<Float16, PlainParts<std::uint16_t>>;

template <class Format>
bool isFormat(const RuntimeFormat &format, const Format &known)
{
    return format.exponentBits == known.exponentBits && format.mantissaBits == known.mantissaBits
        && format.bias == known.bias && format.special == known.special
        && format.hasSign == known.hasSign;
}

/// Calls use(loader) with how parts of that width, at most 32 bits, lie in memory; false for a width
/// nobody has.
template <class Use>
bool withNarrowParts(int bits, const Use &use)
{
    switch (bits) {
    case 32: use(PlainParts<std::uint32_t>()); return true;
    case 16: use(PlainParts<std::uint16_t>()); return true;
    case 8: use(PlainParts<std::uint8_t>()); return true;
    default: break;
    }
    if (bits <= 0 || bits > 8)
        return false;
    use(PackedParts{bits});
    return true;
}

template <class Use>
bool withInteger(const PartType &type, const Use &use)
{
    const auto called = [&](auto load) {
        use(IntegerPolicy<decltype(load)>{load, type.bits, type.kind == PartKind::SignedInteger,
                                          type.kind == PartKind::Boolean});
    };
    if (type.bits != 64)
        return withNarrowParts(type.bits, called);
    called(PlainParts<std::uint64_t>());
    return true;
}

/// Calls use(policy) with how parts of that type are read: which code measures which type is
/// decided here for every device. False, and nothing called: no type that can be measured.
template <class Use>
bool withPolicy(const PartType &type, const Use &use)
{
    if (type.kind != PartKind::Float)
        return withInteger(type, use);
    if (isFormat(type.format, Float64()))
        use(Float64Parts());
    else if (isFormat(type.format, Float32()))
        use(Float32Parts());
    else if (isFormat(type.format, BFloat16()))
        use(BFloat16Parts());
    else if (isFormat(type.format, Float16()))
        use(Float16Parts());
    else
        return withNarrowParts(type.bits, [&](auto load) {
            use(FloatPolicy<RuntimeFormat, decltype(load)>{type.format, load});
        });
    return true;
}

} // namespace forkpoint::kernels
