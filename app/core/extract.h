// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/tensor_source.h"

#include <string>

namespace forkpoint {

enum class ExtractFormat {
    Raw, ///< the logical stream: row-major, little-endian
    Npy, ///< the same behind a .npy 1.0 header; types numpy lacks become void ("<V2")
};

/// Writes one tensor to a file, or to standard output where `file` is empty, in bounded memory.
Status extractTensor(const TensorSource &source, const std::string &name, ExtractFormat format,
                     const std::string &file);

} // namespace forkpoint
