// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/bytes.h"

#include <cstddef>
#include <vector>

namespace forkpoint {

/// Where an encoded datatype (HDF5 file format, "Datatype Message") says version 4 or 5: its own byte
/// and those of the types in it. These are version 3 but for the complex numbers of 2.0, and for the kinds of
/// references since 1.12, which libhdf5 takes as they are; a type with the former has no such places that count.
std::vector<std::size_t> newerDatatypeVersions(ByteView datatype);

/// The same of the datatype in an attribute (HDF5 file format, "Attribute Message"), of which
/// the end may lack. A datatype that others share has no such places.
std::vector<std::size_t> newerAttributeVersions(ByteView message);

/// The byte that says version 3 of what it said another one of.
std::byte inKnownVersion(std::byte version);

} // namespace forkpoint
