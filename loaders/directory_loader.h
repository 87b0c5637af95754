// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/loader.h"
#include "loaders/storage/platform_directory.h"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace forkpoint {

/// A directory that may be one checkpoint.
struct DirectoryView
{
    const std::filesystem::path &directory;
    const std::string &prefix; ///< before names in diagnostics: "" or "iter_0000004/"
    const DirectoryListing &listing;

    bool hasFile(std::string_view name) const;
    bool hasFolder(std::string_view name) const;
    Result<std::shared_ptr<const ByteSource>> open(const std::string &relative) const;
};

/// Whether a directory is a loader's, by the names in it, and why the save was not finished.
struct DirectoryClaim
{
    bool isMine = false;
    std::string interrupted;
};

/// A format whose checkpoint is a directory of files that belong together.
class DirectoryLoader
{
public:
    virtual ~DirectoryLoader() = default;

    virtual std::string_view name() const = 0;        ///< "dcp"
    virtual std::string_view description() const = 0; ///< one line for `formats`
    virtual DirectoryClaim claim(const DirectoryView &view) const = 0;
    /// As Loader::load: an error means that nothing could be opened.
    virtual Result<LoadedFile> load(const DirectoryView &view, const OpenOptions &options,
                                    std::stop_token stop) const = 0;
};

/// The explicit table of directory formats.
const std::vector<const DirectoryLoader *> &allDirectoryLoaders();

/// The first loader that claims a directory, or nullptr; `interrupted` gets its word on that.
const DirectoryLoader *claimDirectory(const DirectoryView &view, std::string &interrupted);

} // namespace forkpoint
