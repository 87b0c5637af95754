// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/investigation_page.h"

#include "widgets/views/step_strip.h"
#include "widgets/views/verdict_banner.h"

#include <QEvent>
#include <QScrollArea>
#include <QSplitter>

#include <algorithm>

namespace forkpoint {

namespace {

/// Of the lists and details. Below the first the verdict is put in brief, for the second, which is
/// six rows with their controls, the strip scrolls, and below the third the page does.
constexpr int WantedLines = 16, SixRows = 15, FewestLines = 12;
constexpr int FewestStripLines = 4;

} // namespace

InvestigationPage::InvestigationPage(VerdictBanner *banner, StepStrip *strip, QSplitter *lists,
                                     QWidget *parent)
    : QWidget(parent),
      m_banner(banner),
      m_strip(strip),
      m_stripArea(new QScrollArea(this)),
      m_lists(lists)
{
    m_stripArea->setWidget(strip);
    m_stripArea->setWidgetResizable(true);
    m_stripArea->setFrameShape(QFrame::NoFrame);
    m_stripArea->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_stripArea->setFocusPolicy(Qt::NoFocus);
    banner->setParent(this);
    lists->setParent(this);
    m_stripArea->viewport()->installEventFilter(this); // hears where the strip wants other room
}

int InvestigationPage::space() const
{
    return fontMetrics().height() / 2;
}

int InvestigationPage::lines(int count) const
{
    return count * fontMetrics().height();
}

int InvestigationPage::fewestStrip() const
{
    return std::min(m_strip->sizeHint().height(), lines(FewestStripLines));
}

QSize InvestigationPage::minimumSizeHint() const
{
    const int inner = std::max(0, width() - 2 * space());
    const int banner = m_banner->heightFor(inner, !m_banner->isHeldOpen());
    return {m_lists->minimumSizeHint().width() + 2 * space(),
            banner + fewestStrip() + lines(FewestLines) + 3 * space()};
}

void InvestigationPage::arrange()
{
    const int gap = space(), inner = width() - 2 * gap;
    const int full = m_banner->heightFor(inner, false), brief = m_banner->heightFor(inner, true);
    int strip = m_strip->sizeHint().height();
    const auto left = [&](int banner) { return height() - banner - strip - 3 * gap; };
    const bool isBrief = left(full) < lines(WantedLines) && brief < full && !m_banner->isHeldOpen();
    const int banner = isBrief ? brief : full;
    strip = std::clamp(strip - (lines(SixRows) - left(banner)), fewestStrip(), strip);
    m_banner->setBrief(isBrief);
    m_banner->setGeometry(gap, gap, inner, banner);
    m_stripArea->setGeometry(gap, m_banner->geometry().bottom() + 1 + gap, inner, strip);
    const int top = m_stripArea->geometry().bottom() + 1 + gap;
    m_lists->setGeometry(gap, top, inner, std::max(lines(FewestLines), height() - top));
    scrollStrip();
}

/// Once to where the runs part; after that it is the user who scrolls.
void InvestigationPage::scrollStrip()
{
    const QRect row = m_strip->rowOfInterest();
    const bool isWhole = m_stripArea->height() >= m_strip->sizeHint().height();
    if (isWhole || row.isNull() || row == m_shownRow)
        return;
    m_shownRow = row;
    m_stripArea->ensureVisible(0, row.center().y(), 0, 2 * row.height());
}

void InvestigationPage::resizeEvent(QResizeEvent *event)
{
    QWidget::resizeEvent(event);
    arrange();
    updateGeometry(); // another width is another height of the verdict
}

bool InvestigationPage::event(QEvent *event)
{
    if (event->type() == QEvent::LayoutRequest || event->type() == QEvent::FontChange
        || event->type() == QEvent::Show) {
        arrange();
        updateGeometry();
    }
    return QWidget::event(event);
}

bool InvestigationPage::eventFilter(QObject *object, QEvent *event)
{
    if (object == m_stripArea->viewport() && event->type() == QEvent::LayoutRequest)
        QMetaObject::invokeMethod(
            this,
            [this] {
                arrange();
                updateGeometry();
            },
            Qt::QueuedConnection);
    return QWidget::eventFilter(object, event);
}

} // namespace forkpoint
