// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/side_chip.h"

#include "widgets/display_text.h"
#include "widgets/pair_texts.h"
#include "widgets/theme.h"

#include <QPainter>

#include <algorithm>

namespace forkpoint {

namespace {

constexpr int Margin = 10, Gap = 8;

QFont bold(QFont font)
{
    font.setBold(true);
    return font;
}

} // namespace

SideChip::SideChip(Side side, QWidget *parent) : PathButton(side, parent)
{
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    setState({});
}

void SideChip::setState(const SideState &state, const QString &other)
{
    m_state = state;
    m_other = other;
    setAccessibleName(tr("Side %1: %2 %3").arg(letter(), pathText(), stateText()));
    QString tip = tr("Side %1: %2\n%3").arg(letter(), pathText(), stateText());
    tip += tr("\nClick to open another, or drop a file or folder here.");
    setToolTip(plainToolTip(tip));
    updateGeometry();
    update();
}

QString SideChip::pathText() const
{
    return m_state.phase == SideState::Phase::Empty ? tr("Open…") : displayText(m_state.path);
}

/// What tells it from the other side's is left out last.
QString SideChip::pathWithin(int width) const
{
    const QFontMetrics metrics = fontMetrics();
    QString path = pathText();
    const int room = width / std::max(1, metrics.averageCharWidth());
    if (m_state.phase != SideState::Phase::Empty && metrics.horizontalAdvance(path) > width)
        path = pairTexts({m_state.path + u'\n' + m_other}, room).front().a;
    return metrics.elidedText(path, Qt::ElideMiddle, width);
}

QString SideChip::stateText() const
{
    switch (m_state.phase) {
    case SideState::Phase::Empty: return tr("or drop a file or folder");
    case SideState::Phase::Opening: return tr("opening…");
    case SideState::Phase::Failed: return tr("✖ ") + errorText();
    case SideState::Phase::Recorded: return displayText(m_state.format) + tr(", from a report");
    case SideState::Phase::Open: break;
    }
    return displayText(m_state.format) + stepsText();
}

/// Without the path, which stands before it already.
QString SideChip::errorText() const
{
    const QString prefix = m_state.path + QStringLiteral(": ");
    return displayText(m_state.error.startsWith(prefix) ? m_state.error.mid(prefix.size())
                                                        : m_state.error);
}

/// ", 3 checkpoints"; of a trace the steps of which it kept whole tensors.
QString SideChip::stepsText() const
{
    const std::vector<RunStep> &steps = m_state.steps;
    const auto kept = std::size_t(
        std::count_if(steps.begin(), steps.end(), [](const RunStep &step) { return step.isKept; }));
    const auto checkpoints =
        std::size_t(std::count_if(steps.begin(), steps.end(), [](const RunStep &step) {
            return !step.isKept && !step.metricsOnly;
        }));
    QString text;
    const bool single = steps.size() == 1 && !steps.front().step;
    if (checkpoints > 0 && !single)
        text += tr(", ") + countedText(checkpoints, "checkpoint", "checkpoints");
    if (kept > 0)
        text += tr(", tensors of %1").arg(countedText(kept, "step", "steps"));
    return text;
}

QSize SideChip::sizeHint() const
{
    const QFontMetrics metrics = fontMetrics();
    const int wide = 2 * Margin + 2 * Gap
        + QFontMetrics(bold(font())).horizontalAdvance(QStringLiteral("A"))
        + metrics.horizontalAdvance(pathText()) + metrics.horizontalAdvance(stateText());
    return {std::min(wide + 4, metrics.averageCharWidth() * 110), metrics.height() + 10};
}

QSize SideChip::minimumSizeHint() const
{
    return {fontMetrics().averageCharWidth() * 24, fontMetrics().height() + 10};
}

void SideChip::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const Theme theme = Theme::of(palette());
    painter.setPen(QPen(isMarked() ? theme.color(side()) : theme.border, isMarked() ? 2 : 1));
    painter.setBrush(isDown() || underMouse() ? theme.header : theme.surface);
    painter.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), 4, 4);

    QRect rest = rect().adjusted(Margin, 0, -Margin, 0);
    painter.setFont(bold(font()));
    painter.setPen(theme.color(side()));
    painter.drawText(rest, Qt::AlignVCenter, letter());
    rest.setLeft(rest.left() + painter.fontMetrics().horizontalAdvance(letter()) + Gap);

    painter.setFont(font());
    const QFontMetrics metrics = fontMetrics();
    const int stateWidth = std::min(metrics.horizontalAdvance(stateText()), rest.width() / 2);
    const int pathRoom = rest.width() - stateWidth - Gap;
    const QString path = pathWithin(pathRoom);
    painter.setPen(m_state.phase == SideState::Phase::Empty ? theme.muted : theme.text);
    painter.drawText(rest, Qt::AlignVCenter, path);
    rest.setLeft(rest.left() + metrics.horizontalAdvance(path) + Gap);
    const bool failed = m_state.phase == SideState::Phase::Failed;
    painter.setPen(failed ? theme.unknown : theme.muted);
    painter.drawText(rest, Qt::AlignVCenter,
                     metrics.elidedText(stateText(), Qt::ElideRight, rest.width()));
}

} // namespace forkpoint
