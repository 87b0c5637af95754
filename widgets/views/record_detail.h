// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/view_context.h"

#include <QWidget>

class QTabWidget;
class QLabel;
class QTreeView;

namespace forkpoint {

class CellTableModel;
class DriftView;
class RecordsPage;
class RecordView;

/// Beside the list of records: the one that is selected, all ranks with their first mismatches, and
/// the record over the steps.
class RecordDetail : public QWidget
{
    Q_OBJECT

public:
    enum class Page { Record, Ranks, Steps };

    /// `records` outlives it.
    RecordDetail(ViewContext *context, RecordsPage *records, QWidget *parent = nullptr);

    void showPage(Page page);
    RecordView *recordView() const { return m_record; }
    DriftView *driftView() const { return m_drift; }
    QTreeView *rankTable() const { return m_rankTable; }

Q_SIGNALS:
    void message(const QString &text);

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    void buildRanks();
    void refreshRow();
    void refreshRanks();
    void describeRank();

    ViewContext *m_context;
    RecordsPage *m_records;
    QTabWidget *m_tabs;
    RecordView *m_record;
    CellTableModel *m_ranks;
    QTreeView *m_rankTable;
    QLabel *m_rankText; ///< all that the table's columns cut of the current rank
    DriftView *m_drift;
};

} // namespace forkpoint
