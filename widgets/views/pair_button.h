// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/pair_texts.h"

#include <QToolButton>

namespace forkpoint {

/// A button that opens a pair: A's path above B's, so that the eye finds where they differ. It is as
/// wide as they are where there is room.
class PairButton : public QToolButton
{
    Q_OBJECT

public:
    explicit PairButton(PairText text, QWidget *parent = nullptr);

    const PairText &pair() const { return m_text; }
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    PairText m_text;
};

} // namespace forkpoint
