// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/storage/zip_reader.h"
#include "loaders/torch/pickle_tree.h"
#include "loaders/torch/torch_storage.h"

#include <memory>
#include <string>
#include <unordered_map>

namespace forkpoint {

/// The records of a torch zip archive: names without the archive's one directory, CRCs checked once
/// within a budget, stored records read where they lie in the file.
class TorchRecords
{
public:
    TorchRecords(ZipArchive archive, std::string directory, const TreeContext &context);

    const ZipArchive &archive() const { return m_archive; }
    const std::string &directory() const { return m_directory; } ///< ends in "/", or is empty
    const ZipEntry *find(std::string_view record) const;
    /// The bytes of a small record (a pickle, a JSON document).
    Result<std::vector<std::byte>> read(std::string_view record, std::uint64_t cap);
    /// A record that holds a storage; the problem says why it must not be read.
    StorageSlot storage(std::string_view record);
    ByteOrder order = ByteOrder::Little;

private:
    std::optional<Error> problemOf(const ZipEntry &entry, std::string_view record);
    std::optional<Error> checkCrc(const ZipEntry &entry);

    ZipArchive m_archive;
    std::string m_directory;
    const TreeContext &m_context;
    FileIndex m_file = 0;
    std::unordered_map<std::string, StorageSlot> m_slots;
};

/// Storages of one pickle of the archive, under `folder` ("data/", "constants/").
class RecordTable final : public StorageTable
{
public:
    /// `mayBeEmpty`: records of no bytes stand for storages that the writer left out.
    RecordTable(TorchRecords &records, std::string folder, bool mayBeEmpty,
                const TreeContext &context)
        : m_records(records),
          m_folder(std::move(folder)),
          m_mayBeEmpty(mayBeEmpty),
          m_context(context)
    {
    }
    StorageSlot slot(const PickleGraph &graph, NodeId persistentId) override;

private:
    TorchRecords &m_records;
    std::string m_folder;
    bool m_mayBeEmpty;
    const TreeContext &m_context;
    std::unordered_map<std::string, bool> m_saidLonger;
};

/// Lists a torch.export archive (.pt2): weights at the root, constants and sample inputs below.
Status listTorchExport(TorchRecords &records, const TreeContext &context);
bool isTorchExport(const TorchRecords &records);

} // namespace forkpoint
