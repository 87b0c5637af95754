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
    /// `contents`: of the file, among which virtual datasets may find their sources.
    Hdf5Tensors(std::shared_ptr<const ByteSource> file, const Hdf5Contents &contents,
                const OpenOptions &options, std::stop_token stop, CheckpointBuilder &builder)
        : m_file(std::move(file)),
          m_contents(contents),
          m_options(options),
          m_stop(std::move(stop)),
          m_builder(builder)
    {
    }

    void addAll();

private:
    /// The bytes of a dataset, as if they were stored together.
    struct Bytes
    {
        std::shared_ptr<const ByteSource> source;
        std::uint64_t begin = 0;
    };

    /// Another file that virtual datasets show.
    struct Other
    {
        std::shared_ptr<const ByteSource> file;
        Hdf5Contents contents;
    };
    /// A dataset that a virtual one shows, and the file that it lies in.
    struct Source
    {
        const Hdf5Dataset *dataset = nullptr;
        std::shared_ptr<const ByteSource> file;
    };

    void add(const Hdf5Dataset &dataset);
    void addField(const Hdf5Dataset &dataset, std::size_t number, const Result<Bytes> &bytes);
    Result<std::vector<Extent>> virtualExtents(const Hdf5Dataset &dataset, std::size_t number,
                                               const TensorRef &tensor);
    Result<Source> sourceOf(const Hdf5Mapping &mapping);
    Result<const Other *> otherFile(const std::string &name);
    void tellLargeChunks(const Hdf5Dataset &dataset);
    Result<Bytes> bytesOf(const Hdf5Dataset &dataset,
                          const std::shared_ptr<const ByteSource> &file) const;
    Result<Extent> extentOf(const Hdf5Dataset &dataset, const Hdf5Field &field,
                            const TensorRef &tensor, const Bytes &bytes);
    void interpret(const Hdf5Dataset &dataset, const Hdf5Field &field, TensorRef &tensor);
    FileIndex fileIndex(const std::shared_ptr<const ByteSource> &source);

    std::shared_ptr<const ByteSource> m_file;
    const Hdf5Contents &m_contents;
    const OpenOptions &m_options;
    std::stop_token m_stop;
    CheckpointBuilder &m_builder;
    std::map<std::string, Result<Other>> m_others; ///< by the name that mappings use
    std::map<const ByteSource *, FileIndex> m_files;
    std::map<std::pair<std::uint64_t, std::size_t>, std::uint64_t>
        m_storages; ///< by object, member
};

} // namespace forkpoint
