// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/hdf5/hdf5_description.h"
#include "loaders/loader.h"

#include <map>
#include <memory>
#include <optional>

namespace forkpoint {

/// Where the elements of datasets that are not virtual lie.
class Hdf5Bytes
{
public:
    /// The bytes of a dataset, as if they were stored together.
    struct Stored
    {
        std::shared_ptr<const ByteSource> source;
        std::uint64_t begin = 0;
    };

    /// `name`: of the file that was opened, for errors.
    Hdf5Bytes(std::string name, CheckpointBuilder &builder)
        : m_name(std::move(name)),
          m_builder(builder)
    {
    }

    /// Errors of what cannot be read of it, or must not.
    static Result<Stored> storedBytes(const Hdf5Dataset &dataset,
                                      const std::shared_ptr<const ByteSource> &file);
    /// All elements of a member, as a tensor of that shape.
    Result<Extent> extentOf(const Hdf5Dataset &dataset, const Hdf5Field &field, const Shape &shape,
                            const Stored &bytes);

private:
    FileIndex fileIndex(const std::shared_ptr<const ByteSource> &source);

    std::string m_name;
    CheckpointBuilder &m_builder;
    std::map<const ByteSource *, FileIndex> m_files;
};

/// Of a tensor that is a member of elements: the dataset's, then those of arrays.
Shape shapeOf(const std::vector<std::uint64_t> &dims, const Hdf5Field &field);

} // namespace forkpoint
