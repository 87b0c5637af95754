// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace forkpoint {

/// What tells the rows of one step apart in JSON Lines and CSV: which rank, phase or metric a row is
/// of. Trainers of several ranks append to one file, and training and evaluation log one step; without
/// this the last row would count as if a restart had written it.
class RowLabel
{
public:
    /// Whether a member or column says whose row it is: "rank" and its like as a whole number,
    /// "phase", "split", "name" and their like as a short text.
    static bool isNumber(std::string_view name);
    static bool isText(std::string_view name, std::string_view value);

    void add(std::string_view name, std::string_view value);
    /// "" or " [phase eval, rank 0]", by name: two writers need not have one order.
    std::string text() const;

private:
    std::map<std::string, std::string, std::less<>> m_values;
};

/// Whether a text is a digest in hexadecimal: a row of those belongs to a trace, and a log's numbers
/// beside it say little of it.
bool isDigestText(std::string_view text);

} // namespace forkpoint
