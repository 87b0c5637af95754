// SPDX-License-Identifier: GPL-3.0-or-later
#include "gpu/part_type.h"

namespace forkpoint {

namespace {

kernels::RuntimeFormat toFormat(const FloatLayout &layout)
{
    static_assert(int(SpecialValues::ScaleNan) == int(kernels::Special::ScaleNan));
    static_assert(int(SpecialValues::Fnuz) == int(kernels::Special::Fnuz));
    return {layout.exponentBits, layout.mantissaBits, layout.bias,
            static_cast<kernels::Special>(layout.special), layout.hasSign};
}

} // namespace

std::optional<kernels::PartType> partType(const DType &dtype)
{
    kernels::PartType type;
    type.bits = static_cast<int>(dtype.kind == ElementKind::Complex ? dtype.bits / 2 : dtype.bits);
    if (dtype.isFloating())
        type.format = toFormat(dtype.layout);
    else if (!dtype.isInteger())
        return std::nullopt;
    else if (dtype.kind == ElementKind::Bool)
        type.kind = kernels::PartKind::Boolean;
    else
        type.kind = dtype.kind == ElementKind::SignedInt ? kernels::PartKind::SignedInteger
                                                         : kernels::PartKind::UnsignedInteger;
    return type;
}

} // namespace forkpoint
