// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/flow_layout.h"

#include <algorithm>

namespace forkpoint {

namespace {

bool mayGrow(const QLayoutItem *item)
{
    return item->expandingDirections() & Qt::Horizontal;
}

/// What an item takes before anything is shared out: less than it would like, if it may grow.
int widthOf(const QLayoutItem *item)
{
    return mayGrow(item) ? item->minimumSize().width() : item->sizeHint().width();
}

} // namespace

FlowLayout::FlowLayout(QWidget *parent) : QLayout(parent) {}

FlowLayout::~FlowLayout()
{
    for (QLayoutItem *item : m_items)
        delete item;
}

void FlowLayout::addItem(QLayoutItem *item)
{
    m_items.push_back(item);
    invalidate();
}

QLayoutItem *FlowLayout::itemAt(int index) const
{
    return index >= 0 && index < count() ? m_items[std::size_t(index)] : nullptr;
}

QLayoutItem *FlowLayout::takeAt(int index)
{
    QLayoutItem *item = itemAt(index);
    if (item)
        m_items.erase(m_items.begin() + index);
    invalidate();
    return item;
}

void FlowLayout::setGeometry(const QRect &rect)
{
    QLayout::setGeometry(rect);
    arrange(rect, true);
}

/// All in one line.
QSize FlowLayout::sizeHint() const
{
    QSize size;
    for (const QLayoutItem *item : m_items) {
        if (item->isEmpty())
            continue;
        const QSize wanted = item->sizeHint();
        size.rwidth() += wanted.width() + (size.width() > 0 ? spacing() : 0);
        size.setHeight(std::max(size.height(), wanted.height()));
    }
    const QMargins margins = contentsMargins();
    return size + QSize(margins.left() + margins.right(), margins.top() + margins.bottom());
}

/// The widest control alone.
QSize FlowLayout::minimumSize() const
{
    QSize size;
    for (const QLayoutItem *item : m_items) {
        if (!item->isEmpty())
            size = size.expandedTo(item->minimumSize());
    }
    const QMargins margins = contentsMargins();
    return size + QSize(margins.left() + margins.right(), margins.top() + margins.bottom());
}

/// In one line, before anything grows.
int FlowLayout::widthOfAll() const
{
    int width = 0;
    for (const QLayoutItem *item : m_items)
        if (!item->isEmpty())
            width += widthOf(item) + (width > 0 ? spacing() : 0);
    return width;
}

/// The height that the lines take.
int FlowLayout::arrange(const QRect &rect, bool place) const
{
    const QMargins margins = contentsMargins();
    const QRect area = rect.marginsRemoved(margins);
    std::vector<QLayoutItem *> line;
    int y = area.top(), width = 0, height = 0;
    const bool isFirstAlone = m_isFirstAlone && widthOfAll() > area.width();
    const auto finishLine = [&] {
        if (place)
            placeLine(line, QRect(area.left(), y, area.width(), height));
        line.clear();
        y += height;
        width = height = 0;
    };
    for (QLayoutItem *item : m_items) {
        if (item->isEmpty())
            continue;
        const int wanted = widthOf(item);
        const bool isBehindFirst = isFirstAlone && !line.empty() && line.front() == m_items.front();
        if (!line.empty() && (isBehindFirst || width + spacing() + wanted > area.width())) {
            finishLine();
            y += spacing();
        }
        width += wanted + (line.empty() ? 0 : spacing());
        height = std::max(height, item->sizeHint().height());
        line.push_back(item);
    }
    if (!line.empty())
        finishLine();
    return y - area.top() + margins.top() + margins.bottom();
}

void FlowLayout::placeLine(const std::vector<QLayoutItem *> &line, QRect area) const
{
    int used = int(line.size() - 1) * spacing(), growing = 0;
    for (const QLayoutItem *item : line) {
        used += widthOf(item);
        growing += mayGrow(item) ? 1 : 0;
    }
    const int more = growing > 0 ? std::max(0, area.width() - used) / growing : 0;
    int x = area.left();
    for (QLayoutItem *item : line) {
        const int width = std::min(widthOf(item) + (mayGrow(item) ? more : 0), area.width());
        const int height = item->sizeHint().height();
        item->setGeometry(QRect(x, area.top() + (area.height() - height) / 2, width, height));
        x += width + spacing();
    }
}

} // namespace forkpoint
