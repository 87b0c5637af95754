// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/hdf5/hdf5_bytes.h"
#include "loaders/hdf5/hdf5_description.h"
#include "loaders/hdf5/hdf5_sources.h"
#include "loaders/hdf5/hdf5_virtual_datasets.h"
#include "loaders/loader.h"

#include <functional>
#include <map>

namespace forkpoint {

/// Makes tensors of datasets: one of each, or one of each member of a compound type. A second name
/// of one dataset shares its storage.
class Hdf5Tensors
{
public:
    /// `contents`: of the file, among which virtual datasets may find their sources.
    Hdf5Tensors(std::shared_ptr<const ByteSource> file, const Hdf5Contents &contents,
                const OpenOptions &options, std::stop_token stop, CheckpointBuilder &builder);

    /// Gives back what virtual datasets show that is no tensor: values, and problems of such.
    Hdf5Contents addAll();

private:
    /// Where the elements of a tensor of that shape are.
    using FindExtents = std::function<Result<std::vector<Extent>>(const Shape &)>;

    void add(const Hdf5Dataset &dataset);
    void addVirtual(const Hdf5Dataset &dataset);
    void addField(const Hdf5Dataset &dataset, std::size_t number,
                  const std::vector<std::uint64_t> &dims, const FindExtents &find);
    void showTexts(const Hdf5Dataset &dataset, const std::vector<std::string> &member,
                   const std::vector<std::uint64_t> &dims);
    void tellMissing(const Hdf5Dataset &dataset, const std::vector<std::string> &missing);
    void tellLargeChunks(const Hdf5Dataset &dataset);
    void interpret(const Hdf5Dataset &dataset, const Hdf5Field &field, TensorRef &tensor);

    std::shared_ptr<const ByteSource> m_file;
    const Hdf5Contents &m_contents;
    const OpenOptions &m_options;
    CheckpointBuilder &m_builder;
    Hdf5Bytes m_bytes;
    Hdf5Sources m_sources;
    Hdf5VirtualDatasets m_virtual;
    Hdf5Contents m_shown;
    std::map<std::pair<std::uint64_t, std::size_t>, std::uint64_t>
        m_storages; ///< by object, member
};

} // namespace forkpoint
