// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/byte_source.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace forkpoint {

namespace {

// O_NONBLOCK: opening a FIFO must not wait for its writer; it means nothing for regular files.
constexpr int OpenFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

// Linux transfers at most 2^31 - 4096 bytes a call; smaller requests are also kinder to others.
constexpr std::size_t MaxTransfer = std::size_t(1) << 30;

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

/// Closes what was opened unless it is handed on.
class Descriptor
{
public:
    explicit Descriptor(int number) : m_number(number) {}
    Descriptor(const Descriptor &) = delete;
    Descriptor &operator=(const Descriptor &) = delete;
    ~Descriptor() { reset(-1); }

    int get() const { return m_number; }
    bool valid() const { return m_number >= 0; }
    int release() { return std::exchange(m_number, -1); }
    void reset(int number)
    {
        if (m_number >= 0)
            ::close(m_number);
        m_number = number;
    }

private:
    int m_number;
};

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
        directory.reset(openRetrying(directory.get(), components[i].c_str(),
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

Error pastEnd(const std::string &file, std::uint64_t offset, std::uint64_t count,
              std::uint64_t size)
{
    return {ErrorCode::Truncated, file, "byte " + std::to_string(offset),
            "needs " + std::to_string(count) + " bytes from here, ends at byte "
                + std::to_string(size)};
}

bool isInside(std::uint64_t offset, std::uint64_t count, std::uint64_t size)
{
    return offset <= size && count <= size - offset;
}

} // namespace

FileSource::FileSource(int descriptor, std::string name)
    : m_descriptor(descriptor),
      m_name(std::move(name))
{
}

FileSource::~FileSource()
{
    ::close(m_descriptor);
}

Result<FileSource::Identity> FileSource::identify(int descriptor, const std::string &name)
{
    struct stat status = {};
    if (::fstat(descriptor, &status) != 0)
        return systemError(errno, name, "cannot be examined");
    if (!S_ISREG(status.st_mode)) {
        return Error{ErrorCode::Refused,
                     name,
                     {},
                     "must be a regular file, is " + std::string(kindOf(status.st_mode))};
    }
    return Identity{std::uint64_t(status.st_dev), std::uint64_t(status.st_ino),
                    std::uint64_t(status.st_size), std::int64_t(status.st_mtim.tv_sec),
                    std::int64_t(status.st_mtim.tv_nsec)};
}

Status FileSource::remember()
{
    FP_TRY(m_identity, identify(m_descriptor, m_name));
    m_size = m_identity.size;
    return {};
}

Result<std::shared_ptr<const FileSource>> FileSource::open(const std::filesystem::path &path,
                                                           std::string displayName)
{
    const int descriptor = openRetrying(AT_FDCWD, path.c_str(), OpenFlags);
    if (descriptor < 0)
        return systemError(errno, displayName, "cannot be opened");
    const std::shared_ptr<FileSource> file(new FileSource(descriptor, std::move(displayName)));
    FP_CHECK(file->remember());
    return std::shared_ptr<const FileSource>(file);
}

Result<std::shared_ptr<const FileSource>>
FileSource::openBeneath(const std::filesystem::path &directory, const std::string &relative,
                        std::string displayName)
{
    FP_TRY(const auto components, componentsOf(relative, displayName));
    const Descriptor root(
        openRetrying(AT_FDCWD, directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!root.valid())
        return systemError(errno, displayName, "its directory cannot be opened");
    int descriptor = openBeneathByKernel(root.get(), relative);
    // EPERM: older container runtimes forbid system calls they do not know.
    if (descriptor < 0 && (errno == ENOSYS || errno == EPERM))
        descriptor = openBeneathByWalk(root.get(), components);
    if (descriptor < 0 && (errno == EXDEV || errno == ELOOP))
        return escapes(displayName, "a symbolic link leads out of it");
    if (descriptor < 0)
        return systemError(errno, displayName, "cannot be opened");
    const std::shared_ptr<FileSource> file(new FileSource(descriptor, std::move(displayName)));
    FP_CHECK(file->remember());
    return std::shared_ptr<const FileSource>(file);
}

Status FileSource::read(std::uint64_t offset, MutableByteView out) const
{
    if (!isInside(offset, out.size(), m_size))
        return pastEnd(m_name, offset, out.size(), m_size);
    while (!out.empty()) {
        const std::size_t wanted = std::min(out.size(), MaxTransfer);
        const ssize_t got = ::pread(m_descriptor, out.data(), wanted, off_t(offset));
        if (got < 0 && errno == EINTR)
            continue;
        const std::string place = "byte " + std::to_string(offset);
        if (got < 0)
            return systemError(errno, m_name, "cannot be read").atPlace(place);
        if (got == 0) {
            return Error{ErrorCode::Changed, m_name, place,
                         "had " + std::to_string(m_size) + " bytes when opened, ends here now"};
        }
        offset += std::uint64_t(got);
        out = out.subspan(std::size_t(got));
    }
    return {};
}

Status FileSource::unchanged() const
{
    FP_TRY(const Identity now, identify(m_descriptor, m_name));
    if (now == m_identity)
        return {};
    std::string text = "changed after it was opened";
    if (now.size != m_identity.size) {
        text +=
            ": had " + std::to_string(m_identity.size) + " bytes, has " + std::to_string(now.size);
    }
    return Error{ErrorCode::Changed, m_name, {}, std::move(text)};
}

Status MemorySource::read(std::uint64_t offset, MutableByteView out) const
{
    if (!isInside(offset, out.size(), m_bytes.size()))
        return pastEnd(m_name, offset, out.size(), m_bytes.size());
    if (!out.empty())
        std::memcpy(out.data(), m_bytes.data() + offset, out.size());
    return {};
}

Result<std::shared_ptr<const WindowSource>>
WindowSource::make(std::shared_ptr<const ByteSource> base, std::uint64_t offset, std::uint64_t size,
                   std::string name)
{
    if (!isInside(offset, size, base->size()))
        return pastEnd(base->name(), offset, size, base->size());
    return std::shared_ptr<const WindowSource>(
        new WindowSource(std::move(base), offset, size, std::move(name)));
}

Status WindowSource::read(std::uint64_t offset, MutableByteView out) const
{
    if (!isInside(offset, out.size(), m_size))
        return pastEnd(m_name, offset, out.size(), m_size);
    return m_base->read(m_offset + offset, out);
}

Result<std::vector<std::byte>> readAll(const ByteSource &source, std::uint64_t offset,
                                       std::uint64_t size, std::uint64_t cap)
{
    if (!isInside(offset, size, source.size()))
        return pastEnd(source.name(), offset, size, source.size());
    if (size > cap) {
        return Error{ErrorCode::Limit, source.name(), "byte " + std::to_string(offset),
                     "may take at most " + std::to_string(cap) + " bytes, takes "
                         + std::to_string(size)};
    }
    std::vector<std::byte> bytes(size);
    FP_CHECK(source.read(offset, bytes));
    return bytes;
}

} // namespace forkpoint
