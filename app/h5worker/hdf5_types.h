// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/h5worker/hdf5_handle.h"
#include "loaders/hdf5/hdf5_description.h"
#include "model/result.h"

namespace forkpoint {

/// What text or a list of any length takes in an element: its length, the address and the number in a
/// global heap.
std::uint64_t heapPlaceBytes();

/// The elements of a type as scalar fields at fixed places. Members that lie elsewhere in the file
/// (variable-length data, references) become opaque fields whose bits are addresses; `hasElsewhere`
/// says so.
struct Hdf5Layout
{
    std::vector<Hdf5Field> fields;
    std::uint64_t size = 0; ///< bytes of an element in the file, not in memory
    bool hasElsewhere = false;
};

/// Limit where a type nests too deep or has too many members.
Result<Hdf5Layout> layoutOf(const Hdf5Handle &type);

/// The type of a member of a dataset's compound type, by the names that lead to it.
Hdf5Handle memberTypeOf(const Hdf5Handle &dataset, const std::vector<std::string> &member);

/// The name of a member of a compound type.
std::string memberName(const Hdf5Handle &type, unsigned number);

/// Whether the elements are text, references or variable-length lists, which are shown as values.
bool isValueType(const Hdf5Handle &type);
/// Hdf5Value::Elements::type of such elements: equal where libhdf5 need convert nothing.
std::string valueTypeOf(const Hdf5Handle &type);

} // namespace forkpoint
