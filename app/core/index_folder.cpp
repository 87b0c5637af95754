// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/index_folder.h"

#include "app/core/output_file.h"
#include "loaders/storage/file_source.h"

#include <algorithm>
#include <cstdlib>
#include <system_error>

namespace forkpoint {

namespace {

namespace fs = std::filesystem;
using FileClock = fs::file_time_type::clock;

constexpr std::string_view Suffix = ".fpi";
/// Of a process that was killed, once nobody can be writing it any more.
constexpr std::chrono::minutes UnfinishedFor{10};

bool isUnfinished(const std::string &name)
{
    return name.find(std::string(Suffix) + ".part") != std::string::npos;
}

/// Absent or a file: neither a link, which leads elsewhere, nor a pipe, which waits.
bool isEntryPlace(const fs::path &path)
{
    std::error_code failed;
    const fs::file_type type = fs::symlink_status(path, failed).type();
    return type == fs::file_type::regular || type == fs::file_type::not_found;
}

} // namespace

fs::path IndexFolder::pathOf(const std::string &name) const
{
    return m_directory / (name + std::string(Suffix));
}

std::vector<std::byte> IndexFolder::read(const std::string &name) const
{
    if (!isEntryPlace(pathOf(name)))
        return {};
    const auto file = FileSource::open(pathOf(name), name);
    if (!file.ok())
        return {};
    auto bytes = readAll(**file, 0, (*file)->size(), m_limit);
    return bytes.ok() ? std::move(bytes).value() : std::vector<std::byte>();
}

void IndexFolder::write(const std::string &name, ByteView bytes) const
{
    std::error_code failed;
    if (bytes.size() > m_limit / 2)
        return;
    if (fs::create_directories(m_directory, failed))
        fs::permissions(m_directory, fs::perms::owner_all, failed);
    if (!isEntryPlace(pathOf(name)) && !fs::remove(pathOf(name), failed))
        return;
    auto file = OutputFile::create(pathOf(name).string());
    if (file.ok() && file->write(bytes).ok())
        static_cast<void>(file->commit());
}

void IndexFolder::touch(const std::string &name) const
{
    std::error_code failed;
    fs::last_write_time(pathOf(name), FileClock::now(), failed);
}

std::vector<IndexFolder::Stored> IndexFolder::list() const
{
    std::vector<Stored> all;
    std::error_code failed;
    for (fs::directory_iterator at(m_directory, failed), end; !failed && at != end;
         at.increment(failed)) {
        std::error_code unreadable;
        const std::string name = at->path().filename().string();
        if (!name.ends_with(Suffix) || !at->is_regular_file(unreadable))
            continue;
        const std::uint64_t bytes = at->file_size(unreadable);
        const auto lastUse = at->last_write_time(unreadable);
        if (!unreadable)
            all.push_back({name.substr(0, name.size() - Suffix.size()), bytes, lastUse});
    }
    std::sort(all.begin(), all.end(),
              [](const Stored &left, const Stored &right) { return left.name < right.name; });
    return all;
}

void IndexFolder::trim() const
{
    std::error_code failed;
    for (fs::directory_iterator at(m_directory, failed), end; !failed && at != end;
         at.increment(failed)) {
        std::error_code ignored;
        if (isUnfinished(at->path().filename().string())
            && at->last_write_time(ignored) < FileClock::now() - UnfinishedFor)
            fs::remove(at->path(), ignored);
    }
    std::vector<Stored> all = list();
    std::uint64_t bytes = 0;
    for (const Stored &stored : all)
        bytes += stored.bytes;
    if (bytes <= m_limit)
        return;
    std::stable_sort(all.begin(), all.end(), [](const Stored &left, const Stored &right) {
        return left.lastUse < right.lastUse;
    });
    // Some room at once, so that not every writer has to look for it.
    for (auto oldest = all.begin(); oldest != all.end() && bytes > m_limit / 4 * 3; ++oldest) {
        fs::remove(pathOf(oldest->name), failed);
        bytes -= oldest->bytes;
    }
}

Result<std::size_t> IndexFolder::clear() const
{
    std::size_t entries = 0;
    std::error_code failed;
    std::vector<fs::path> doomed;
    for (fs::directory_iterator at(m_directory, failed), end; !failed && at != end;
         at.increment(failed)) {
        const std::string name = at->path().filename().string();
        if (name.ends_with(Suffix) || isUnfinished(name))
            doomed.push_back(at->path());
    }
    if (failed && failed != std::errc::no_such_file_or_directory)
        return Error{
            ErrorCode::Io, m_directory.string(), {}, "cannot be listed: " + failed.message()};
    for (const fs::path &path : doomed) {
        failed.clear();
        fs::remove(path, failed);
        if (failed)
            return Error{
                ErrorCode::Io, path.string(), {}, "cannot be removed: " + failed.message()};
        entries += !isUnfinished(path.filename().string());
    }
    return entries;
}

std::optional<fs::path> indexDirectory()
{
    const auto variable = [](const char *name) {
        const char *value = std::getenv(name);
        return fs::path(value != nullptr ? value : "");
    };
    const fs::path cache = variable("XDG_CACHE_HOME"), home = variable("HOME");
    if (cache.is_absolute())
        return cache / "forkpoint" / "index";
    if (home.is_absolute())
        return home / ".cache" / "forkpoint" / "index";
    return std::nullopt;
}

} // namespace forkpoint
