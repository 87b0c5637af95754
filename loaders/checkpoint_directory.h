// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/directory_loader.h"
#include "loaders/loader.h"
#include "loaders/storage/platform_directory.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace forkpoint {

/// What a directory holds that could make it one checkpoint, by names and first bytes.
struct DirectoryContents
{
    struct Part
    {
        std::string name;
        std::string format; ///< of the loader most sure of it
        bool sure = true;
    };
    std::vector<std::string> indexes;        ///< Hugging Face indexes, the one to take first
    std::vector<Part> parts;                 ///< files with tensors, by name
    std::vector<std::string> jsonFiles;      ///< JSON documents that are listed as values
    std::vector<std::string> folders;        ///< distributed checkpoints that are parts of this one
    const DirectoryLoader *loader = nullptr; ///< whose the directory as a whole is
    std::string foreign;                     ///< "an Orbax checkpoint", not opened yet
    std::string interrupted;                 ///< why this is an unfinished save
    Diagnostics diagnostics;                 ///< links, FIFOs, what was not recognised
    bool complete = true; ///< false: something was not opened that may hold state

    bool hasCheckpoint() const { return loader || !indexes.empty() || !parts.empty(); }
    /// Of what it would be opened as: "dcp", "sharded", "torch".
    std::string format() const;
};

/// Looks at the files of one directory and at folders in it only for whether they hold tensors. `prefix` goes before names in diagnostics:
/// "" or "checkpoint-4/". Files of a directory that a DirectoryLoader claims are looked at only with
/// `raw`. `traced`: as of loadDirectory.
Result<DirectoryContents> examineDirectory(const std::filesystem::path &directory,
                                           const std::string &prefix, bool raw,
                                           std::stop_token stop,
                                           const std::vector<std::string> &traced = {});

/// Opens a directory as one checkpoint: a sharded model by its index, or every file with tensors as
/// a part, its names prefixed by the file's stem except the model's. With OpenOptions::raw each
/// file as it is, its names prefixed by the file's name. Damaged parts become diagnostics; an error
/// means that nothing could be opened. `traced`: files that were read as a trace, by names with the
/// prefix; of them nothing is said.
Result<LoadedFile> loadDirectory(const std::filesystem::path &directory, const std::string &prefix,
                                 const OpenOptions &options, std::stop_token stop,
                                 const std::vector<std::string> &traced = {});

/// Opens the checkpoint of one index file and nothing beside its shards.
Result<LoadedFile> loadIndexFile(const std::filesystem::path &directory, const std::string &name,
                                 const std::string &prefix, const OpenOptions &options,
                                 std::stop_token stop);

/// "a.txt, b.txt and 7 more": at most five names.
std::string listNames(const std::vector<std::string> &names);

} // namespace forkpoint
