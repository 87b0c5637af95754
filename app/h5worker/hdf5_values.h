// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/h5worker/hdf5_handle.h"
#include "app/h5worker/worker_link.h"

namespace forkpoint {

using Hdf5Path = std::vector<std::string>;

/// Tells the values of all attributes of an object.
void tellAttributes(WorkerLink &link, const Hdf5Handle &object, const Hdf5Path &path);

/// Tells the elements of a dataset of text, references or variable-length lists.
void tellElements(WorkerLink &link, const Hdf5Handle &dataset, const Hdf5Path &path);

/// Tells the text in a member of a dataset's compound type, below the names that lead to it.
void tellMemberText(WorkerLink &link, const Hdf5Handle &dataset, const Hdf5Path &path,
                    const std::vector<std::string> &member);

/// Tells a committed datatype.
void tellType(WorkerLink &link, const Hdf5Handle &type, const Hdf5Path &path);

/// The text of a scalar attribute; empty where there is none.
std::string textAttribute(const Hdf5Handle &object, const char *name);

} // namespace forkpoint
