// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/platform_directory.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace forkpoint {

namespace {

Error systemError(int number, const std::string &file, std::string_view what)
{
    char buffer[256] = {};
    const char *const reason = strerror_r(number, buffer, sizeof buffer); // the GNU form
    const auto code = number == ENOENT ? ErrorCode::NotFound
        : number == ENOTDIR            ? ErrorCode::Refused
                                       : ErrorCode::Io;
    return {code, file, {}, std::string(what) + ": " + reason};
}

struct CloseDirectory
{
    void operator()(DIR *directory) const { ::closedir(directory); }
};
using Directory = std::unique_ptr<DIR, CloseDirectory>;

EntryKind kindOf(mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFREG: return EntryKind::File;
    case S_IFDIR: return EntryKind::Directory;
    case S_IFLNK: return EntryKind::Link;
    default: return EntryKind::Special;
    }
}

/// Looks at a link's target only where the kernel vouches that it lies inside the directory; where
/// it cannot (before Linux 5.6), no link is followed.
EntryKind resolveLink(int directory, const char *name)
{
    open_how how = {};
    how.flags = O_PATH | O_CLOEXEC;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
    const int descriptor = int(::syscall(SYS_openat2, directory, name, &how, sizeof how));
    if (descriptor < 0)
        return EntryKind::Link;
    struct stat status = {};
    const bool isFile = ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
    ::close(descriptor);
    return isFile ? EntryKind::LinkToFile : EntryKind::Link;
}

EntryKind examine(int directory, const dirent &entry)
{
    switch (entry.d_type) {
    case DT_REG: return EntryKind::File;
    case DT_DIR: return EntryKind::Directory;
    case DT_LNK: return resolveLink(directory, entry.d_name);
    case DT_UNKNOWN: break;
    default: return EntryKind::Special;
    }
    struct stat status = {};
    if (::fstatat(directory, entry.d_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
        return EntryKind::Special; // gone meanwhile: not something to open
    const EntryKind kind = kindOf(status.st_mode);
    return kind == EntryKind::Link ? resolveLink(directory, entry.d_name) : kind;
}

} // namespace

Result<DirectoryListing> listDirectory(const std::filesystem::path &directory,
                                       const std::string &displayName, std::size_t maxEntries)
{
    const Directory stream(::opendir(directory.c_str()));
    if (!stream)
        return systemError(errno, displayName, "cannot be listed");
    DirectoryListing listing;
    for (;;) {
        errno = 0;
        const dirent *const entry = ::readdir(stream.get());
        if (!entry && errno != 0)
            return systemError(errno, displayName, "cannot be listed");
        if (!entry)
            break;
        const std::string_view name = entry->d_name;
        if (name == "." || name == "..")
            continue;
        if (listing.entries.size() == maxEntries) {
            listing.complete = false;
            break;
        }
        listing.entries.push_back({std::string(name), examine(::dirfd(stream.get()), *entry)});
    }
    std::sort(listing.entries.begin(), listing.entries.end(),
              [](const auto &left, const auto &right) { return left.name < right.name; });
    return listing;
}

Result<bool> isDirectory(const std::filesystem::path &path, const std::string &displayName)
{
    struct stat status = {};
    if (::stat(path.c_str(), &status) != 0)
        return systemError(errno, displayName, "cannot be opened");
    return S_ISDIR(status.st_mode);
}

} // namespace forkpoint
