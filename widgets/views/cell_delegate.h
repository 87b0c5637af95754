// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStyledItemDelegate>

namespace forkpoint {

/// A name that fits into `width` pixels: its last two parts stay whole as long as there is room, since
/// names that begin alike differ there ("optimizer.st…embed_tokens.weight").
QString elidedName(const QString &name, const QFontMetrics &metrics, int width);

/// A number that fits into `width` pixels, in the same digits as `other` up to the first in which they
/// differ: it is cut behind that, an exponent stays ("0.02479…", "1.2345…e-05"), and where there is no
/// room for so many digits, the first ones go ("…4412067"). Two unlike numbers never look alike.
QString elidedNumber(const QString &number, const QString &other, const QFontMetrics &metrics,
                     int width);

/// Paints the cells of every table: colours of the theme by ColorRole, the bar of BarRole, numbers
/// in the fixed-pitch face, rows as high as rowHeight().
class CellDelegate : public QStyledItemDelegate
{
    Q_OBJECT

public:
    using QStyledItemDelegate::QStyledItemDelegate;

    void paint(QPainter *painter, const QStyleOptionViewItem &option,
               const QModelIndex &index) const override;
    QSize sizeHint(const QStyleOptionViewItem &option, const QModelIndex &index) const override;

protected:
    void initStyleOption(QStyleOptionViewItem *option, const QModelIndex &index) const override;
};

} // namespace forkpoint
