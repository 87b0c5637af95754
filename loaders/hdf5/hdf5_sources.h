// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/hdf5/hdf5_description.h"
#include "loaders/loader.h"

#include <map>
#include <memory>
#include <string>

namespace forkpoint {

/// The name of the source of that number in a list of them: "%b" is the number, "%%" a percent sign. Nothing for
/// other signs, which libhdf5 writes no more than we read them.
std::optional<std::string> numberedName(const std::string &pattern, std::uint64_t number);
bool isNumbered(const std::string &pattern);

/// The files that virtual datasets show, opened when they are first needed, and what lies in them. Files beneath
/// the folder that was opened alone; what is elsewhere is refused.
class Hdf5Sources
{
public:
    struct File
    {
        std::string name; ///< relative to the folder of the file that was opened; empty: that one
        std::shared_ptr<const ByteSource> source;
        const Hdf5Contents *contents = nullptr;
    };
    /// A dataset, or a value that is the elements of one; neither where there is none of that name.
    struct Found
    {
        const File *file = nullptr;
        const Hdf5Dataset *dataset = nullptr;
        const Hdf5Value *value = nullptr;

        bool isThere() const { return dataset != nullptr || value != nullptr; }
    };

    /// `contents`: of the file that was opened.
    Hdf5Sources(std::shared_ptr<const ByteSource> file, const Hdf5Contents &contents,
                const OpenOptions &options, std::stop_token stop);

    const File &own() const { return m_own; }
    /// What a dataset of `from` means by these names. Errors where it cannot be said whether it is there.
    Result<Found> find(const File &from, const std::string &file, const std::string &dataset);
    /// The elements of a member of a dataset that are text.
    const Hdf5Value *member(const Found &found, const std::vector<std::string> &path);

private:
    /// By "/group/name".
    struct Names
    {
        std::map<std::string, Found> found;
        std::map<std::string, std::string> links, problems;
        bool isPartial = false; ///< things may exist that are not listed
    };
    struct Other
    {
        File file;
        Hdf5Contents contents;
    };

    Result<const File *> fileOf(const File &from, const std::string &name);
    Result<std::unique_ptr<Other>> open(const File &from, const std::string &name,
                                        const std::string &key);
    const Names &namesOf(const File &file);
    static std::optional<std::string> followed(const Names &names, const std::string &path);

    File m_own;
    const OpenOptions &m_options;
    std::stop_token m_stop;
    std::map<std::string, Result<std::unique_ptr<Other>>> m_others; ///< by File::name
    std::map<const File *, Names> m_names;
};

} // namespace forkpoint
