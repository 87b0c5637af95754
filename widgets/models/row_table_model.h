// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/models/row_index.h"

#include <QAbstractTableModel>
#include <QThreadPool>

#include <map>

namespace forkpoint {

/// A flat table over the rows of a result, filtered and sorted by own row vectors. A newer snapshot
/// of the same result changes cells; it never moves rows until the user sorts. Small results are
/// arranged at once, large ones on another thread while the table goes on showing what it has.
class RowTableModel : public QAbstractTableModel
{
    Q_OBJECT

public:
    /// Up to here, arranging takes a few milliseconds.
    static constexpr std::size_t RowsAtOnce = 20'000;

    RowTableModel(int columns, int nameColumn, QObject *parent);
    ~RowTableModel() override;

    void setFilter(const RowFilter &filter);
    const RowFilter &filter() const { return m_filter; }

    const std::vector<Row> &visibleRows() const { return m_index.visible(); }
    std::size_t total() const { return m_index.total(); }
    /// Row of the result shown at a row of the model.
    std::size_t resultRow(int row) const { return m_index.visible()[std::size_t(row)]; }
    /// Row of the model, or -1 where the filter hides it.
    int rowOf(std::size_t resultRow) const { return m_index.positionOf(resultRow); }
    bool arranging() const { return m_arranging; }

    int rowCount(const QModelIndex &parent = {}) const final;
    int columnCount(const QModelIndex &parent = {}) const final;
    void sort(int column, Qt::SortOrder order) final;

Q_SIGNALS:
    void rowsChanged(); ///< other rows are visible, or in another order
    void cellsChanged();

protected:
    void setRows(std::shared_ptr<RowSource> rows);
    /// What the model shows from now on; null for nothing.
    virtual void show(std::shared_ptr<const RowSource> rows) = 0;

private:
    using Keys = std::map<int, std::vector<std::uint64_t>>; ///< by column

    /// What to do, and what came of it; travels to the arranging thread and back.
    struct Task
    {
        std::uint64_t number = 0;
        bool prepare = false, sort = false, filters = false;
        std::shared_ptr<RowSource> rows;
        std::shared_ptr<const RowSource> before;
        RowIndex index;
        std::shared_ptr<Keys> keys;
        RowFilter filter;
        int column = 0;
        bool descending = false;
        bool sameRows = false;
    };

    void arrange();
    static void carryOut(Task &task, int nameColumn);
    void take(Task &task);
    void takeOrder(RowIndex index);

    int m_columns, m_nameColumn;
    std::shared_ptr<RowSource> m_wanted, m_shown;
    RowIndex m_index;
    std::shared_ptr<Keys> m_keys; ///< of m_shown; touched by one task at a time
    RowFilter m_filter;
    int m_sortColumn;
    Qt::SortOrder m_sortOrder = Qt::AscendingOrder;
    std::uint64_t m_latest = 0;
    bool m_arranging = false;
    bool m_mustPrepare = false, m_mustSort = false,
         m_mustFilter = false; ///< until a task has done it
    QThreadPool m_pool;
};

} // namespace forkpoint
