// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/steps_page.h"

#include "widgets/display_text.h"
#include "widgets/models/history_table_model.h"
#include "widgets/plot/line_plot.h"
#include "widgets/theme.h"
#include "widgets/views/saving.h"
#include "widgets/views/table_actions.h"
#include "widgets/views/view_setup.h"

#include <QEvent>
#include <QLabel>
#include <QSplitter>
#include <QTreeView>
#include <QVBoxLayout>

#include <algorithm>
#include <array>

namespace forkpoint {

StepsPage::StepsPage(ViewContext *context, QWidget *parent)
    : QWidget(parent),
      m_context(context),
      m_model(new HistoryTableModel(this))
{
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 4, 0, 0);
    m_note = new QLabel(this);
    m_note->setTextFormat(Qt::PlainText);
    m_note->setWordWrap(true);
    m_note->setIndent(10);
    m_note->setForegroundRole(QPalette::PlaceholderText);
    layout->addWidget(m_note);
    auto *splitter = new QSplitter(Qt::Vertical, this);
    splitter->setChildrenCollapsible(false);
    m_plot = new LinePlot(splitter);
    m_view = makeTable(m_model, tr("Over the steps"), splitter);
    m_view->setObjectName(QStringLiteral("historyTable"));
    setColumnWidths(m_view, std::array{2, 6, 8, 10, 14, 9, 0, 9, 9});
    addTableActions(m_view, context, QStringLiteral("over-the-steps"));
    splitter->addWidget(m_plot);
    splitter->addWidget(m_view);
    splitter->setSizes({190, 240});
    layout->addWidget(splitter, 1);
    connect(m_plot, &LinePlot::saveRequested, this, [this] {
        askToSavePicture(m_context, this, QStringLiteral("over-the-steps-") + m_name,
                         [this](const QString &suffix) { return m_plot->picture(suffix); });
    });
    connect(m_view, &QTreeView::activated, this, [this](const QModelIndex &index) {
        m_context->selectStep(m_model->history()->points[std::size_t(index.row())].step);
    });
    connect(context, &ViewContext::selectedTensorChanged, this, &StepsPage::refreshTensor);
    connect(context, &ViewContext::comparisonChanged, this, &StepsPage::refreshTensor);
    connect(context, &ViewContext::historyReady, this, &StepsPage::receive);
    connect(context, &ViewContext::requestFailed, this, [this](quint64 id, const QString &error) {
        if (id == m_askedId)
            describe(tr("Not followed: %1").arg(displayText(error)));
    });
    refreshTensor();
}

void StepsPage::describe(const QString &text)
{
    m_note->setText(text);
    m_plot->setEmptyText(text);
}

/// A series of checkpoints, or several steps of which a trace kept whole tensors.
bool StepsPage::hasSteps() const
{
    const auto runs = m_context->comparison();
    if (runs && (runs->seriesA || runs->seriesB))
        return true;
    const auto keptSteps = [&](Side side) {
        const std::vector<RunStep> &steps = m_context->side(side).steps;
        return std::count_if(steps.begin(), steps.end(),
                             [](const RunStep &step) { return step.isKept; });
    };
    return runs && (keptSteps(Side::A) > 1 || keptSteps(Side::B) > 1);
}

void StepsPage::refreshTensor()
{
    const auto comparison = m_context->stepComparison();
    const auto row = m_context->selectedTensor();
    const bool selected = comparison && row && *row < comparison->tensors.size();
    const QString name = selected ? displayText(comparison->tensors[*row].name) : QString();
    if (name == m_name && m_askedId != 0)
        return;
    m_name = name;
    m_askedId = 0;
    m_model->setHistory(nullptr);
    plot();
    if (!selected)
        describe(tr("Select a tensor to follow it over the steps."));
    else if (!hasSteps())
        describe(tr("There is no series here, and no steps to follow the tensor over."));
    else {
        describe(tr("Reading the tensor at every step…"));
        ask();
    }
}

void StepsPage::ask()
{
    if (!isVisible() || m_name.isEmpty() || m_askedId != 0 || !hasSteps())
        return;
    m_askedId = m_context->nextRequestId();
    m_context->requestHistory(m_askedId);
}

void StepsPage::receive(quint64 id, std::shared_ptr<const TensorHistory> history)
{
    if (id == 0 || id != m_askedId)
        return;
    const bool complete = history->complete;
    m_model->setHistory(std::move(history));
    describe(complete ? tr("Return or a double click on a row selects its step.")
                      : tr("Reading the tensor at every step…"));
    const auto &points = m_model->history()->points;
    const bool isMeasured =
        std::any_of(points.begin(), points.end(),
                    [](const HistoryPoint &point) { return point.difference.has_value(); });
    m_plot->setEmptyText(tr("B−A is 0 at every step that both have, and nothing was updated."));
    if (complete && !isMeasured && !points.empty())
        describe(tr("Measured at no step: %1").arg(displayText(points.front().reason)));
    plot();
}

void StepsPage::plot()
{
    const Theme theme = Theme::of(palette());
    LinePlot::Series difference{tr("rms B−A"), theme.difference, false, {}};
    LinePlot::Series updateA{tr("rms of A's own update"), theme.a, true, {}};
    LinePlot::Series updateB{tr("rms of B's own update"), theme.b, true, {}};
    const auto add = [](LinePlot::Series &series, Step step,
                        const std::optional<DiffStats> &stats) {
        const std::optional<double> rms = stats ? stats->rms() : std::nullopt;
        series.points.emplace_back(double(step), rms.value_or(0.0));
    };
    if (const TensorHistory *history = m_model->history()) {
        for (const HistoryPoint &point : history->points) {
            add(difference, point.step, point.difference);
            add(updateA, point.step, point.updateA);
            add(updateB, point.step, point.updateB);
        }
    }
    m_plot->setSeries({std::move(difference), std::move(updateA), std::move(updateB)});
}

void StepsPage::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    ask();
}

void StepsPage::changeEvent(QEvent *event)
{
    if (event->type() == QEvent::PaletteChange)
        plot();
    QWidget::changeEvent(event);
}

} // namespace forkpoint
