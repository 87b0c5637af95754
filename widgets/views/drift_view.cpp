// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/drift_view.h"

#include "widgets/display_text.h"
#include "widgets/models/record_cells.h"
#include "widgets/plot/line_plot.h"
#include "widgets/theme.h"
#include "widgets/views/saving.h"
#include "widgets/views/table_actions.h"
#include "widgets/views/view_setup.h"

#include <QComboBox>
#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QSplitter>
#include <QTreeView>
#include <QVBoxLayout>

#include <algorithm>
#include <array>

namespace forkpoint {

namespace {

/// "fc1 differs at 4 of 6 common steps, 2 have it in A alone"
QString sentenceOf(const RecordDrift &drift, const QString &name)
{
    const auto count = [&](RecordStatus status) {
        return std::uint64_t(
            std::count_if(drift.points.begin(), drift.points.end(),
                          [&](const DriftPoint &point) { return point.status == status; }));
    };
    const std::uint64_t onlyA = count(RecordStatus::OnlyA), onlyB = count(RecordStatus::OnlyB);
    const std::uint64_t common = drift.points.size() - onlyA - onlyB;
    QString text = DriftView::tr("%1 differs at %2 of %3")
                       .arg(name, groupedText(count(RecordStatus::Different)),
                            countedText(common, "common step", "common steps"));
    if (onlyA > 0)
        text += DriftView::tr(", %1 have it in A alone").arg(groupedText(onlyA));
    if (onlyB > 0)
        text += DriftView::tr(", %1 have it in B alone").arg(groupedText(onlyB));
    return text + (drift.complete ? DriftView::tr(".") : DriftView::tr("; reading on…"));
}

} // namespace

DriftView::DriftView(ViewContext *context, QWidget *parent)
    : QWidget(parent),
      m_context(context),
      m_note(new QLabel(this)),
      m_statistic(new QComboBox(this)),
      m_plot(new LinePlot(this)),
      m_model(new CellTableModel(driftTitles(), {}, this)),
      m_view(makeTable(m_model, tr("The record over the steps"), this))
{
    setObjectName(QStringLiteral("driftView"));
    m_note->setTextFormat(Qt::PlainText);
    m_note->setWordWrap(true);
    m_note->setForegroundRole(QPalette::PlaceholderText);
    m_statistic->setAccessibleName(tr("Number"));
    m_statistic->setToolTip(tr("What the tool recorded beside the digest"));
    m_view->setObjectName(QStringLiteral("driftTable"));
    setColumnWidths(m_view, std::array{2, 6, 9, 8, 13, 13, 9, 0});
    addTableActions(m_view, context, QStringLiteral("drift"),
                    [this](const QString &text) { Q_EMIT message(text); });
    auto *head = new QHBoxLayout;
    head->setContentsMargins(10, 0, 10, 0);
    head->addWidget(m_note, 1);
    head->addWidget(m_statistic);
    auto *splitter = new QSplitter(Qt::Vertical, this);
    splitter->setChildrenCollapsible(false);
    splitter->addWidget(m_plot);
    splitter->addWidget(m_view);
    splitter->setSizes({190, 240});
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 6, 0, 0);
    layout->addLayout(head);
    layout->addWidget(splitter, 1);

    connect(m_statistic, &QComboBox::activated, this, [this] { refresh(); });
    connect(m_plot, &LinePlot::saveRequested, this, [this] {
        askToSavePicture(m_context, this, QStringLiteral("drift-") + m_name,
                         [this](const QString &suffix) { return m_plot->picture(suffix); });
    });
    connect(m_view, &QTreeView::activated, this, [this](const QModelIndex &index) {
        const auto at = std::size_t(index.row());
        if (m_drift && at < m_drift->points.size() && m_drift->points[at].iteration)
            Q_EMIT stepRequested(*m_drift->points[at].iteration);
    });
    connect(context, &ViewContext::driftReady, this, &DriftView::receive);
    connect(context, &ViewContext::requestFailed, this, [this](quint64 id, const QString &error) {
        if (id != 0 && id == m_askedId)
            m_note->setText(tr("Not followed: %1").arg(displayText(error)));
    });
    setRow(nullptr, 0);
}

QString DriftView::note() const
{
    return m_note->text();
}

void DriftView::setRow(const RecordRow *row, std::size_t rank)
{
    std::optional<DriftQuery> query;
    if (row)
        query = DriftQuery{rank, (row->a ? row->a : row->b)->identity};
    if (query && m_query && query->rank == m_query->rank && query->identity == m_query->identity)
        return;
    m_query = query;
    m_name = row ? recordNameText(row->record()) : QString();
    m_drift.reset();
    m_askedId = 0;
    m_isPending = query.has_value();
    refresh();
    ask();
}

void DriftView::ask()
{
    if (!m_isPending || !isVisible())
        return;
    m_isPending = false;
    m_askedId = m_context->nextRequestId();
    m_context->requestDrift(m_askedId, *m_query);
}

void DriftView::receive(quint64 id, std::shared_ptr<const RecordDrift> drift)
{
    if (id == 0 || id != m_askedId)
        return;
    m_drift = std::move(drift);
    fillStatistics();
    refresh();
}

/// Of all steps; what was chosen stays.
void DriftView::fillStatistics()
{
    const QByteArray chosen = m_statistic->currentData().toByteArray();
    QList<QByteArray> names;
    for (const DriftPoint &point : m_drift->points) {
        for (const DriftPoint::Statistic &each : point.statistics) {
            const QByteArray name = QByteArray::fromStdString(each.name);
            if (!names.contains(name) && names.size() < int(ListedRecord::MostObservations))
                names += name;
        }
    }
    m_statistic->clear();
    for (const QByteArray &name : names)
        m_statistic->addItem(displayText(name.toStdString()), name);
    // A norm speaks of all elements.
    qsizetype best = names.indexOf(chosen);
    for (const char *name : {"l2", "norm", "rms"}) {
        if (best < 0)
            best = names.indexOf(name);
    }
    m_statistic->setCurrentIndex(int(std::max<qsizetype>(best, 0)));
}

void DriftView::refresh()
{
    const std::string statistic = m_statistic->currentData().toByteArray().toStdString();
    const bool hasNumbers = m_drift && m_statistic->count() > 0;
    m_statistic->setVisible(hasNumbers);
    const Theme theme = Theme::of(palette());
    LinePlot::Series relative{
        tr("|B−A|/|A| of %1").arg(displayText(statistic)), theme.difference, false, {}};
    std::vector<CellRow> rows;
    static const std::vector<DriftPoint> None;
    for (const DriftPoint &point : m_drift ? m_drift->points : None) {
        rows.push_back(driftCells(point, statistic));
        for (const DriftPoint::Statistic &each : point.statistics) {
            if (each.name == statistic && point.iteration && each.relative())
                relative.points.emplace_back(double(*point.iteration), *each.relative());
        }
    }
    m_model->setRows(std::move(rows));
    m_plot->setVisible(hasNumbers);
    // Digests alone: columns of dashes would say less than none.
    const bool isBare = m_drift && !hasNumbers;
    for (const DriftColumn column :
         {DriftColumn::Statistic, DriftColumn::A, DriftColumn::B, DriftColumn::Relative})
        m_view->setColumnHidden(int(column), isBare);
    m_plot->setSeries({std::move(relative)});
    m_plot->setEmptyText(tr("No step has this number on both sides with a difference."));
    if (!m_query)
        m_note->setText(tr("Select a record to follow it over the steps."));
    else if (!m_drift)
        m_note->setText(tr("Reading %1 at every step…").arg(m_name));
    else
        m_note->setText(sentenceOf(*m_drift, m_name)
                        + (hasNumbers ? QString()
                                      : tr(" The trace holds digests alone: how far it drifts is "
                                           "not recorded.")));
}

void DriftView::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    ask();
}

void DriftView::changeEvent(QEvent *event)
{
    if (event->type() == QEvent::PaletteChange)
        refresh();
    QWidget::changeEvent(event);
}

} // namespace forkpoint
