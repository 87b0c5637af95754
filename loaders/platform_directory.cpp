// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/platform_directory.h"

#include "loaders/platform_file.h"

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

/// A link that FileSource would follow. The kernel vouches for those inside the directory without
/// opening anything; the others are few, so opening them costs nothing.
EntryKind resolveLink(const std::filesystem::path &path, int directory, const char *name)
{
    open_how how = {};
    how.flags = O_PATH | O_CLOEXEC;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
    const Descriptor inside(int(::syscall(SYS_openat2, directory, name, &how, sizeof how)));
    struct stat status = {};
    if (inside.valid()) {
        const bool isFile = ::fstat(inside.get(), &status) == 0 && S_ISREG(status.st_mode);
        return isFile ? EntryKind::LinkToFile : EntryKind::Link;
    }
    const auto opened = openBeneath(path, name, name);
    return opened.ok() && identify(*opened, name).ok() ? EntryKind::LinkToFile : EntryKind::Link;
}

EntryKind examine(const std::filesystem::path &path, int directory, const dirent &entry)
{
    switch (entry.d_type) {
    case DT_REG: return EntryKind::File;
    case DT_DIR: return EntryKind::Directory;
    case DT_LNK: return resolveLink(path, directory, entry.d_name);
    case DT_UNKNOWN: break;
    default: return EntryKind::Special;
    }
    struct stat status = {};
    if (::fstatat(directory, entry.d_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
        return EntryKind::Special; // gone meanwhile: not something to open
    const EntryKind kind = kindOf(status.st_mode);
    return kind == EntryKind::Link ? resolveLink(path, directory, entry.d_name) : kind;
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
        listing.entries.push_back(
            {std::string(name), examine(directory, ::dirfd(stream.get()), *entry)});
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
