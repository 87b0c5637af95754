// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/metrics/metrics_table.h"
#include "loaders/storage/line_reader.h"

#include <functional>
#include <stop_token>
#include <string>
#include <string_view>

namespace forkpoint {

/// What a line of a text of metrics was.
struct LineUse
{
    enum class Kind {
        Taken, ///< its points are in the table, or it has none
        Torn,  ///< the file ends inside of it, or may: it was left out
        Bad,   ///< `why` says what it should have been
        Full,  ///< the table is: read no further
    };
    Kind kind = Kind::Taken;
    std::string_view why = {}; ///< outlives the call
};

/// Windows puts the mark of UTF-8 in front of a file.
std::string_view withoutByteOrderMark(std::string_view text);

/// Calls `take` for each line that is neither blank nor too long, and tells the table of those that
/// were torn, bad or too long. A bad line without its end is a torn one. `part` names the file where
/// the table is made of several.
Status forEachLine(const ByteSource &source, MetricsTable &table, const std::stop_token &stop,
                   const std::function<LineUse(const LineReader::Line &)> &take,
                   const std::string &part = {});

} // namespace forkpoint
