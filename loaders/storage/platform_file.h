// SPDX-License-Identifier: GPL-3.0-or-later
// The system calls behind FileSource: opening what a user or a format named, and nothing else.
#pragma once

#include "loaders/storage/read_watch.h"
#include "model/bytes.h"
#include "model/result.h"
#include "model/tensor_origin.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>

namespace forkpoint {

/// An open file, closed when it goes.
class Descriptor
{
public:
    explicit Descriptor(int number = -1) : m_number(number) {}
    Descriptor(Descriptor &&other) noexcept : m_number(std::exchange(other.m_number, -1)) {}
    Descriptor &operator=(Descriptor &&other) noexcept
    {
        std::swap(m_number, other.m_number);
        return *this;
    }
    ~Descriptor();

    int get() const { return m_number; }
    int release() { return std::exchange(m_number, -1); }
    bool valid() const { return m_number >= 0; }

private:
    int m_number;
};

/// A path that the user named; symbolic links are followed.
Result<Descriptor> openNamed(const std::filesystem::path &path, const std::string &displayName);

/// A file inside `directory` that a format names: `relative` must be a relative path without "..",
/// and nothing on the way may be a symbolic link that leaves `directory` (openat2 with
/// RESOLVE_BENEATH where the kernel has it, a component walk with O_NOFOLLOW else); the links of a
/// Hugging Face cache (hub_cache.h) are the exception. Refused otherwise.
Result<Descriptor> openBeneath(const std::filesystem::path &directory, const std::string &relative,
                               const std::string &displayName);

/// Which file it is and in what state, without its path. Refused where it is no regular file.
Result<FileState> identify(const Descriptor &file, const std::string &displayName);

/// Fills all of `out` from `offset`; Io, or Changed where the file ends before. `stalled`: see WaitingForRead;
/// nullptr: the thread waits for as long as it takes.
Status readAt(const Descriptor &file, std::uint64_t offset, MutableByteView out,
              const std::string &displayName, const Stalled &stalled = nullptr);

/// Lets the system fetch a range into its cache ahead of readAt().
void fetchAhead(const Descriptor &file, std::uint64_t offset, std::uint64_t size);

/// Files that this process may keep open at once: half of what the system grants it.
std::size_t openFilesGranted();

} // namespace forkpoint
