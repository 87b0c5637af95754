// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/h5worker/hdf5_handle.h"
#include "model/bytes.h"
#include "model/result.h"

#include <cstdint>
#include <string>

#include <hdf5.h>

namespace forkpoint {

/// Object and Region are the forms before HDF5 1.12; an element of an Any says itself what it is.
enum class ReferenceKind : std::uint8_t { Object, Region, Any, Unknown };

/// Of a type of references, however wide it is.
ReferenceKind referenceKind(const Hdf5Handle &type);
/// The address of the object that a reference to one names, as it is stored; 0 of an empty one.
hobj_ref_t objectAddress(ByteView reference);

/// Where a reference to an object leads: its path (listedPath() of app/h5worker/hdf5_names.h), "address N" of an
/// object without one, or "null reference" of an empty one.
std::string targetOf(hobj_ref_t reference, hid_t file);

/// The same as one of a list of them: paths in quotes, so that no path looks like two.
std::string listedTargetOf(hobj_ref_t reference, hid_t file);

/// Where a reference to a region leads, as a dataset stores it: the dataset as targetOf() says it, and the
/// elements ("/x [1:3, 2:4]"; toText() of app/h5worker/selection.h). Errors of global heaps and selections.
Result<std::string> regionOf(ByteView reference, hid_t file);

/// Where a reference of a kind of its own leads (HDF5 file format, "Reference (new)"): a path, a path and elements, or
/// a path and an attribute ("/x @ name"). Unsupported of those into other files.
Result<std::string> anyTargetOf(ByteView reference, hid_t file);

} // namespace forkpoint
