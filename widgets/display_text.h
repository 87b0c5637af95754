// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/ulp_quantile.h"
#include "model/dtype.h"
#include "model/element.h"
#include "model/shape.h"

#include <QFontMetrics>
#include <QString>

#include <cstdint>
#include <string_view>

namespace forkpoint {

/// The one place where model values become text for people. Names in files are hostile: the result
/// has no control, line, bidirectional-override or invisible characters (they are shown as \uNNNN),
/// and bytes that are not UTF-8 are shown as \xnn.
QString displayText(std::string_view utf8);
QString displayText(const QString &text);

/// At most `maximum` characters, the middle replaced by an ellipsis that counts what is missing.
QString elidedMiddle(const QString &text, int maximum);

/// What a cell can show of a name of up to 100,000 characters: Qt lays out all of a text before it
/// elides it, which would take seconds.
QString cellText(const QString &text);

/// A tooltip of plain text: never interpreted as markup, wrapped, at most 4,000 characters.
QString plainToolTip(const QString &text);

/// "96×24", "scalar" for rank 0.
QString shapeText(const Shape &shape);
/// A shape or dtype, or "unknown" where a catalogue only lists a placeholder for it.
QString layoutText(bool isKnown, const QString &text);
/// One element with the digits that tell every value of the type apart: 9 for float32, 17 for
/// float64, 5 for float16, 4 for bfloat16; integers exactly; opaque types as hexadecimal bits.
QString elementText(const DType &dtype, const ElementValue &value,
                    const std::vector<std::byte> &bits);
/// B-A with its sign: "+2.980e-08", "0" where the bits are equal.
QString differenceText(const ElementRow &row);
/// "2.4e-07": two significant digits for a cell; full precision is in the tooltip.
QString magnitudeText(double magnitude);
QString groupedText(std::uint64_t value);
QString percentText(std::uint64_t part, std::uint64_t whole);
QString bytesText(std::uint64_t bytes);
/// "between 512 and 1,023", "0"; "–" where nothing is known.
QString ulpRangeText(const std::optional<UlpRange> &range);
/// "1 tensor", "3 tensors"
QString countedText(std::uint64_t count, const char *singular, const char *plural);

inline QString qs(std::string_view text)
{
    return QString::fromUtf8(text.data(), qsizetype(text.size()));
}

} // namespace forkpoint
