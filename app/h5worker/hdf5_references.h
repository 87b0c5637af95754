// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include <hdf5.h>

namespace forkpoint {

/// The path by which libhdf5 knows an object; empty where it has none.
std::string nameOfObject(hid_t object);

/// Where a reference to an object leads: its path, or "address N" of an object without one and of
/// an empty reference (0). Finding a path takes a walk through the file; paths are kept, so that
/// many references to one object take one. This process opens one file alone.
std::string targetOf(hobj_ref_t reference, hid_t file);

/// The same as one of a list of them: paths in quotes, so that no path looks like two.
std::string listedTargetOf(hobj_ref_t reference, hid_t file);

} // namespace forkpoint
