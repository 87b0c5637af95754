// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/storage/byte_source.h"
#include "loaders/storage/platform_file.h"

#include <optional>

namespace forkpoint {

/// A regular file, read with pread; never mapped. Opened without following what a format must not
/// follow: a FIFO, a device or a directory is refused, and nothing blocks.
///
/// A checkpoint may have more files than a process may keep open. At most limits::OpenFiles stay
/// open (fewer where the system grants fewer); one that was closed meanwhile is opened again where
/// it was, and must then be the same file in the same state: Changed otherwise.
class FileSource final : public ByteSource
{
public:
    /// `displayName` goes into errors. A symbolic link is followed (the user named the path).
    static Result<std::shared_ptr<const FileSource>> open(const std::filesystem::path &path,
                                                          std::string displayName);
    /// A file inside `directory` that a format names; see openBeneath of platform_file.h.
    static Result<std::shared_ptr<const FileSource>>
    openBeneath(const std::filesystem::path &directory, const std::string &relative,
                std::string displayName);
    ~FileSource() override;
    /// A file that this one names, relative to its own folder, inside the directory that was opened.
    /// Refused where the user named this file alone.
    Result<std::shared_ptr<const FileSource>> openBeside(const std::string &relative,
                                                         std::string displayName) const;

    const std::string &name() const override { return m_name; }
    std::uint64_t size() const override { return m_state->size; }
    /// Io where it, or opening the file again, takes longer than patience(), and at once where an
    /// earlier read was given up: a thread that mayBeGivenUp() waits itself (loaders/storage/read_watch.h), for
    /// every other one the read is done aside (loaders/storage/call_aside.h).
    Status read(std::uint64_t offset, MutableByteView out) const override;
    void willRead(std::uint64_t offset, std::uint64_t size) const override;
    Status unchanged() const override;
    /// The state in which it was opened.
    std::optional<ByteOrigin> origin() const override { return ByteOrigin{m_state, {}}; }

private:
    struct Location
    {
        std::filesystem::path directory;     ///< or the path itself, where the user named it
        std::optional<std::string> relative; ///< what a format named
    };

    FileSource(Location location, std::string name)
        : m_location(std::move(location)),
          m_name(std::move(name))
    {
    }
    static Result<std::shared_ptr<const FileSource>> openAt(Location location, std::string name);
    struct Opened;

    std::filesystem::path absolutePath() const;
    /// The file that is at its path now, opened anew.
    Result<Opened> openHere() const;
    Result<std::shared_ptr<const Descriptor>> descriptor() const;
    Status readAside(const std::shared_ptr<const Descriptor> &file, std::uint64_t offset,
                     MutableByteView out) const;
    Status isStill(const FileState &now) const;
    Status checkAnswers() const;

    Location m_location;
    std::string m_name;
    std::shared_ptr<const FileState> m_state; ///< when it was opened
    Stalled m_stalled;                        ///< shared by all that opened the same file
    Stalled m_folderStalled;                  ///< and by all that open something in its folder
};

} // namespace forkpoint
