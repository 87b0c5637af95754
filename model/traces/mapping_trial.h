// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace forkpoint {

/// A mapping sheet (resources/docs/mapping.md) tried on the first lines of a user's own file, while
/// the sheet is being written.
struct MappingTrial
{
    struct Problem
    {
        std::size_t line = 0; ///< of the sheet, from 1; 0: of the whole
        std::string text;
    };
    struct Line
    {
        enum class Use { Record, Skipped, NotUnderstood, Untried };
        std::string file;
        std::uint64_t number = 0; ///< from 1
        std::string text;         ///< its beginning
        Use use = Use::Untried;
        std::size_t rule = 0; ///< line of the sheet whose expression decided; 0: none, or keys
        std::optional<std::int64_t> step, rank, microBatch;
        std::string stage, name, digestKind, digest; ///< empty where the line does not say it
        std::string tensor;                          ///< its dtype and shape, likewise
        std::string problem;                         ///< of a line that is not understood
    };
    std::vector<Problem> problems; ///< of the sheet: then all lines are Untried
    std::string trouble;           ///< why they are Untried although the sheet is right
    std::vector<Line> lines;

    std::size_t count(Line::Use use) const
    {
        std::size_t found = 0;
        for (const Line &line : lines)
            found += line.use == use ? 1 : 0;
        return found;
    }
};

} // namespace forkpoint
