// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/hdf5_description.h"
#include "loaders/loader.h"

#include <map>

namespace forkpoint {

/// Makes tensors of datasets: one of each, or one of each member of a compound type. A second name
/// of one dataset shares its storage.
class Hdf5Tensors
{
public:
    Hdf5Tensors(std::shared_ptr<const ByteSource> file, const OpenOptions &options,
                CheckpointBuilder &builder)
        : m_file(std::move(file)),
          m_options(options),
          m_builder(builder)
    {
    }

    void add(const Hdf5Dataset &dataset);

private:
    /// The bytes of a dataset, as if they were stored together.
    struct Bytes
    {
        std::shared_ptr<const ByteSource> source;
        std::uint64_t begin = 0;
    };

    void addField(const Hdf5Dataset &dataset, std::size_t number, const Result<Bytes> &bytes);
    void tellLargeChunks(const Hdf5Dataset &dataset);
    Result<Bytes> bytesOf(const Hdf5Dataset &dataset) const;
    Result<Extent> extentOf(const Hdf5Dataset &dataset, const Hdf5Field &field,
                            const TensorRef &tensor, const Bytes &bytes);
    void interpret(const Hdf5Dataset &dataset, const Hdf5Field &field, TensorRef &tensor);
    FileIndex fileIndex(const std::shared_ptr<const ByteSource> &source);

    std::shared_ptr<const ByteSource> m_file;
    const OpenOptions &m_options;
    CheckpointBuilder &m_builder;
    std::map<const ByteSource *, FileIndex> m_files;
    std::map<std::pair<std::uint64_t, std::size_t>, std::uint64_t>
        m_storages; ///< by object, member
};

} // namespace forkpoint
