// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/h5worker/hdf5_elements.h"
#include "app/h5worker/hdf5_handle.h"
#include "app/h5worker/worker_link.h"

namespace forkpoint {

using Hdf5Path = std::vector<std::string>;

/// Tells the values of all attributes of an object.
void tellAttributes(WorkerLink &link, const Hdf5Handle &object, const Hdf5Path &path);

/// Tells the elements of a dataset that are text, references or variable-length lists, or a member of all of
/// them: of that type, as `read` has them.
void tellElements(WorkerLink &link, const Hdf5Handle &dataset, Hdf5Handle type,
                  const Hdf5Path &path, Hdf5Reader read);

/// Tells a committed datatype.
void tellType(WorkerLink &link, const Hdf5Handle &type, const Hdf5Path &path);

/// The text of a scalar attribute; empty where there is none.
std::string textAttribute(const Hdf5Handle &object, const char *name);

} // namespace forkpoint
