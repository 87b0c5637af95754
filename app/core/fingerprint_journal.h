// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/fingerprinter.h"
#include "app/core/index_entry.h"

#include <cstdio>
#include <map>
#include <memory>
#include <string>

namespace forkpoint {

/// What was fingerprinted for a fingerprint file that is not complete yet, in a file beside it
/// (FILE.resume). Each tensor is appended when it is done; one that was being written when the
/// process died is not believed. An earlier record counts only while its files are in the same,
/// settled state, as in the fingerprint index.
class FileJournal final : public FingerprintJournal
{
public:
    /// Of the fingerprint file `path`; with `believe` false nothing of an earlier run counts.
    static Result<std::unique_ptr<FileJournal>> open(const std::string &path, std::uint32_t level,
                                                     bool believe, const ComputeBackend &backend);
    static std::string pathBeside(const std::string &path) { return path + ".resume"; }

    std::optional<RecordedDigests> find(const TensorSource &source, TensorIndex tensor) override;
    void add(const TensorSource &source, TensorIndex tensor,
             const RecordedDigests &digests) override;
    /// The fingerprint file is complete: removes the journal.
    void remove();

private:
    struct CloseFile
    {
        void operator()(std::FILE *file) const { std::fclose(file); }
    };

    FileJournal(std::string path, std::uint32_t level, const ComputeBackend &backend)
        : m_path(std::move(path)),
          m_level(level),
          m_backend(backend)
    {
    }
    std::optional<Digest128> keyOf(const TensorSource &source, TensorIndex tensor) const;
    std::uint64_t readRecords(ByteView bytes);

    std::string m_path;
    std::uint32_t m_level;
    const ComputeBackend &m_backend;
    std::map<Digest128, std::vector<std::byte>> m_earlier; ///< encoded digests, by key
    std::unique_ptr<std::FILE, CloseFile> m_file;
};

} // namespace forkpoint
