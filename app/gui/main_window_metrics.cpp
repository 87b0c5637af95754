// SPDX-License-Identifier: GPL-3.0-or-later
// Logged numbers in the window: their list, and beside it the one that is selected.
#include "app/gui/main_window.h"
#include "widgets/display_text.h"
#include "widgets/views/job_status.h"
#include "widgets/views/metric_detail.h"
#include "widgets/views/metrics_page.h"
#include "widgets/views/shown_lists.h"
#include "widgets/views/step_strip.h"
#include "widgets/views/tensor_list.h"
#include "widgets/views/verdict_banner.h"

namespace forkpoint {

void MainWindow::connectMetrics()
{
    connect(m_list->metrics(), &MetricsPage::metricChosen, m_strip, &StepStrip::drawMetric);
    connect(m_metricDetail, &MetricDetail::message, m_status, &JobStatus::showMessage);
    connect(m_banner, &VerdictBanner::metricRequested, this, &MainWindow::showMetric);
    connect(&m_context, &ViewContext::comparisonChanged, this, &MainWindow::leadToMetrics);
    connect(&m_context, &ViewContext::stepComparisonChanged, this, &MainWindow::leadToMetrics);
}

void MainWindow::showMetric(const QString &name)
{
    m_strip->drawMetric(name);
    if (m_list->metrics()->select(name))
        m_list->showPage(TensorList::Page::Metrics);
}

/// Where nothing but numbers was logged, they are what there is: the one that parts first.
void MainWindow::leadToMetrics()
{
    const auto comparison = m_context.comparison();
    const bool isKnown = comparison ? comparison->finished : isOneSideAlone(m_context);
    if (!isKnown || !m_list->metrics()->areMetricsAll()) {
        m_ledToMetrics = false;
        return;
    }
    if (m_ledToMetrics)
        return;
    m_ledToMetrics = true;
    m_list->showPage(TensorList::Page::Metrics);
    if (const MetricPair *first = m_list->metrics()->selected())
        m_strip->drawMetric(displayText(first->name));
}

} // namespace forkpoint
