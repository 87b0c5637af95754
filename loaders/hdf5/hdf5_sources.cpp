// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/hdf5/hdf5_sources.h"

#include "loaders/hdf5/hdf5_client.h"
#include "loaders/storage/file_source.h"

#include <filesystem>

namespace forkpoint {

namespace {

constexpr std::size_t MostFiles = 1024;
/// Links that lead to links.
constexpr int MostHops = 16;

Error bad(ErrorCode code, std::string text)
{
    return {code, {}, {}, std::move(text)};
}

std::string joined(const std::vector<std::string> &path)
{
    std::string text;
    for (const std::string &name : path)
        text += "/" + name;
    return text;
}

/// "/a/b", without what changes nothing: "a//./b/".
std::string plain(const std::string &path)
{
    std::string text;
    for (std::size_t at = 0; at < path.size();) {
        const std::size_t end = std::min(path.find('/', at), path.size());
        const std::string name = path.substr(at, end - at);
        if (!name.empty() && name != ".")
            text += "/" + name;
        at = end + 1;
    }
    return text;
}

/// Where each prefix of "/a/b/c" ends: "/a", "/a/b", all.
std::vector<std::size_t> prefixes(const std::string &path)
{
    std::vector<std::size_t> ends;
    for (std::size_t at = path.find('/', 1); at < path.size(); at = path.find('/', at + 1))
        ends.push_back(at);
    ends.push_back(path.size());
    return ends;
}

} // namespace

std::optional<std::string> numberedName(const std::string &pattern, std::uint64_t number)
{
    std::string name;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        if (pattern[i] != '%') {
            name += pattern[i];
            continue;
        }
        const char sign = i + 1 < pattern.size() ? pattern[++i] : '\0';
        if (sign != 'b' && sign != '%')
            return std::nullopt;
        name += sign == 'b' ? std::to_string(number) : "%";
    }
    return name;
}

bool isNumbered(const std::string &pattern)
{
    return numberedName(pattern, 0) != numberedName(pattern, 1);
}

Hdf5Sources::Hdf5Sources(std::shared_ptr<const ByteSource> file, const Hdf5Contents &contents,
                         const OpenOptions &options, std::stop_token stop)
    : m_own{{}, std::move(file), &contents},
      m_options(options),
      m_stop(std::move(stop))
{
}

Result<Hdf5Sources::Found> Hdf5Sources::find(const File &from, const std::string &file,
                                             const std::string &dataset)
{
    FP_TRY(const File *const other, fileOf(from, file));
    if (other == nullptr)
        return Found{};
    const Names &names = namesOf(*other);
    const std::string shown = "shows '" + dataset + "' of '" + file + "', ";
    std::string path = plain(dataset);
    for (int hop = 0; hop < MostHops; ++hop) {
        if (const auto known = names.found.find(path); known != names.found.end())
            return known->second;
        for (const std::size_t end : prefixes(path)) {
            const auto problem = names.problems.find(path.substr(0, end));
            if (problem != names.problems.end())
                return bad(ErrorCode::Unsupported,
                           shown + "of which nothing is known: " + problem->second);
        }
        const auto next = followed(names, path);
        if (!next && names.isPartial)
            return bad(ErrorCode::NotFound,
                       shown + "which is not among what could be listed of that file");
        if (!next)
            return Found{};
        path = *next;
    }
    return bad(ErrorCode::Limit,
               shown + "to which more than " + std::to_string(MostHops) + " links lead");
}

const Hdf5Value *Hdf5Sources::member(const Found &found, const std::vector<std::string> &path)
{
    const Names &names = namesOf(*found.file);
    const auto known = names.found.find(joined(found.dataset->path) + joined(path));
    return known == names.found.end() ? nullptr : known->second.value;
}

/// Where the first link on a path leads; nothing where there is none.
std::optional<std::string> Hdf5Sources::followed(const Names &names, const std::string &path)
{
    for (const std::size_t end : prefixes(path)) {
        const auto link = names.links.find(path.substr(0, end));
        if (link == names.links.end())
            continue;
        const std::string &target = link->second;
        const std::string group = path.substr(0, path.rfind('/', end - 1));
        return plain((target.starts_with('/') ? "" : group + '/') + target + path.substr(end));
    }
    return std::nullopt;
}

const Hdf5Sources::Names &Hdf5Sources::namesOf(const File &file)
{
    const auto [known, isNew] = m_names.try_emplace(&file);
    Names &names = known->second;
    if (!isNew)
        return names;
    for (const Hdf5Problem &problem : file.contents->problems) {
        names.isPartial = names.isPartial || problem.isPartial;
        if (!problem.path.empty())
            names.problems.emplace(joined(problem.path), problem.text);
    }
    for (const Hdf5Value &value : file.contents->values) {
        if (const auto *const link = std::get_if<Hdf5Value::Link>(&value.data))
            names.links.emplace(joined(value.path), link->target);
        else if (value.elements)
            names.found[joined(value.path)] = {&file, nullptr, &value};
    }
    for (const Hdf5Dataset &dataset : file.contents->datasets)
        names.found[joined(dataset.path)] = {&file, &dataset, nullptr};
    return names;
}

/// Null where there is no such file.
Result<const Hdf5Sources::File *> Hdf5Sources::fileOf(const File &from, const std::string &name)
{
    if (name == ".")
        return &from;
    const std::filesystem::path folder = std::filesystem::path(from.name).parent_path();
    const std::string key = (folder / name).lexically_normal().string();
    auto known = m_others.find(key);
    if (known == m_others.end()) {
        if (m_others.size() == MostFiles)
            return bad(ErrorCode::Limit,
                       "has its data in more than " + std::to_string(MostFiles) + " files");
        known = m_others.emplace(key, open(from, name, key)).first;
    }
    if (known->second.ok())
        return &known->second.value()->file;
    if (known->second.error().code == ErrorCode::NotFound)
        return nullptr;
    return known->second.error();
}

Result<std::unique_ptr<Hdf5Sources::Other>>
Hdf5Sources::open(const File &from, const std::string &name, const std::string &key)
{
    const std::string elsewhere = "its data lie in another file ('" + name + "')";
    const auto *const own = dynamic_cast<const FileSource *>(from.source.get());
    if (own == nullptr)
        return bad(ErrorCode::Refused, elsewhere + ", which cannot be opened from here");
    auto file = own->openBeside(name, key);
    if (!file.ok())
        return bad(file.error().code, elsewhere + ": " + file.error().text);
    auto contents = describeHdf5(**file, m_options.hdf5Worker, m_stop);
    if (!contents.ok()) // it is there: nobody is to take it for a file that is not
        return bad(contents.error().code == ErrorCode::NotFound ? ErrorCode::Malformed
                                                                : contents.error().code,
                   elsewhere + ": " + contents.error().text);
    auto other = std::make_unique<Other>();
    other->contents = std::move(*contents);
    other->file = {key, std::move(*file), &other->contents};
    return other;
}

} // namespace forkpoint
