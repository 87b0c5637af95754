// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/display_text.h"

#include "model/compare/element_difference.h"
#include "model/format.h"
#include "model/key_path.h"

#include <QCoreApplication>
#include <QStringList>

#include <algorithm>
#include <cmath>

namespace forkpoint {

namespace {

constexpr int MaximumToolTip = 4000;

/// Characters that would change how others are shown, or not be seen at all.
bool mustBeVisible(char32_t c)
{
    switch (QChar::category(c)) {
    case QChar::Other_Control:
    case QChar::Other_Format: // bidirectional controls, zero-width characters, tags
    case QChar::Other_Surrogate:
    case QChar::Other_PrivateUse:
    case QChar::Other_NotAssigned:
    case QChar::Separator_Line:
    case QChar::Separator_Paragraph: return true;
    default: return false;
    }
}

QString escaped(char32_t c)
{
    const int width = c > 0xffff ? 6 : 4;
    return QLatin1String("\\u") + QString::number(uint(c), 16).rightJustified(width, u'0');
}

/// Digits that tell every value of a float with that many stored mantissa bits apart.
int digitsFor(const FloatLayout &layout)
{
    return 1 + int(std::ceil((layout.mantissaBits + 1) * 0.30102999566398120));
}

QString scalarText(const DType &dtype, const Scalar &scalar)
{
    if (const bool *b = std::get_if<bool>(&scalar))
        return *b ? QStringLiteral("True") : QStringLiteral("False");
    if (const auto *i = std::get_if<std::int64_t>(&scalar))
        return QString::number(*i);
    if (const auto *u = std::get_if<std::uint64_t>(&scalar))
        return QString::number(*u);
    if (const double *d = std::get_if<double>(&scalar))
        return qs(significant(*d, digitsFor(dtype.layout)));
    return {};
}

QString signedText(const Scalar &scalar)
{
    QString text;
    bool positive = false;
    if (const double *d = std::get_if<double>(&scalar)) {
        positive = *d > 0;
        text = qs(significant(*d, 4));
    } else if (const auto *i = std::get_if<std::int64_t>(&scalar)) {
        positive = *i > 0;
        text = QString::number(*i);
    } else if (const auto *u = std::get_if<std::uint64_t>(&scalar)) {
        positive = *u > 0;
        text = QString::number(*u);
    } else {
        return QStringLiteral("–");
    }
    return positive ? QString(u'+' + text) : text;
}

bool isZero(const Scalar &scalar)
{
    if (const double *d = std::get_if<double>(&scalar))
        return *d == 0.0;
    if (const auto *i = std::get_if<std::int64_t>(&scalar))
        return *i == 0;
    if (const auto *u = std::get_if<std::uint64_t>(&scalar))
        return *u == 0;
    return true;
}

} // namespace

QString displayText(const QString &text)
{
    const bool plain = std::all_of(text.begin(), text.end(), [](QChar c) {
        return c.unicode() >= 0x20 && c.unicode() < 0x7f;
    });
    if (plain)
        return text;
    QString result;
    result.reserve(text.size());
    for (char32_t c : text.toUcs4()) {
        if (mustBeVisible(c))
            result += escaped(c);
        else
            result += QString::fromUcs4(&c, 1);
    }
    return result;
}

QString displayText(std::string_view utf8)
{
    const bool plain =
        std::all_of(utf8.begin(), utf8.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
    if (plain)
        return QString::fromLatin1(utf8.data(), qsizetype(utf8.size()));
    return displayText(qs(escapeInvalidUtf8(utf8)));
}

QString elidedMiddle(const QString &text, int maximum)
{
    if (text.size() <= maximum)
        return text;
    const QString mark =
        QStringLiteral("…(%1 more)…").arg(groupedText(std::uint64_t(text.size() - maximum)));
    const int keep = std::max(2, maximum - int(mark.size()));
    return text.left(keep / 2) + mark + text.right(keep - keep / 2);
}

QString cellText(const QString &text)
{
    constexpr int widestCell = 600; // characters, more than a screen of 2560 pixels has room for
    return elidedMiddle(text, widestCell);
}

QString plainToolTip(const QString &text)
{
    if (text.isEmpty())
        return {};
    // Qt guesses markup in tooltips; what is escaped and wrapped ourselves cannot be guessed wrong.
    QString body = elidedMiddle(text, MaximumToolTip).toHtmlEscaped();
    body.replace(u'\n', QLatin1String("<br/>"));
    return QLatin1String("<qt>") + body + QLatin1String("</qt>");
}

QString shapeText(const Shape &shape)
{
    if (shape.dims.empty())
        return QStringLiteral("scalar");
    QStringList parts;
    for (Index dim : shape.dims)
        parts += QString::number(dim);
    return parts.join(u'×');
}

QString layoutText(bool isKnown, const QString &text)
{
    return isKnown ? text : QCoreApplication::translate("DisplayText", "unknown");
}

QString elementText(const DType &dtype, const ElementValue &value,
                    const std::vector<std::byte> &bits)
{
    if (std::holds_alternative<std::monostate>(value.real))
        return QLatin1String("0x") + qs(bitsToHex(dtype, bits));
    QString text = scalarText(dtype, value.real);
    if (std::holds_alternative<std::monostate>(value.imaginary))
        return text;
    const QString imaginary = scalarText(dtype, value.imaginary);
    if (!imaginary.startsWith(u'-'))
        text += u'+';
    return text + imaginary + u'j';
}

QString differenceText(const ElementRow &row)
{
    if (!row.differs)
        return QStringLiteral("0");
    if (const auto digits = wideDifference(row))
        return qs(*digits);
    const QString real = signedText(row.difference.real);
    if (std::holds_alternative<std::monostate>(row.difference.imaginary))
        return real;
    if (isZero(row.difference.imaginary))
        return real;
    const QString imaginary = signedText(row.difference.imaginary) + u'j';
    return isZero(row.difference.real) ? imaginary : QString(real + u' ' + imaginary);
}

QString magnitudeText(double magnitude)
{
    if (magnitude == 0.0)
        return QStringLiteral("0");
    if (!std::isfinite(magnitude))
        return qs(shortest(magnitude));
    return QString::number(magnitude, 'g', 2);
}

QString groupedText(std::uint64_t value)
{
    return qs(grouped(value));
}

QString percentText(std::uint64_t part, std::uint64_t whole)
{
    return qs(percentage(part, whole));
}

QString bytesText(std::uint64_t bytes)
{
    return qs(byteSize(bytes));
}

QString ulpRangeText(const std::optional<UlpRange> &range)
{
    if (!range)
        return QStringLiteral("–");
    if (range->least == range->most)
        return groupedText(range->least);
    return QCoreApplication::translate("DisplayText", "between %1 and %2")
        .arg(groupedText(range->least), groupedText(range->most));
}

QString countedText(std::uint64_t count, const char *singular, const char *plural)
{
    return qs(counted(count, singular, plural));
}

} // namespace forkpoint
