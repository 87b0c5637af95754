// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QScrollArea;
class QSplitter;

namespace forkpoint {

class StepStrip;
class VerdictBanner;

/// Verdict, step strip, and below them lists and details. Where a small screen or a large font leaves
/// the lists too little, first the verdict is put in brief, then the strip scrolls; below a height
/// that serves nobody the page asks for more than there is, and whoever holds it scrolls.
class InvestigationPage : public QWidget
{
    Q_OBJECT

public:
    InvestigationPage(VerdictBanner *banner, StepStrip *strip, QSplitter *lists,
                      QWidget *parent = nullptr);

    QSize minimumSizeHint() const override;

protected:
    bool event(QEvent *event) override;
    bool eventFilter(QObject *object, QEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;

private:
    int space() const;
    int lines(int count) const;
    int fewestStrip() const;
    void arrange();
    void scrollStrip();

    VerdictBanner *m_banner;
    StepStrip *m_strip;
    QScrollArea *m_stripArea;
    QRect m_shownRow; ///< that the strip was scrolled to
    QSplitter *m_lists;
};

} // namespace forkpoint
