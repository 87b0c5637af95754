// SPDX-License-Identifier: GPL-3.0-or-later
// Preloaded in front of the C library: makes reads of one file fail in the ways storage fails.
//   FAULT_FILE   end of the path of the file that is faulty
//   FAULT_BEGIN  first faulty byte
//   FAULT_END    byte after the last faulty one (default: none)
//   FAULT_SPARE  how many calls are spared that would be faulty (default: none)
//   FAULT_KIND   eio, estale, short (at most 1000 bytes a call), end (the file ends at FAULT_BEGIN),
//                interrupted (every other call EINTR), stall (the call does not come back), stall-open (asking
//                for the state of the open file does not, as on a mount whose server is gone)
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

using Pread = ssize_t (*)(int, void *, std::size_t, off_t);

bool isFaulty(int descriptor)
{
    const char *wanted = std::getenv("FAULT_FILE");
    if (wanted == nullptr)
        return false;
    char link[64];
    char path[PATH_MAX];
    std::snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    const ssize_t length = readlink(link, path, sizeof path);
    return length > 0 && std::string_view(path, std::size_t(length)).ends_with(wanted);
}

off_t number(const char *name, off_t otherwise)
{
    const char *text = std::getenv(name);
    return text != nullptr ? off_t(std::atoll(text)) : otherwise;
}

ssize_t failWith(int number)
{
    errno = number;
    return -1;
}

[[noreturn]] void stall()
{
    for (;;)
        sleep(3600);
}

std::string_view faultKind()
{
    const char *given = std::getenv("FAULT_KIND");
    return given != nullptr ? given : "";
}

ssize_t faultyRead(Pread real, int descriptor, void *out, std::size_t size, off_t offset)
{
    static std::atomic<unsigned> calls = 0;
    const std::string_view kind = faultKind();
    if (kind.empty() || !isFaulty(descriptor))
        return real(descriptor, out, size, offset);
    if (kind == "short")
        return real(descriptor, out, size < 1000 ? size : 1000, offset);
    if (kind == "interrupted" && calls++ % 2 == 0)
        return failWith(EINTR);
    const off_t begin = number("FAULT_BEGIN", 0);
    const off_t end = number("FAULT_END", off_t(1) << 62);
    if (offset >= end || offset + off_t(size) <= begin)
        return real(descriptor, out, size, offset);
    static std::atomic<off_t> met = 0;
    if (met++ < number("FAULT_SPARE", 0))
        return real(descriptor, out, size, offset);
    if (kind == "end")
        return offset >= begin ? 0 : real(descriptor, out, std::size_t(begin - offset), offset);
    if (kind == "eio")
        return failWith(EIO);
    if (kind == "stall")
        stall();
    if (kind == "estale")
        return failWith(ESTALE);
    return real(descriptor, out, size, offset);
}

Pread realOf(const char *name)
{
    return reinterpret_cast<Pread>(dlsym(RTLD_NEXT, name));
}

} // namespace

extern "C" {

ssize_t pread64(int descriptor, void *out, size_t size, off_t offset)
{
    static const Pread real = realOf("pread64");
    return faultyRead(real, descriptor, out, size, offset);
}

ssize_t pread(int descriptor, void *out, size_t size, off_t offset)
{
    static const Pread real = realOf("pread");
    return faultyRead(real, descriptor, out, size, offset);
}

int fstat(int descriptor, struct stat *state)
{
    static const auto real =
        reinterpret_cast<int (*)(int, struct stat *)>(dlsym(RTLD_NEXT, "fstat"));
    if (faultKind() == "stall-open" && isFaulty(descriptor))
        stall();
    return real(descriptor, state);
}

int fstat64(int descriptor, struct stat64 *state)
{
    static const auto real =
        reinterpret_cast<int (*)(int, struct stat64 *)>(dlsym(RTLD_NEXT, "fstat64"));
    if (faultKind() == "stall-open" && isFaulty(descriptor))
        stall();
    return real(descriptor, state);
}

} // extern "C"
