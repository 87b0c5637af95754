// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/metrics_page.h"

#include "widgets/display_text.h"
#include "widgets/models/cell_table_model.h"
#include "widgets/views/shown_lists.h"
#include "widgets/views/table_actions.h"
#include "widgets/views/view_setup.h"

#include <QItemSelectionModel>
#include <QLabel>
#include <QTreeView>
#include <QVBoxLayout>

#include <algorithm>
#include <array>

namespace forkpoint {

namespace {

QStringList titles()
{
    return {{},
            MetricsPage::tr("metric"),
            MetricsPage::tr("steps"),
            MetricsPage::tr("differ"),
            MetricsPage::tr("first at"),
            MetricsPage::tr("A there"),
            MetricsPage::tr("B there"),
            MetricsPage::tr("precision")};
}

QStringList titleTips()
{
    return {{},
            {},
            MetricsPage::tr("steps that both sides logged"),
            MetricsPage::tr("steps whose numbers surely differ"),
            MetricsPage::tr("the first step whose numbers surely differ"),
            MetricsPage::tr("the number of A at that step"),
            MetricsPage::tr("the number of B at that step"),
            MetricsPage::tr("how much of the numbers is known: of printed, rounded numbers a "
                            "difference below the last digit is not "
                            "seen")};
}

Cell valueCell(const MetricSeries *series, std::int64_t step, ThemeColor color)
{
    const auto point = pointAt(series, step);
    if (!point)
        return {MetricsPage::tr("not kept"), ThemeColor::Muted, true};
    return {metricValueText(*series, *point), color, true};
}

QString toolTipOf(const MetricPair &pair)
{
    QStringList lines{displayText(pair.name) + QStringLiteral(": ") + pair.look().words,
                      pair.precision()};
    if (pair.compared && pair.compared->context)
        lines += MetricsPage::tr("a time, a rate or memory: it decides nothing");
    if (pair.compared && pair.compared->oneSidedSteps > 0)
        lines += MetricsPage::tr("%1 steps were logged on one side only")
                     .arg(groupedText(pair.compared->oneSidedSteps));
    for (const auto &[name, series] : {std::pair{u'A', pair.a}, std::pair{u'B', pair.b}})
        if (series)
            lines += QChar(name) + QStringLiteral(": ") + displayText(series->file);
    return lines.join(u'\n');
}

CellRow rowOf(const MetricPair &pair, bool isAlone)
{
    const bool decides = !pair.compared || !pair.compared->context;
    const ThemeColor color = decides ? ThemeColor::Text : ThemeColor::Muted;
    const Cell none{QStringLiteral("–"), ThemeColor::Muted, true};
    CellRow row;
    row.name = displayText(pair.name);
    row.toolTip = toolTipOf(pair);
    row.cells = {Cell::sign(isAlone ? look(ItemStatus::NotCompared) : pair.look()),
                 {row.name, color}};
    const MetricSeries *only = pair.a ? pair.a : pair.b;
    if (!pair.compared) {
        row.cells.push_back({only ? groupedText(only->points.size()) : QString(), color, true});
        row.cells.insert(row.cells.end(), {none, none, none, none});
    } else {
        const auto &first = pair.compared->firstProvenDifference;
        row.cells.push_back({groupedText(pair.compared->commonSteps), color, true});
        row.cells.push_back(
            {groupedText(pair.compared->differentSteps), first ? color : ThemeColor::Muted, true});
        row.cells.push_back(first ? Cell{QString::number(*first), color, true} : none);
        row.cells.push_back(first ? valueCell(pair.a, *first, ThemeColor::A) : none);
        row.cells.push_back(first ? valueCell(pair.b, *first, ThemeColor::B) : none);
    }
    row.cells.push_back({pair.precisionCell(), ThemeColor::Muted});
    return row;
}

} // namespace

MetricsPage::MetricsPage(ViewContext *context, QWidget *parent)
    : QWidget(parent),
      m_context(context),
      m_model(new CellTableModel(titles(), titleTips(), this)),
      m_view(makeTable(m_model, tr("Metrics"), this)),
      m_counts(new QLabel(this))
{
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(4);
    m_counts->setTextFormat(Qt::PlainText);
    m_counts->setForegroundRole(QPalette::PlaceholderText);
    m_counts->setIndent(10);
    layout->addWidget(m_counts);
    layout->addWidget(m_view, 1);
    m_view->setObjectName(QStringLiteral("metricTable"));
    setColumnWidths(m_view, std::array{2, 0, 5, 5, 6, 11, 11, 10});
    addTableActions(m_view, context, QStringLiteral("metrics"),
                    [this](const QString &text) { Q_EMIT message(text); });
    connect(m_view->selectionModel(), &QItemSelectionModel::currentChanged, this,
            &MetricsPage::choose);
    connect(context, &ViewContext::comparisonChanged, this, &MetricsPage::refresh);
    connect(context, &ViewContext::sideChanged, this, &MetricsPage::refresh);
    refresh();
}

void MetricsPage::refresh()
{
    m_metrics = MetricPairs(*m_context);
    const bool isAlone = isOneSideAlone(*m_context);
    std::vector<CellRow> rows;
    std::size_t differ = 0;
    for (const MetricPair &pair : m_metrics.pairs()) {
        rows.push_back(rowOf(pair, isAlone));
        differ += pair.compared && pair.compared->firstProvenDifference ? 1 : 0;
    }
    const QString total = countedText(rows.size(), "metric", "metrics");
    m_counts->setText(isAlone ? tr("%1, none compared").arg(total)
                              : tr("%1 of %2 differ").arg(groupedText(differ), total));
    m_refreshing = true; // a reset is not the user choosing another metric
    m_model->setRows(std::move(rows));
    if (!select(m_chosen) && m_model->rowCount() > 0)
        m_view->setCurrentIndex(m_model->index(0, 1));
    m_refreshing = false;
    Q_EMIT selectionChanged();
}

void MetricsPage::choose()
{
    if (m_refreshing)
        return;
    Q_EMIT selectionChanged();
    if (!m_view->currentIndex().isValid())
        return;
    m_chosen = m_view->currentIndex().data(NameRole).toString();
    Q_EMIT metricChosen(m_chosen);
}

const MetricPair *MetricsPage::selected() const
{
    const int row = m_view->currentIndex().row();
    return row >= 0 && std::size_t(row) < m_metrics.pairs().size()
        ? &m_metrics.pairs()[std::size_t(row)]
        : nullptr;
}

bool MetricsPage::select(const QString &name)
{
    for (int row = 0; row < m_model->rowCount(); ++row) {
        if (m_model->at(row).name != name)
            continue;
        m_view->setCurrentIndex(m_model->index(row, 1));
        return true;
    }
    return false;
}

bool MetricsPage::areMetricsAll() const
{
    const auto isOfMetrics = [this](Side side) {
        const SideState state = m_context->side(side);
        return !state.trace
            && std::all_of(state.steps.begin(), state.steps.end(),
                           [](const RunStep &step) { return step.metricsOnly; });
    };
    const auto comparison = m_context->comparison();
    const bool isEmpty = !comparison
        || (!comparison->trace && comparison->shown.tensors.empty()
            && comparison->shown.values.empty());
    return hasMetrics() && isEmpty && isOfMetrics(Side::A) && isOfMetrics(Side::B);
}

} // namespace forkpoint
