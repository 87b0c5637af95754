// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/record_detail.h"

#include "widgets/models/record_cells.h"
#include "widgets/views/card.h"
#include "widgets/views/drift_view.h"
#include "widgets/views/record_view.h"
#include "widgets/views/records_page.h"
#include "widgets/views/table_actions.h"
#include "widgets/views/view_setup.h"

#include <QItemSelectionModel>
#include <QLabel>
#include <QTabWidget>
#include <QTreeView>
#include <QVBoxLayout>

#include <array>

namespace forkpoint {

RecordDetail::RecordDetail(ViewContext *context, RecordsPage *records, QWidget *parent)
    : QWidget(parent),
      m_context(context),
      m_records(records),
      m_tabs(new QTabWidget(this)),
      m_record(new RecordView(context, m_tabs)),
      m_ranks(new CellTableModel(rankTitles(), {}, this)),
      m_rankTable(makeTable(m_ranks, tr("Ranks"), m_tabs)),
      m_rankText(new QLabel(m_tabs)),
      m_drift(new DriftView(context, m_tabs))
{
    setObjectName(QStringLiteral("recordDetail"));
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(1, 6, 1, 1);
    layout->addWidget(m_tabs);
    m_tabs->setDocumentMode(true);
    m_tabs->addTab(m_record, tr("Record"));
    buildRanks();
    m_tabs->addTab(m_drift, tr("Over steps"));

    connect(records, &RecordsPage::rowChanged, this, &RecordDetail::refreshRow);
    connect(context, &ViewContext::comparisonChanged, this, &RecordDetail::refreshRanks);
    connect(m_record, &RecordView::tensorRequested, records, &RecordsPage::openTensor);
    connect(m_record, &RecordView::namesakeRequested, records, &RecordsPage::goToNamesake);
    connect(m_record, &RecordView::message, this, &RecordDetail::message);
    connect(m_drift, &DriftView::message, this, &RecordDetail::message);
    connect(m_drift, &DriftView::stepRequested, this, [this](std::int64_t step) {
        m_records->showPlace(step, {});
        m_context->selectStep(step);
    });
    refreshRow();
    refreshRanks();
}

void RecordDetail::buildRanks()
{
    m_rankTable->setObjectName(QStringLiteral("rankTable"));
    setColumnWidths(m_rankTable, std::array{2, 12, 12, 0, 14, 0});
    m_rankText->setObjectName(QStringLiteral("rankText"));
    m_rankText->setTextFormat(Qt::PlainText);
    m_rankText->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    m_rankText->setWordWrap(true);
    m_rankText->setContentsMargins(8, 6, 8, 6);
    auto *page = new QWidget(m_tabs);
    auto *layout = new QVBoxLayout(page);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_rankTable, 1);
    layout->addWidget(m_rankText);
    m_tabs->addTab(page, tr("Ranks"));
    connect(m_rankTable->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            &RecordDetail::describeRank);
    addTableActions(m_rankTable, m_context, QStringLiteral("ranks"),
                    [this](const QString &text) { Q_EMIT message(text); });
    const auto go = [this](const QModelIndex &index) {
        if (index.isValid()) // none of those that one side alone has
            m_records->showRank(std::size_t(index.row()));
    };
    connect(m_rankTable, &QTreeView::clicked, this, go);
    connect(m_rankTable, &QTreeView::activated, this, go);
}

void RecordDetail::showPage(Page page)
{
    m_tabs->setCurrentIndex(int(page));
}

void RecordDetail::refreshRow()
{
    // Of one trace alone there is nothing but the record itself.
    for (const Page page : {Page::Ranks, Page::Steps})
        m_tabs->setTabVisible(int(page), !m_records->isAlone());
    m_record->setRow(m_records->row());
    m_drift->setRow(m_records->row(), m_records->rank());
}

void RecordDetail::refreshRanks()
{
    const auto comparison = m_context->comparison();
    std::vector<CellRow> rows;
    if (comparison && comparison->trace) {
        for (const RankComparison &rank : comparison->trace->ranks)
            rows.push_back(rankCells(rank));
        for (const TraceCoordinate &rank : comparison->trace->ranksOnlyA)
            rows.push_back(loneRankCells(rank, true));
        for (const TraceCoordinate &rank : comparison->trace->ranksOnlyB)
            rows.push_back(loneRankCells(rank, false));
    }
    m_ranks->setRows(std::move(rows));
    // The one where the runs part, until another is chosen.
    const TraceComparison *trace = comparison ? comparison->trace.get() : nullptr;
    const int first = trace && trace->firstRank ? int(*trace->firstRank) : 0;
    if (!m_rankTable->currentIndex().isValid() && m_ranks->rowCount() > 0)
        m_rankTable->setCurrentIndex(m_ranks->index(first, 0));
    describeRank();
}

void RecordDetail::describeRank()
{
    const QModelIndex current = m_rankTable->currentIndex();
    m_rankText->setVisible(current.isValid());
    if (!current.isValid())
        return;
    const CellRow &row = m_ranks->at(current.row());
    const bool isNamed = row.toolTip.startsWith(row.name);
    m_rankText->setText(isNamed ? row.toolTip
                                : row.name + QStringLiteral(" · ") + row.cells[2].text + u'\n'
                                + row.toolTip);
}

void RecordDetail::paintEvent(QPaintEvent *)
{
    paintCard(this);
}

} // namespace forkpoint
