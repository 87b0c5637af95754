// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QLayout>

#include <vector>

namespace forkpoint {

/// Controls in a row that goes on below when there is no room: nothing of a bar is ever cut off.
/// What may grow shares what is left of its line.
class FlowLayout final : public QLayout
{
public:
    explicit FlowLayout(QWidget *parent = nullptr);
    ~FlowLayout() override;

    /// Where one line does not hold everything, the first item has one of its own, so that what belongs
    /// together behind it stays together.
    void setFirstAlone(bool alone) { m_isFirstAlone = alone; }

    void addItem(QLayoutItem *item) override;
    int count() const override { return int(m_items.size()); }
    QLayoutItem *itemAt(int index) const override;
    QLayoutItem *takeAt(int index) override;
    Qt::Orientations expandingDirections() const override { return Qt::Horizontal; }
    bool hasHeightForWidth() const override { return true; }
    int heightForWidth(int width) const override { return arrange(QRect(0, 0, width, 0), false); }
    void setGeometry(const QRect &rect) override;
    QSize sizeHint() const override;
    QSize minimumSize() const override;

private:
    int arrange(const QRect &rect, bool place) const;
    int widthOfAll() const;
    void placeLine(const std::vector<QLayoutItem *> &line, QRect area) const;

    std::vector<QLayoutItem *> m_items;
    bool m_isFirstAlone = false;
};

} // namespace forkpoint
