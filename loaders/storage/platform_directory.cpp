// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/storage/platform_directory.h"

#include "loaders/storage/platform_file.h"
#include "loaders/storage/storage_answers.h"

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

/// A directory as far as it was listed.
struct Listed
{
    Directory stream;
    DirectoryListing listing;
    bool ended = false;
};

/// Lists some more of it, so that a long directory is many calls and not one that takes long.
Status listMore(Listed &listed, const std::filesystem::path &directory, const std::string &name,
                std::size_t maxEntries)
{
    constexpr int Some = 1000;
    if (!listed.stream)
        listed.stream.reset(::opendir(directory.c_str()));
    if (!listed.stream)
        return systemError(errno, name, "cannot be listed");
    for (int i = 0; i < Some; ++i) {
        errno = 0;
        const dirent *const entry = ::readdir(listed.stream.get());
        if (!entry && errno != 0)
            return systemError(errno, name, "cannot be listed");
        listed.ended = !entry;
        if (!entry)
            return {};
        const std::string_view found = entry->d_name;
        if (found == "." || found == "..")
            continue;
        listed.listing.complete = listed.listing.entries.size() < maxEntries;
        listed.ended = !listed.listing.complete;
        if (listed.ended)
            return {};
        listed.listing.entries.push_back(
            {std::string(found), examine(directory, ::dirfd(listed.stream.get()), *entry)});
    }
    return {};
}

} // namespace

Result<DirectoryListing> listDirectory(const std::filesystem::path &directory,
                                       const std::string &displayName, std::size_t maxEntries)
{
    const auto listed = std::make_shared<Listed>();
    const auto more = [=] { return listMore(*listed, directory, displayName, maxEntries); };
    while (!listed->ended)
        FP_CHECK(askFolder<Status>(directory, displayName, "listing it", more));
    std::sort(listed->listing.entries.begin(), listed->listing.entries.end(),
              [](const auto &left, const auto &right) { return left.name < right.name; });
    return std::move(listed->listing);
}

Result<bool> isDirectory(const std::filesystem::path &path, const std::string &displayName)
{
    const auto ask = [=]() -> Result<bool> {
        struct stat status = {};
        if (::stat(path.c_str(), &status) != 0)
            return systemError(errno, displayName, "cannot be opened");
        return S_ISDIR(status.st_mode);
    };
    return askFolder<Result<bool>>(path, displayName, "asking for it", ask);
}

} // namespace forkpoint
