// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/h5worker/hdf5_handle.h"
#include "loaders/hdf5/hdf5_description.h"
#include "model/result.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace forkpoint {

/// Bytes of the elements of one attribute or dataset that are told as values; less than a frame.
constexpr std::uint64_t ElementBytes = 2u << 20;

/// Reads all elements, as that type in memory.
using Hdf5Reader = std::function<herr_t(hid_t memory, void *out)>;

/// The elements of an attribute, of a dataset or of a part of their elements. A part reads through
/// the holder it is a part of, which must outlive it.
struct Hdf5Holder
{
    Hdf5Handle type;
    std::uint64_t count = 0;
    bool isList = false; ///< of rank 1 and above
    Hdf5Reader read;
    std::optional<Hdf5Value::Elements> dataset = {}; ///< whose elements these are, as they are
};

/// A member of elements of a compound type.
Hdf5Holder memberOf(const Hdf5Holder &holder, unsigned number, const std::string &name);

/// The elements of elements of an array type; nothing where they cannot be told.
std::optional<Hdf5Holder> elementsOf(const Hdf5Holder &holder);

/// Elements that are no compounds and no arrays. What has no plain value is told by its bytes, so
/// that unlike ones never look alike; Unsupported where these only say where the content lies.
Result<decltype(Hdf5Value::data)> readElements(const Hdf5Holder &holder, hid_t file);

} // namespace forkpoint
