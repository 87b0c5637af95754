// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/traces/trace_dialect.h"

namespace forkpoint {

/// Folders that people write without a tool: step/rank/name.{pt,npy,safetensors}, one tensor a file
/// (resources/docs/traces.md).
const TraceDialect &tensorTreeDialect();

/// Files of tensors in the folders around the file that was looked at last, of one directory: the
/// files of a folder are looked at in turn, and it is listed once for all of them.
class TreeFolders
{
public:
    const std::vector<std::string> &ofStep(const std::filesystem::path &directory,
                                           std::string_view folder)
    {
        return take(m_step, directory, folder);
    }
    const std::vector<std::string> &ofRank(const std::filesystem::path &directory,
                                           std::string_view folder)
    {
        return take(m_rank, directory, folder);
    }

private:
    struct Listed
    {
        bool isThere = false;
        std::string folder;
        std::vector<std::string> files; ///< relative to the directory
    };

    static const std::vector<std::string> &
    take(Listed &last, const std::filesystem::path &directory, std::string_view folder);

    Listed m_step, m_rank;
};

} // namespace forkpoint
