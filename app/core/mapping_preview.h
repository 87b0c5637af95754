// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/traces/mapping_sheet.h"

#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

namespace forkpoint {

/// How the first lines of what a path holds are understood by a mapping sheet: the document
/// "forkpoint.mapping/1". Blank lines are left out, as a reader leaves them out.
struct MappingPreview
{
    struct Line
    {
        std::string file;
        std::uint64_t number = 0; ///< from 1
        std::string text;         ///< its beginning
        MappedLine::Use use = MappedLine::Use::NotUnderstood;
        TraceRecord record;
        std::optional<std::int64_t> rank;
        std::string problem;  ///< of a line that is not understood
        std::size_t rule = 0; ///< as MappedLine's
    };
    std::string path, sheet;
    std::vector<Line> lines;

    std::size_t count(MappedLine::Use use) const;
};

/// At most that many lines, over the files in the order in which they are read. An error where nothing
/// is there to be read.
Result<MappingPreview> previewMapping(const std::filesystem::path &path,
                                      const std::shared_ptr<const MappingSheet> &sheet,
                                      std::size_t most, const std::stop_token &stop);

/// Its dtype and shape, "float32 [2, 4]", as far as they are recorded.
std::string tensorText(const Observation &tensor);
std::string previewJson(const MappingPreview &preview);
std::string previewText(const MappingPreview &preview);

} // namespace forkpoint
