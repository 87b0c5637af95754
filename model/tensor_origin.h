// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace forkpoint {

/// A file in one state. The system sets the changed time whenever bytes are written, and nobody can
/// set it back, as anybody can the modified time.
struct FileState
{
    std::string path; ///< absolute, for people; no part of the state
    std::uint64_t device = 0, inode = 0, size = 0;
    std::int64_t modifiedSeconds = 0, modifiedNanoseconds = 0;
    std::int64_t changedSeconds = 0, changedNanoseconds = 0;
    /// Both times lay at least 2 s back when the file was opened: a change made after that cannot
    /// bear the same ones, however coarse the clock of the file system is.
    bool settled = false;

    /// A new hard link or other rights change no byte, but do set the changed time.
    bool sameButChangedTime(const FileState &other) const
    {
        return device == other.device && inode == other.inode && size == other.size
            && modifiedSeconds == other.modifiedSeconds
            && modifiedNanoseconds == other.modifiedNanoseconds;
    }
    bool sameState(const FileState &other) const
    {
        return sameButChangedTime(other) && changedSeconds == other.changedSeconds
            && changedNanoseconds == other.changedNanoseconds;
    }
};

/// Where the bytes of a tensor come from. Equal states of the files, in order, and equal layouts
/// are equal logical bytes.
struct TensorOrigin
{
    std::vector<std::shared_ptr<const FileState>> files; ///< without repetition
    std::string layout; ///< which bytes of them, in which order and of which type
};

} // namespace forkpoint
