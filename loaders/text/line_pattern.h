// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/result.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace forkpoint {

/// A regular expression with named groups, `(?P<name>...)`, that is sought in lines of files nobody
/// vouches for. RE2's syntax; the time of a match grows with the line alone, whatever the pattern is.
class LinePattern
{
public:
    /// Malformed with what is wrong in the pattern; Unsupported where the build has no RE2.
    static Result<LinePattern> compile(const std::string &pattern);

    /// A group by its name, and what it matched.
    struct Group
    {
        std::string_view name; ///< of the pattern
        std::string_view text; ///< of the line
    };
    const std::vector<std::string> &groups() const; ///< names, in the order of the pattern
    /// Whether it occurs in the line; `found` has the named groups that took part.
    bool match(std::string_view line, std::vector<Group> &found) const;

private:
    struct Compiled;
    explicit LinePattern(std::shared_ptr<const Compiled> compiled) : m_compiled(std::move(compiled))
    {
    }

    std::shared_ptr<const Compiled> m_compiled;
};

/// Why patterns cannot be used here; empty where they can.
std::string_view whyNoPatterns();

} // namespace forkpoint
