// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/storage/platform_file.h"

#include "loaders/storage/hub_cache.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace forkpoint {

namespace {

// O_NONBLOCK: opening a FIFO must not wait for its writer; it means nothing for regular files.
constexpr int OpenFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

// Linux transfers at most 2^31 - 4096 bytes a call; smaller requests are also kinder to others, and a slow
// link must get through one before its file is given up.
constexpr std::size_t MaxTransfer = std::size_t(1) << 24;

// Below the pieces of tensors, which are 256 KiB and more.
constexpr std::size_t OwnBytes = std::size_t(1) << 18;

std::string systemText(int number)
{
    char buffer[256] = {};
    return strerror_r(number, buffer, sizeof buffer); // the GNU form, thread-safe
}

Error systemError(int number, const std::string &file, std::string_view what)
{
    const auto code = number == ENOENT || number == ENOTDIR ? ErrorCode::NotFound : ErrorCode::Io;
    return {code, file, {}, std::string(what) + ": " + systemText(number)};
}

int openRetrying(int directory, const char *path, int flags)
{
    int result = -1;
    do {
        result = ::openat(directory, path, flags);
    } while (result < 0 && errno == EINTR);
    return result;
}

Error escapes(const std::string &file, std::string_view why)
{
    return {ErrorCode::Refused, file, {}, "must lie inside its directory, " + std::string(why)};
}

/// The components of a relative path, or the reason why it must not be opened.
Result<std::vector<std::string>> componentsOf(const std::string &relative, const std::string &file)
{
    if (relative.empty() || relative.front() == '/')
        return escapes(file, relative.empty() ? "the path is empty" : "the path is absolute");
    if (relative.find('\0') != std::string::npos)
        return escapes(file, "the path holds a NUL");
    std::vector<std::string> components;
    for (std::size_t begin = 0; begin <= relative.size();) {
        const std::size_t end = std::min(relative.find('/', begin), relative.size());
        std::string component = relative.substr(begin, end - begin);
        if (component == "..")
            return escapes(file, "the path has '..'");
        if (!component.empty() && component != ".")
            components.push_back(std::move(component));
        begin = end + 1;
    }
    if (components.empty())
        return escapes(file, "the path names the directory itself");
    return components;
}

int openBeneathByKernel(int directory, const std::string &relative)
{
    open_how how = {};
    how.flags = std::uint64_t(OpenFlags);
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
    for (int attempt = 0;; ++attempt) {
        const long result = ::syscall(SYS_openat2, directory, relative.c_str(), &how, sizeof how);
        // EAGAIN: something was renamed on the way, and the kernel could not be sure.
        const bool again = result < 0 && (errno == EINTR || (errno == EAGAIN && attempt < 100));
        if (!again)
            return int(result);
    }
}

int openBeneathByWalk(int root, const std::vector<std::string> &components)
{
    Descriptor directory(openRetrying(root, ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
    for (std::size_t i = 0; directory.valid() && i + 1 < components.size(); ++i) {
        directory = Descriptor(openRetrying(directory.get(), components[i].c_str(),
                                            O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    }
    if (!directory.valid())
        return -1;
    return openRetrying(directory.get(), components.back().c_str(), OpenFlags | O_NOFOLLOW);
}

std::string_view kindOf(mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFDIR: return "a directory";
    case S_IFIFO: return "a FIFO";
    case S_IFSOCK: return "a socket";
    case S_IFCHR:
    case S_IFBLK: return "a device";
    default: return "something else";
    }
}

/// Also false of times in the future: the clock that set them is not ours.
bool isSettled(const struct stat &status)
{
    constexpr std::int64_t SettlingSeconds = 2;
    timespec now = {};
    if (::clock_gettime(CLOCK_REALTIME, &now) != 0)
        return false;
    const auto atLeastBack = [&](const timespec &time) {
        const std::int64_t seconds = std::int64_t(now.tv_sec) - std::int64_t(time.tv_sec);
        return seconds > SettlingSeconds
            || (seconds == SettlingSeconds && now.tv_nsec >= time.tv_nsec);
    };
    return atLeastBack(status.st_mtim) && atLeastBack(status.st_ctim);
}

/// The kernel's answer where it has one; errno says why not.
int openWithoutLeaving(int root, const std::string &relative,
                       const std::vector<std::string> &components)
{
    const int descriptor = openBeneathByKernel(root, relative);
    // EPERM: older container runtimes forbid system calls they do not know.
    if (descriptor < 0 && (errno == ENOSYS || errno == EPERM))
        return openBeneathByWalk(root, components);
    return descriptor;
}

} // namespace

Descriptor::~Descriptor()
{
    if (m_number >= 0)
        ::close(m_number);
}

Result<Descriptor> openNamed(const std::filesystem::path &path, const std::string &displayName)
{
    Descriptor file(openRetrying(AT_FDCWD, path.c_str(), OpenFlags));
    if (!file.valid())
        return systemError(errno, displayName, "cannot be opened");
    return file;
}

Result<Descriptor> openBeneath(const std::filesystem::path &directory, const std::string &relative,
                               const std::string &displayName)
{
    FP_TRY(const auto components, componentsOf(relative, displayName));
    const Descriptor root(
        openRetrying(AT_FDCWD, directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!root.valid())
        return systemError(errno, displayName, "its directory cannot be opened");
    Descriptor file(openWithoutLeaving(root.get(), relative, components));
    if (file.valid())
        return file;
    const int reason = errno;
    if (reason != EXDEV && reason != ELOOP)
        return systemError(reason, displayName, "cannot be opened");
    if (const auto blob = hubBlobOf(directory, relative))
        return openBeneath(blob->repository, blob->relative, displayName);
    return escapes(displayName, "a symbolic link leads out of it");
}

Result<FileState> identify(const Descriptor &file, const std::string &displayName)
{
    struct stat status = {};
    if (::fstat(file.get(), &status) != 0)
        return systemError(errno, displayName, "cannot be examined");
    if (!S_ISREG(status.st_mode)) {
        return Error{ErrorCode::Refused,
                     displayName,
                     {},
                     "must be a regular file, is " + std::string(kindOf(status.st_mode))};
    }
    FileState state;
    state.device = std::uint64_t(status.st_dev);
    state.inode = std::uint64_t(status.st_ino);
    state.size = std::uint64_t(status.st_size);
    state.modifiedSeconds = std::int64_t(status.st_mtim.tv_sec);
    state.modifiedNanoseconds = std::int64_t(status.st_mtim.tv_nsec);
    state.changedSeconds = std::int64_t(status.st_ctim.tv_sec);
    state.changedNanoseconds = std::int64_t(status.st_ctim.tv_nsec);
    state.settled = isSettled(status);
    return state;
}

namespace {

/// Nothing but the call itself: where the thread was given up meanwhile, nothing else is there any more.
ssize_t readOnce(int file, MutableByteView out, std::uint64_t offset, const Stalled &stalled)
{
    // A read that comes back late writes where it was told to. Large pieces are read into memory of the
    // thread itself; windows and lines into memory of others, who may be gone by then.
    static thread_local std::array<std::byte, OwnBytes> own;
    if (!stalled)
        return ::pread(file, out.data(), std::min(out.size(), MaxTransfer), off_t(offset));
    const bool isOwn = out.size() < OwnBytes;
    ssize_t got = 0;
    {
        const WaitingForRead waiting(stalled);
        got = ::pread(file, isOwn ? own.data() : out.data(), std::min(out.size(), MaxTransfer),
                      off_t(offset));
    }
    if (isOwn && got > 0)
        std::memcpy(out.data(), own.data(), std::size_t(got));
    return got;
}

} // namespace

Status readAt(const Descriptor &file, std::uint64_t offset, MutableByteView out,
              const std::string &displayName, const Stalled &stalled)
{
    while (!out.empty()) {
        const ssize_t got = readOnce(file.get(), out, offset, stalled);
        if (got < 0 && errno == EINTR)
            continue;
        const std::string place = "byte " + std::to_string(offset);
        if (got < 0)
            return systemError(errno, displayName, "cannot be read").atPlace(place);
        if (got == 0)
            return Error{ErrorCode::Changed, displayName, place, "ends here now"};
        offset += std::uint64_t(got);
        out = out.subspan(std::size_t(got));
    }
    return {};
}

void fetchAhead(const Descriptor &file, std::uint64_t offset, std::uint64_t size)
{
    static_cast<void>(::posix_fadvise(file.get(), off_t(offset), off_t(size), POSIX_FADV_WILLNEED));
}

std::size_t openFilesGranted()
{
    rlimit limit = {};
    constexpr std::size_t Usual = 1024, Least = 16;
    const bool known = ::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    return std::max(std::size_t(known ? limit.rlim_cur : Usual) / 2, Least);
}

} // namespace forkpoint
