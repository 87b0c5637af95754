// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/remark_table.h"

#include "widgets/theme.h"
#include "widgets/views/table_actions.h"
#include "widgets/views/view_setup.h"

#include <QEvent>
#include <QHeaderView>
#include <QLabel>
#include <QStyle>
#include <QTreeView>

#include <algorithm>
#include <numeric>

namespace forkpoint {

RemarkTable::RemarkTable(ViewContext *context, const QString &accessibleName,
                         const QStringList &columns, const std::vector<int> &characters,
                         QWidget *parent)
    : QStackedWidget(parent),
      m_model(new RemarkListModel(columns, this)),
      m_view(makeTable(m_model, accessibleName, this)),
      m_empty(new QLabel(this))
{
    setColumnWidths(m_view, characters);
    m_empty->setTextFormat(Qt::PlainText);
    m_empty->setAlignment(Qt::AlignCenter);
    m_empty->setWordWrap(true);
    m_empty->setForegroundRole(QPalette::PlaceholderText);
    addWidget(m_view);
    addWidget(m_empty);
    addTableActions(m_view, context, accessibleName);
    connect(m_view, &QTreeView::activated, this, [this](const QModelIndex &index) {
        const QStringList &names = m_model->at(index.row()).names;
        if (!names.isEmpty())
            Q_EMIT itemRequested(names.first());
    });
    setRows({});
}

void RemarkTable::setRows(std::vector<Remark> rows)
{
    const bool wasEmpty = isEmpty();
    m_model->setRows(std::move(rows));
    setCurrentWidget(isEmpty() ? m_empty : static_cast<QWidget *>(m_view));
    fit();
    if (isEmpty() == wasEmpty)
        return;
    updateGeometry();
    Q_EMIT roomChanged();
}

void RemarkTable::fitColumns(std::vector<int> first)
{
    m_narrowedFirst = std::move(first);
    fit();
}

void RemarkTable::fit()
{
    constexpr int MostCharacters = 72, LeastCharacters = 16, TitleMargin = 8;
    if (m_narrowedFirst.empty() || isEmpty())
        return;
    QHeaderView *header = m_view->header();
    const QAbstractItemView *view = m_view; // a tree view hides the hint that every view has
    const int columns = m_model->columnCount();
    std::vector<int> held, widths;
    for (int column = 0; column < columns; ++column) {
        const int title = header->sectionSizeHint(column) + TitleMargin;
        held.push_back(std::max(view->sizeHintForColumn(column), title));
        widths.push_back(std::min(held.back(), columnWidth(m_view, MostCharacters)));
    }
    // The view itself is laid out after this.
    const int room = width() - style()->pixelMetric(QStyle::PM_ScrollBarExtent);
    int over = std::accumulate(widths.begin(), widths.end(), 0) - room;
    const int least = columnWidth(m_view, LeastCharacters);
    for (std::size_t i = 0; i < m_narrowedFirst.size() && over > 0; ++i) {
        int &width = widths[std::size_t(m_narrowedFirst[i])];
        const int share = over / int(m_narrowedFirst.size() - i);
        const int taken = std::clamp(share, 0, std::max(0, width - least));
        width -= taken;
        over -= taken;
    }
    for (std::size_t column = 0; column < widths.size() && over < 0; ++column) {
        const int more = std::min(-over, held[column] - widths[column]);
        widths[column] += more;
        over += more;
    }
    widths.back() += std::max(0, -over); // no empty stripe behind it
    for (int column = 0; column < columns; ++column)
        m_view->setColumnWidth(column, widths[std::size_t(column)]);
}

void RemarkTable::resizeEvent(QResizeEvent *event)
{
    QStackedWidget::resizeEvent(event);
    fit();
}

void RemarkTable::changeEvent(QEvent *event)
{
    QStackedWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange)
        fit();
}

/// What a dock opens with: a few rows, so that the page above keeps its room; a line while there are
/// none.
QSize RemarkTable::sizeHint() const
{
    constexpr int Rows = 7;
    return {QStackedWidget::sizeHint().width(),
            (isEmpty() ? 2 : Rows + 1) * forkpoint::rowHeight(font())};
}

QSize RemarkTable::minimumSizeHint() const
{
    return {QStackedWidget::minimumSizeHint().width(),
            (isEmpty() ? 1 : 3) * forkpoint::rowHeight(font())};
}

void RemarkTable::setEmptyText(const QString &text)
{
    m_empty->setText(text);
}

} // namespace forkpoint
