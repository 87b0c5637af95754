// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/torch/python_literal.h"
#include "model/dtype.h"
#include "model/tensor_ref.h"

#include <string_view>

namespace forkpoint {

/// What a numpy type description ("descr" of a .npy header) means for us.
struct NumpyDescription
{
    DType dtype;
    ByteOrder order = ByteOrder::Little; ///< Little also for opaque types: bytes as stored
    std::uint64_t bytes = 0;             ///< of one element
};

/// "<f4", "float32" (of this machine's order, which is little-endian), "|b1", ">c16", "|S5", "<U3", "<M8[ns]", "|V2". Numbers that torch has get its names;
/// text, dates and long doubles keep numpy's spelling and their stored bytes; void types are
/// "void16" and so on. "f1", which ml_dtypes writes for float8_e5m2 and numpy does not know, is
/// void8. Object arrays ("|O") are Refused: their payload is a pickle.
Result<NumpyDescription> numpyDescription(std::string_view descr);

/// The same for the literal of a header: text, or a list of (name, descr[, shape]) for structured
/// types, whose elements are opaque and keep numpy's spelling.
Result<NumpyDescription> numpyDescription(const PythonLiteral &descr);

} // namespace forkpoint
