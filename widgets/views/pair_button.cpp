// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/pair_button.h"

#include "widgets/theme.h"

#include <QStyleOptionToolButton>
#include <QStylePainter>

#include <algorithm>

namespace forkpoint {

namespace {

constexpr int Margin = 8;

int letterWidth(const QFontMetrics &metrics)
{
    return metrics.horizontalAdvance(QStringLiteral("A  "));
}

} // namespace

PairButton::PairButton(PairText text, QWidget *parent)
    : QToolButton(parent),
      m_text(std::move(text))
{
    setFocusPolicy(Qt::StrongFocus);
    setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
}

QSize PairButton::sizeHint() const
{
    const QFontMetrics metrics = fontMetrics();
    const int widest =
        std::max(metrics.horizontalAdvance(m_text.a), metrics.horizontalAdvance(m_text.b));
    return {widest + letterWidth(metrics) + 2 * Margin + 2, 2 * metrics.height() + 10};
}

QSize PairButton::minimumSizeHint() const
{
    const QSize whole = sizeHint();
    return {std::min(whole.width(), fontMetrics().averageCharWidth() * 56), whole.height()};
}

void PairButton::paintEvent(QPaintEvent *)
{
    QStylePainter painter(this);
    QStyleOptionToolButton option;
    initStyleOption(&option);
    painter.drawComplexControl(QStyle::CC_ToolButton, option);
    const Theme theme = Theme::of(palette());
    const QFontMetrics metrics = fontMetrics();
    QRect line(Margin, 5, width() - 2 * Margin, metrics.height());
    for (const auto &[letter, path, colour] :
         {std::tuple(u'A', &m_text.a, theme.a), std::tuple(u'B', &m_text.b, theme.b)}) {
        painter.setPen(colour);
        painter.drawText(line, Qt::AlignVCenter | Qt::AlignLeft, QString(QChar(letter)));
        painter.setPen(palette().color(QPalette::ButtonText));
        const QRect rest = line.adjusted(letterWidth(metrics), 0, 0, 0);
        painter.drawText(rest, Qt::AlignVCenter | Qt::AlignLeft,
                         metrics.elidedText(*path, Qt::ElideMiddle, rest.width()));
        line.translate(0, metrics.height());
    }
}

} // namespace forkpoint
