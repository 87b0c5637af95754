// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/metrics/metrics_lines.h"

#include "loaders/text/ascii.h"

namespace forkpoint {

std::string_view withoutByteOrderMark(std::string_view text)
{
    constexpr std::string_view Mark = "\xef\xbb\xbf";
    return text.starts_with(Mark) ? text.substr(Mark.size()) : text;
}

Status forEachLine(const ByteSource &source, MetricsTable &table, const std::stop_token &stop,
                   const std::function<LineUse(const LineReader::Line &)> &take,
                   const std::string &part)
{
    LineReader lines(source, limits::MetricsLineBytes, stop);
    for (;;) {
        FP_TRY(const auto line, lines.next());
        if (!line)
            return {};
        if (line->tooLong) {
            table.addBadLine(line->number, "is longer than a line may be", part);
            continue;
        }
        if (isBlank(line->text))
            continue;
        const LineUse use = take(*line);
        const bool bad = use.kind == LineUse::Kind::Bad;
        if (use.kind == LineUse::Kind::Full)
            return {};
        if (use.kind == LineUse::Kind::Torn || (bad && !line->ended))
            table.addGap(Severity::Note, "torn-line", placeOfLine(line->number, part),
                         "the file ends without a line break; its last line may be cut and was "
                         "left out");
        else if (bad)
            table.addBadLine(line->number, use.why, part);
    }
}

} // namespace forkpoint
