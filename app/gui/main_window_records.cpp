// SPDX-License-Identifier: GPL-3.0-or-later
// The records of traces in the window: beside their list stands the record, not the tensor.
#include "app/gui/main_window.h"
#include "widgets/views/job_status.h"
#include "widgets/views/metric_detail.h"
#include "widgets/views/record_detail.h"
#include "widgets/views/records_page.h"
#include "widgets/views/step_strip.h"
#include "widgets/views/tensor_detail.h"
#include "widgets/views/tensor_list.h"
#include "widgets/views/verdict_banner.h"

#include <QStackedWidget>

#include <algorithm>

namespace forkpoint {

QStackedWidget *MainWindow::buildRight()
{
    auto *right = new QStackedWidget;
    m_detail = new TensorDetail(&m_context);
    m_recordDetail = new RecordDetail(&m_context, m_list->records());
    right->addWidget(m_detail);
    right->addWidget(m_recordDetail);
    m_metricDetail = new MetricDetail(&m_context, m_list->metrics());
    right->addWidget(m_metricDetail);
    return right;
}

void MainWindow::connectRecords()
{
    connect(m_list, &TensorList::pageChanged, this, [this] {
        const TensorList::Page page = m_list->page();
        m_right->setCurrentIndex(page == TensorList::Page::Records       ? 1
                                     : page == TensorList::Page::Metrics ? 2
                                                                         : 0);
    });
    connect(m_recordDetail, &RecordDetail::message, m_status, &JobStatus::showMessage);
    connect(m_list->records(), &RecordsPage::tensorRequested, this,
            [this] { m_detail->showPage(TensorDetail::Page::Elements); });
    connect(m_strip, &StepStrip::cellChosen, m_list->records(),
            [this](std::int64_t step, const std::string &stage) {
                m_list->records()->showPlace(step, {stage});
            });
    connect(
        m_strip, &StepStrip::rankChosen, m_list->records(),
        [this](std::int64_t step, std::size_t rank) { m_list->records()->showRank(rank, step); });
    connect(m_strip, &StepStrip::microBatchChosen, m_list->records(),
            [this](std::int64_t step, std::int64_t microBatch) {
                m_list->records()->showPlace(step, {{}, {}, microBatch});
            });
    connect(m_banner, &VerdictBanner::placeRequested, this,
            [this](std::int64_t step, const std::string &stage) {
                m_list->records()->showPlace(step, {stage});
                showRecordPart(QStringLiteral("records"));
            });
    connect(m_strip, &StepStrip::cellActivated, this,
            [this] { showRecordPart(QStringLiteral("records")); });
    connect(&m_context, &ViewContext::comparisonChanged, this, &MainWindow::leadToRecords);
}

/// Where there are traces and no tensors at all, the records are what there is.
void MainWindow::leadToRecords()
{
    if (!m_list->records()->hasTraces()) {
        m_ledToRecords = false;
        return;
    }
    if (m_ledToRecords)
        return;
    m_ledToRecords = true;
    const auto isTraceAlone = [this](Side side) {
        const auto &steps = m_context.side(side).steps;
        return std::all_of(steps.begin(), steps.end(),
                           [](const RunStep &step) { return step.metricsOnly; });
    };
    if (isTraceAlone(Side::A) && isTraceAlone(Side::B))
        showRecordPart(QStringLiteral("records"));
}

/// Where a checkpoint holds values alone, they are what there is.
void MainWindow::leadToValues()
{
    const auto shown = m_context.stepComparison();
    if (!shown) {
        m_ledToValues = false;
        return;
    }
    if (m_ledToValues || !shown->tensors.empty() || shown->values.empty() || !shown->finished)
        return;
    m_ledToValues = true;
    if (m_list->page() == TensorList::Page::Tensors)
        m_list->showPage(TensorList::Page::Values);
}

bool MainWindow::showRecordPart(const QString &word)
{
    const std::pair<QString, RecordDetail::Page> parts[] = {
        {QStringLiteral("records"), RecordDetail::Page::Record},
        {QStringLiteral("ranks"), RecordDetail::Page::Ranks},
        {QStringLiteral("drift"), RecordDetail::Page::Steps}};
    for (const auto &[name, page] : parts) {
        if (name != word || !m_list->records()->hasTraces())
            continue;
        m_list->showPage(TensorList::Page::Records);
        m_recordDetail->showPage(page);
        return true;
    }
    if (word == QStringLiteral("rank-rows"))
        return m_strip->showRows(StepStrip::Rows::Ranks);
    return word == QStringLiteral("micro-batch-rows")
        && m_strip->showRows(StepStrip::Rows::MicroBatches);
}

/// A tensor or value, else the record of that name: where the runs part.
void MainWindow::showItem(const QString &name)
{
    if (m_list->showItem(name) || !m_list->records()->hasTraces())
        return;
    showRecordPart(QStringLiteral("records"));
    const auto comparison = m_context.comparison();
    if (comparison && comparison->trace && comparison->trace->firstRank)
        m_list->records()->showRank(*comparison->trace->firstRank);
}

} // namespace forkpoint
