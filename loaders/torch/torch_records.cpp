// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/torch/torch_records.h"

namespace forkpoint {

namespace {

/// Bytes of records whose CRCs are checked at opening; what lies beyond is checked by whoever
/// reads everything anyway.
constexpr std::uint64_t CrcBytes = 64u << 20;

} // namespace

TorchRecords::TorchRecords(ZipArchive archive, std::string directory, const TreeContext &context)
    : m_archive(std::move(archive)),
      m_directory(std::move(directory)),
      m_context(context),
      m_file(context.builder.addFile(m_archive.source()))
{
}

const ZipEntry *TorchRecords::find(std::string_view record) const
{
    return m_archive.find(m_directory + std::string(record));
}

std::optional<Error> TorchRecords::checkCrc(const ZipEntry &entry)
{
    const auto total = checkedAdd(m_context.budget->crcBytes, entry.size);
    if (!total || *total > CrcBytes)
        return std::nullopt;
    m_context.budget->crcBytes = *total;
    const Status status = m_archive.checkCrc(entry, m_context.stop);
    if (status.ok())
        return std::nullopt;
    if (status.error().code != ErrorCode::Mismatch)
        return status.error();
    m_context.builder.addDiagnostic({Severity::Warning, "crc-mismatch", m_context.file,
                                     "record '" + escapeInvalidUtf8(entry.name) + "'",
                                     status.error().text});
    return std::nullopt;
}

std::optional<Error> TorchRecords::problemOf(const ZipEntry &entry, std::string_view record)
{
    if (entry.damage)
        return entry.damage;
    if (m_archive.isRepeated(entry.name))
        return Error{ErrorCode::Mismatch,
                     {},
                     {},
                     "the archive holds record '" + std::string(record) + "' more than once"};
    return checkCrc(entry);
}

Result<std::vector<std::byte>> TorchRecords::read(std::string_view record, std::uint64_t cap)
{
    const ZipEntry *entry = find(record);
    if (!entry)
        return Error{
            ErrorCode::NotFound, m_context.file, {}, "no record '" + std::string(record) + "'"};
    if (auto problem = problemOf(*entry, record))
        return std::move(*problem).atPlace("record '" + std::string(record) + "'");
    return m_archive.readEntry(*entry, cap);
}

StorageSlot TorchRecords::storage(std::string_view record)
{
    const auto seen = m_slots.find(std::string(record));
    if (seen != m_slots.end())
        return seen->second;
    StorageSlot slot;
    slot.order = order;
    slot.identity = m_context.builder.newStorage();
    const ZipEntry *entry = find(record);
    if (!entry)
        slot.problem = Error{ErrorCode::NotFound,
                             {},
                             {},
                             "no record '" + escapeInvalidUtf8(record.substr(0, 80)) + "'"};
    else
        slot.problem = problemOf(*entry, record);
    if (!slot.problem && entry->method == 0 && entry->compressedSize == entry->size) {
        slot.file = m_file;
        slot.offset = entry->dataOffset;
        slot.length = entry->size;
    } else if (!slot.problem) {
        auto decoded = m_archive.openEntry(*entry);
        if (decoded.ok()) {
            slot.length = decoded.value()->size();
            slot.file = m_context.builder.addFile(std::move(decoded).value());
        } else {
            slot.problem = decoded.error();
        }
    }
    m_slots.emplace(std::string(record), slot);
    return slot;
}

StorageSlot RecordTable::slot(const PickleGraph &graph, NodeId persistentId)
{
    const auto id = storageId(graph, persistentId);
    if (!id.ok()) {
        StorageSlot slot;
        slot.problem = id.error();
        return slot;
    }
    StorageSlot slot = m_records.storage(m_folder + id.value().key);
    slot.held = id.value().held;
    if (slot.problem)
        return slot;
    slot.leftOut = m_mayBeEmpty && slot.length == 0 && id.value().bytes > 0;
    if (slot.leftOut)
        return slot;
    if (id.value().bytes > slot.length) {
        slot.problem = Error{ErrorCode::Mismatch,
                             {},
                             {},
                             "its storage should have " + std::to_string(id.value().bytes)
                                 + " bytes, its record has " + std::to_string(slot.length)};
    } else if (id.value().bytes < slot.length
               && !std::exchange(m_saidLonger[id.value().key], true)) {
        m_context.builder.addDiagnostic(
            {Severity::Error, "mismatch", m_context.file,
             "record '" + m_folder + escapeInvalidUtf8(id.value().key) + "'",
             "has " + std::to_string(slot.length) + " bytes, the pickle announces "
                 + std::to_string(id.value().bytes) + "; the rest is not read"});
        m_context.builder.setIncomplete();
        slot.length = id.value().bytes;
    }
    return slot;
}

} // namespace forkpoint
