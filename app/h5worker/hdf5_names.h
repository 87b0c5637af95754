// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include <hdf5.h>

namespace forkpoint {

/// The path under which tellFile() lists the object at an address first, whatever other hard links
/// lead to it: it follows from the names in the file alone, as what libhdf5 answers does not. Empty
/// of an object that no group lists. The first call takes a walk over the groups of the file, of
/// which this process opens one alone.
std::string listedPath(haddr_t address, hid_t file);

} // namespace forkpoint
