// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/output_file.h"

#include "app/core/unfinished_files.h"
#include "loaders/storage/storage_answers.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <set>
#include <system_error>

namespace forkpoint {

namespace {

namespace fs = std::filesystem;

/// Attempts at a name that nobody has.
constexpr int PartNames = 1000;

Error systemError(const std::string &path, std::string_view what)
{
    const std::string reason = std::generic_category().message(errno);
    return Error{ErrorCode::Io, path, {}, std::string(what) + ": " + reason};
}

/// Where the bytes go in the end: a link's target, which need not exist yet.
fs::path resolved(const fs::path &path)
{
    constexpr int Links = 40; // as many as the kernel follows
    std::error_code failed;
    fs::path named = path;
    for (int i = 0; i < Links && fs::is_symlink(fs::symlink_status(named, failed)); ++i)
        named = named.parent_path() / fs::read_symlink(named, failed);
    fs::path target = fs::weakly_canonical(named, failed);
    return failed ? named : target;
}

/// Neither absent nor a regular file, by the system's own walk along links: written as it is.
bool isSpecial(const fs::path &path)
{
    std::error_code failed;
    const fs::file_status status = fs::status(path, failed);
    return fs::exists(status) && !fs::is_regular_file(status);
}

bool isWithin(const fs::path &file, const fs::path &folder)
{
    const auto [end, other] = std::mismatch(folder.begin(), folder.end(), file.begin(), file.end());
    return end == folder.end();
}

/// Io where the input does not answer.
Result<bool> isInput(const fs::path &target, const std::string &input)
{
    const auto ask = [target, input]() -> Result<bool> {
        std::error_code failed;
        if (fs::is_directory(input, failed))
            return isWithin(target, fs::canonical(input, failed)) && fs::exists(target, failed);
        return fs::equivalent(target, input, failed);
    };
    return askFolder<Result<bool>>(input, input, "asking for it", ask);
}

} // namespace

OutputFile::OutputFile(std::string path, std::string target, std::string part)
    : m_path(std::move(path)),
      m_target(std::move(target)),
      m_part(std::move(part))
{
}

OutputFile::~OutputFile()
{
    if (!m_file || m_part.empty())
        return;
    std::remove(m_part.c_str());
    forgetUnfinishedFile(m_part);
}

Result<OutputFile> OutputFile::create(const std::string &path)
{
    const fs::path target = resolved(path);
    if (isSpecial(path)) {
        OutputFile output(path, target, {});
        output.m_file.reset(std::fopen(path.c_str(), "wb"));
        if (!output.m_file)
            return systemError(path, "cannot be written");
        return output;
    }
    for (int i = 0; i < PartNames; ++i) {
        OutputFile output(path, target, target.string() + ".part" + std::to_string(i));
        output.m_file.reset(std::fopen(output.m_part.c_str(), "wbx")); // x: nobody else's file
        if (output.m_file) {
            rememberUnfinishedFile(output.m_part);
            return output;
        }
        if (errno != EEXIST)
            return systemError(path, "cannot be written");
    }
    return Error{ErrorCode::Io, path, {}, "cannot be written: too many unfinished files beside it"};
}

Status OutputFile::write(ByteView bytes)
{
    if (std::fwrite(bytes.data(), 1, bytes.size(), m_file.get()) != bytes.size())
        return systemError(m_path, "could not be written in full");
    return {};
}

Status OutputFile::commit()
{
    if (std::fflush(m_file.get()) != 0)
        return systemError(m_path, "could not be written in full");
    if (m_part.empty())
        return {};
    std::error_code failed;
    const fs::file_status before = fs::status(m_target, failed);
    if (fs::is_regular_file(before))
        fs::permissions(m_part, before.permissions(), failed);
    if (std::rename(m_part.c_str(), m_target.c_str()) != 0)
        return systemError(m_path, "could not take its name");
    forgetUnfinishedFile(m_part);
    m_part.clear();
    return {};
}

Status checkOutput(const std::string &path, std::span<const std::string> inputs)
{
    if (path.empty())
        return {};
    const fs::path target = resolved(path);
    std::error_code failed;
    if (fs::is_directory(target, failed))
        return Error{ErrorCode::Refused, path, {}, "must be a file to write, is a directory"};
    // The target of /dev/stdout may be the name of a pipe, which is in no folder.
    if (!isSpecial(path)
        && !fs::is_directory(target.has_parent_path() ? target.parent_path() : ".", failed))
        return Error{ErrorCode::NotFound, path, {}, "its folder is not there"};
    for (const std::string &input : inputs) {
        FP_TRY(const bool overwrites, isInput(target, input));
        if (overwrites)
            return Error{ErrorCode::Refused, path, {}, "would overwrite what is read: " + input};
    }
    return {};
}

Status checkOutputsApart(std::span<const std::string> paths)
{
    std::set<fs::path> targets;
    for (const std::string &path : paths) {
        if (path.empty() || isSpecial(path))
            continue;
        if (!targets.insert(fs::absolute(resolved(path))).second)
            return Error{ErrorCode::Refused, path, {}, "is asked for as two outputs"};
    }
    return {};
}

Status writeTextFile(const std::string &path, std::string_view text)
{
    FP_TRY(OutputFile output, OutputFile::create(path));
    FP_CHECK(output.write(asBytes(text)));
    return output.commit();
}

} // namespace forkpoint
