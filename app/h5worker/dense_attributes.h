// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace forkpoint {

/// Where the attributes of an object are that has too many for its header: HDF5 file format,
/// "Attribute Info Message".
struct DenseAttributes
{
    std::uint64_t heap = ~std::uint64_t(0); ///< address of the fractal heap that holds the messages
    std::uint64_t names = ~std::uint64_t(0); ///< address of the B-tree that lists them
};

/// Shows libhdf5 the datatypes of these attributes in the versions that it knows, as
/// adaptNewerHeader() does of those in a header. What is damaged is left to libhdf5.
void adaptDenseAttributes(const DenseAttributes &attributes);

} // namespace forkpoint
