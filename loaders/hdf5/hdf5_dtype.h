// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/hdf5/hdf5_description.h"
#include "model/dtype.h"

namespace forkpoint {

struct Hdf5DType
{
    DType dtype;
    std::string note; ///< where the dtype does not say everything: "a 12-bit integer in 2 bytes"
};

/// The element type of stored bits; opaque, with a note, where this program knows no such number.
Hdf5DType dtypeOf(const Hdf5Scalar &scalar);

} // namespace forkpoint
