// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/bytes.h"
#include "model/result.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace forkpoint {

/// The folder of the fingerprint index: one file an entry, each of which appears whole or not at
/// all, so that a process that is killed leaves a sound index, and several may use one. What grows
/// beyond `limit` bytes loses the entries that were not used for the longest time.
class IndexFolder
{
public:
    static constexpr std::uint64_t DefaultLimit = 256u << 20;

    struct Stored
    {
        std::string name;
        std::uint64_t bytes = 0;
        std::filesystem::file_time_type lastUse;
    };

    explicit IndexFolder(std::filesystem::path directory, std::uint64_t limit = DefaultLimit)
        : m_directory(std::move(directory)),
          m_limit(limit)
    {
    }

    const std::filesystem::path &directory() const { return m_directory; }
    std::uint64_t limit() const { return m_limit; }

    /// An entry's bytes; none where there is no such entry or it cannot be read.
    std::vector<std::byte> read(const std::string &name) const;
    /// Makes the folder where it is missing. What cannot be written is not there later.
    void write(const std::string &name, ByteView bytes) const;
    void touch(const std::string &name) const; ///< was used just now
    void trim() const;

    /// All entries, by name.
    std::vector<Stored> list() const;
    /// Removes all that the index ever wrote, unfinished files too; how many entries there were.
    Result<std::size_t> clear() const;

private:
    std::filesystem::path pathOf(const std::string &name) const;

    std::filesystem::path m_directory;
    std::uint64_t m_limit;
};

/// $XDG_CACHE_HOME/forkpoint/index, else $HOME/.cache/forkpoint/index; nothing where neither is an
/// absolute path.
std::optional<std::filesystem::path> indexDirectory();

} // namespace forkpoint
