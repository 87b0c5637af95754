// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/arrays/numpy_dtype.h"
#include "loaders/loader.h"

namespace forkpoint {

/// Header of one .npy array (numpy/lib/_format_impl.py), versions 1.0, 2.0 and 3.0.
struct NpyHeader
{
    NumpyDescription type;
    bool fortran = false;
    Shape shape;
    std::uint64_t dataOffset = 0;
    std::uint64_t dataBytes = 0; ///< that the shape needs; checked against 64 bits, not the file
};

bool hasNpyMagic(ByteView head);

Result<NpyHeader> readNpyHeader(const ByteSource &source);

/// The array as a tensor: its path, name and place in the catalogue are the caller's. Reports data
/// that end early as an error, and bytes behind the array and guessed types as diagnostics.
/// `label` is the name by which overrides and names that end in a type ("w.bfloat16") are matched.
Result<TensorRef> npyTensor(const std::shared_ptr<const ByteSource> &source,
                            const std::string &label, const OpenOptions &options,
                            CheckpointBuilder &builder);

} // namespace forkpoint
