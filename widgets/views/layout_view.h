// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/pair_layout.h"
#include "widgets/view_context.h"

#include <QWidget>

namespace forkpoint {

/// One side's parts of a tensor, drawn where they lie in it: the first axis downwards, the second to
/// the right. What differs is coloured and hatched, and says how much; what is equal bears a sign.
class LayoutView : public QWidget
{
    Q_OBJECT

public:
    LayoutView(Side side, QWidget *parent);

    void setLayout(const SideLayout *layout); ///< null: nothing; kept by the caller
    void setSelectedOwner(const QString &owner);

    QSize sizeHint() const override { return {320, 220}; }
    QSize minimumSizeHint() const override { return {120, 80}; }

Q_SIGNALS:
    void ownerActivated(const QString &owner);

protected:
    void paintEvent(QPaintEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;
    bool event(QEvent *event) override;

private:
    QRectF frame() const;
    QRectF rectOf(const LayoutPart &part) const;
    const LayoutPart *partAt(const QPointF &place) const;
    void paintPart(QPainter &painter, const LayoutPart &part) const;

    Side m_side;
    const SideLayout *m_layout = nullptr;
    QString m_owner;
};

/// "rows 0–511, columns 0–1,023": where a part lies.
QString boxText(const Box &box);
/// "12 of 3,072 differ", "equal", "not counted".
QString differenceText(const LayoutPart &part);

} // namespace forkpoint
