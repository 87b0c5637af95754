// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/text_file.h"

#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

namespace forkpoint {

namespace {

struct CloseFile
{
    void operator()(std::FILE *file) const { std::fclose(file); }
};

Error systemError(const std::string &path, const char *what)
{
    const std::string reason = std::generic_category().message(errno);
    return Error{ErrorCode::Io, path, {}, std::string(what) + ": " + reason};
}

} // namespace

Status writeTextFile(const std::string &path, std::string_view text)
{
    const std::string part = path + ".part";
    std::unique_ptr<std::FILE, CloseFile> file(std::fopen(part.c_str(), "wb"));
    if (!file)
        return systemError(path, "cannot be written");
    const bool written = std::fwrite(text.data(), 1, text.size(), file.get()) == text.size()
        && std::fflush(file.get()) == 0;
    Status status;
    if (!written)
        status = systemError(path, "could not be written in full");
    file.reset();
    if (status.ok() && std::rename(part.c_str(), path.c_str()) != 0)
        status = systemError(path, "could not take its name");
    if (!status.ok())
        std::remove(part.c_str());
    return status;
}

} // namespace forkpoint
