// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/tensor_detail.h"

#include "widgets/display_text.h"
#include "widgets/models/tensor_cells.h"
#include "widgets/plot/histogram_plot.h"
#include "widgets/theme.h"
#include "widgets/views/card.h"
#include "widgets/views/element_view.h"
#include "widgets/views/styled_text.h"
#include "widgets/views/tensor_facts.h"

#include <QAction>
#include <QComboBox>
#include <QEvent>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QSplitter>
#include <QStackedWidget>
#include <QTabWidget>
#include <QToolButton>
#include <QTreeWidget>
#include <QVBoxLayout>

namespace forkpoint {

namespace {

QString specials(const DiffStats &stats)
{
    const std::uint64_t nan = stats.nanA + stats.nanB, inf = stats.infA + stats.infB;
    if (nan == 0 && inf == 0)
        return TensorDetail::tr("no NaN, no Inf");
    return TensorDetail::tr("NaN %1 | %2 · Inf %3 | %4")
        .arg(groupedText(stats.nanA), groupedText(stats.nanB), groupedText(stats.infA),
             groupedText(stats.infB));
}

QString numbersLine(const TensorRow &row, const DiffStats *stats)
{
    if (!row.a || !row.b)
        return describe(row.status) + u'.';
    if (!row.reason.empty())
        return describe(row.status) + QStringLiteral(": ") + displayText(row.reason);
    if (!stats) {
        if (row.status == ItemStatus::Identical)
            return TensorDetail::tr("Identical; statistics are being computed…");
        return TensorDetail::tr("Not measured yet.");
    }
    QString text = TensorDetail::tr("%1 of %2 elements differ (%3)")
                       .arg(groupedText(stats->differentElements), groupedText(stats->elements),
                            percentText(stats->differentElements, stats->elements));
    if (row.dtypeA.isFloating()) {
        text += TensorDetail::tr(" · max |B−A| %1 · max ULP %2")
                    .arg(QString::number(stats->maxAbs, 'g', 4), groupedText(stats->maxUlp));
        text += QStringLiteral(" · ") + specials(*stats);
    } else if (row.dtypeA.isInteger()) {
        text += TensorDetail::tr(" · max |B−A| %1").arg(groupedText(stats->maxAbsInteger));
    }
    return text;
}

} // namespace

TensorDetail::TensorDetail(ViewContext *context, QWidget *parent)
    : QWidget(parent),
      m_context(context)
{
    setObjectName(QStringLiteral("tensorDetail"));
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(1, 1, 1, 1);
    m_stack = new QStackedWidget(this);
    layout->addWidget(m_stack);
    m_placeholder = new QLabel(m_stack);
    m_placeholder->setTextFormat(Qt::PlainText);
    m_placeholder->setAlignment(Qt::AlignCenter);
    m_placeholder->setForegroundRole(QPalette::PlaceholderText);
    m_stack->addWidget(m_placeholder);

    auto *page = new QWidget(m_stack);
    auto *pageLayout = new QVBoxLayout(page);
    pageLayout->setContentsMargins(0, 8, 0, 0);
    pageLayout->setSpacing(6);
    auto *headerBox = new QHBoxLayout;
    headerBox->setContentsMargins(12, 0, 12, 0);
    m_header = new StyledText(page);
    headerBox->addWidget(m_header);
    pageLayout->addLayout(headerBox);
    m_tabs = new QTabWidget(page);
    m_tabs->setDocumentMode(true);
    pageLayout->addWidget(m_tabs, 1);
    m_stack->addWidget(page);

    m_tabs->addTab(buildElementsPage(), tr("Elements"));
    m_facts = new QTreeWidget(m_tabs);
    m_facts->setHeaderLabels({tr("fact"), tr("A, or both"), tr("B")});
    m_facts->setRootIsDecorated(false);
    m_facts->setIndentation(8);
    m_facts->setFrameShape(QFrame::NoFrame);
    m_facts->setAccessibleName(tr("Facts"));
    m_facts->setTextElideMode(Qt::ElideMiddle);
    m_facts->header()->setStretchLastSection(true);
    m_tabs->addTab(m_facts, tr("Facts"));

    connect(context, &ViewContext::selectedTensorChanged, this, [this] { refreshTensor(); });
    connect(context, &ViewContext::stepComparisonChanged, this, [this] { refreshTensor(); });
    connect(context, &ViewContext::selectedStatsChanged, this, [this] { refreshStats(); });
    connect(m_elements, &ElementView::message, this, &TensorDetail::message);
    refreshTensor();
}

QWidget *TensorDetail::buildElementsPage()
{
    auto *splitter = new QSplitter(Qt::Vertical, m_tabs);
    splitter->setChildrenCollapsible(false);
    m_plot = new HistogramPlot(splitter);
    splitter->addWidget(m_plot);
    auto *lower = new QWidget(splitter);
    auto *layout = new QVBoxLayout(lower);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    m_elements = new ElementView(m_context, lower);
    layout->addWidget(buildElementBar());
    layout->addWidget(m_elements, 1);
    splitter->addWidget(lower);
    splitter->setStretchFactor(0, 2);
    splitter->setStretchFactor(1, 3);
    splitter->setSizes({190, 280});
    return splitter;
}

QWidget *TensorDetail::buildElementBar()
{
    auto *bar = new QWidget(this);
    auto *layout = new QHBoxLayout(bar);
    layout->setContentsMargins(8, 3, 8, 3);
    m_order = new QComboBox(bar);
    m_order->setAccessibleName(tr("Order of the elements"));
    m_order->addItem(tr("largest first"), int(ElementOrder::Largest));
    m_order->addItem(tr("differing only"), int(ElementOrder::Differing));
    m_order->addItem(tr("by index"), int(ElementOrder::ByIndex));
    m_goTo = new QLineEdit(bar);
    m_goTo->setPlaceholderText(tr("go to index…"));
    m_goTo->setAccessibleName(tr("Go to index"));
    m_goTo->setToolTip(tr("A flat index, or coordinates like 52, 23"));
    m_goTo->setMaximumWidth(fontMetrics().averageCharWidth() * 20);
    const auto button = [&](const QString &text, QAction *action) {
        auto *result = new QToolButton(bar);
        result->setDefaultAction(action);
        result->setText(text);
        result->setAutoRaise(true);
        result->setFocusPolicy(Qt::TabFocus);
        result->setAccessibleName(action->text());
        return result;
    };
    auto *first = new QAction(tr("First differing element"), this);
    first->setIconText(tr("|◂ first"));
    m_elements->previousDifferenceAction()->setIconText(tr("◂ F7"));
    m_elements->nextDifferenceAction()->setIconText(tr("F7 ▸"));
    m_plotKind = new QComboBox(bar);
    m_plotKind->setAccessibleName(tr("What the histogram shows"));
    m_plotKind->addItem(tr("magnitudes"));
    m_plotKind->addItem(tr("ULP distance"));
    layout->addWidget(m_order);
    layout->addWidget(m_goTo);
    layout->addWidget(button(tr("|◂ first"), first));
    layout->addWidget(button(tr("◂"), m_elements->previousDifferenceAction()));
    layout->addWidget(button(tr("next difference ▸"), m_elements->nextDifferenceAction()));
    layout->addStretch(1);
    layout->addWidget(m_plotKind);
    connect(first, &QAction::triggered, m_elements, &ElementView::goToFirstDifference);
    connect(m_goTo, &QLineEdit::returnPressed, this, [this] { goToIndex(); });
    connect(m_plotKind, &QComboBox::currentIndexChanged, this, [this] { refreshPlot(); });
    connect(m_order, &QComboBox::currentIndexChanged, this,
            [this] { m_elements->setOrder(ElementOrder(m_order->currentData().toInt())); });
    connect(m_elements, &ElementView::orderChanged, this, [this](ElementOrder order) {
        m_order->setCurrentIndex(m_order->findData(int(order)));
    });
    return bar;
}

const TensorRow *TensorDetail::row() const
{
    const auto selected = m_context->selectedTensor();
    if (!m_comparison || !selected || *selected >= m_comparison->tensors.size())
        return nullptr;
    return &m_comparison->tensors[*selected];
}

const DiffStats *TensorDetail::stats() const
{
    const TensorRow *tensor = row();
    if (tensor && tensor->stats)
        return &*tensor->stats;
    return m_stats.get();
}

QString TensorDetail::summary() const
{
    return m_header->plainText();
}

void TensorDetail::refreshTensor()
{
    m_comparison = m_context->stepComparison();
    m_stats = m_context->selectedStats();
    const TensorRow *tensor = row();
    m_placeholder->setText(m_comparison ? tr("Select a tensor to see how it differs.") : QString());
    m_stack->setCurrentIndex(tensor ? 1 : 0);
    const QString name = tensor ? displayText(tensor->name) : QString();
    if (name != m_shownName)
        m_goTo->clear();
    m_shownName = name;
    refreshStats();
}

void TensorDetail::refreshStats()
{
    m_stats = m_context->selectedStats();
    refreshHeader();
    refreshPlot();
    refreshFacts();
}

void TensorDetail::refreshHeader()
{
    const TensorRow *tensor = row();
    if (!tensor) {
        m_header->setSegments({});
        return;
    }
    const Theme theme = Theme::of(palette());
    QString what = displayText(tensor->a ? tensor->dtypeA.name : tensor->dtypeB.name) + u' '
        + qs((tensor->a ? tensor->shapeA : tensor->shapeB).toString());
    if (tensor->a && tensor->b
        && (tensor->dtypeA != tensor->dtypeB || tensor->shapeA != tensor->shapeB))
        what += QStringLiteral(" → ") + displayText(tensor->dtypeB.name) + u' '
            + qs(tensor->shapeB.toString());
    if (const auto step = m_context->selectedStep())
        what += tr(" · step %1").arg(*step);
    m_header->setSegments({{sign(tensor->status) + u' ', theme.color(tensor->status), true},
                           {displayText(tensor->name), theme.text, true},
                           {u' ' + what, theme.muted},
                           {QStringLiteral("\n")},
                           {numbersLine(*tensor, stats()), theme.text}});
}

void TensorDetail::refreshPlot()
{
    const Theme theme = Theme::of(palette());
    const DiffStats *numbers = stats();
    const TensorRow *tensor = row();
    m_plotKind->setEnabled(tensor && tensor->dtypeA.isFloating());
    if (!numbers) {
        m_plot->setSeries({}, {});
        m_plot->setEmptyText(tensor && tensor->a && tensor->b && tensor->reason.empty()
                                 ? tr("Not measured yet")
                                 : tr("Nothing to measure: there is no pair of elements"));
        return;
    }
    m_plot->setEmptyText(tr("No pair with two finite sides"));
    if (m_plotKind->currentIndex() == 1) {
        m_plot->setSeries({{tr("ULP"), theme.difference, numbers->ulp}},
                          tr("elements per distance in ULP, powers of two"));
        return;
    }
    m_plot->setSeries({{tr("|A|"), theme.a, numbers->absA},
                       {tr("|B|"), theme.b, numbers->absB},
                       {tr("|B−A|"), theme.difference, numbers->absDifference}},
                      tr("elements per power of two"));
}

void TensorDetail::refreshFacts()
{
    m_facts->clear();
    const TensorRow *tensor = row();
    if (!tensor)
        return;
    const auto refA = m_context->selectedTensorRef(Side::A);
    const auto refB = m_context->selectedTensorRef(Side::B);
    const Theme theme = Theme::of(palette());
    QFont bold = font();
    bold.setBold(true);
    for (const Fact &fact : tensorFacts(*tensor, stats(), refA.get(), refB.get())) {
        auto *item = new QTreeWidgetItem(m_facts, {fact.name, fact.a, fact.b});
        if (fact.isSection)
            item->setFont(0, bold);
        else
            item->setForeground(0, theme.muted);
        const bool sided = !fact.b.isEmpty();
        for (int column : {1, 2}) {
            item->setFont(column, monospaced(font()));
            item->setToolTip(column, plainToolTip(item->text(column)));
            if (sided && fact.a != fact.b)
                item->setForeground(column, column == 1 ? theme.a : theme.b);
        }
        item->setFirstColumnSpanned(fact.isSection);
        item->setSizeHint(0, QSize(0, rowHeight(font())));
    }
    m_facts->setColumnWidth(0, fontMetrics().averageCharWidth() * 28);
    m_facts->setColumnWidth(1, fontMetrics().averageCharWidth() * 42);
}

void TensorDetail::goToIndex()
{
    const TensorRow *tensor = row();
    if (!tensor)
        return;
    QString text = m_goTo->text();
    text.remove(u'[').remove(u']');
    const QStringList parts = text.split(u',', Qt::SkipEmptyParts);
    std::vector<Index> numbers;
    for (const QString &part : parts) {
        bool ok = false;
        numbers.push_back(part.trimmed().toULongLong(&ok));
        if (!ok)
            numbers.clear();
        if (!ok)
            break;
    }
    const Shape &shape = tensor->shapeA;
    Index index = 0;
    bool valid = numbers.size() == 1 || (numbers.size() == shape.rank() && !numbers.empty());
    if (valid && numbers.size() == 1) {
        index = numbers.front();
    } else if (valid) {
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            valid = valid && numbers[i] < shape.dims[i];
            index = index * shape.dims[i] + numbers[i];
        }
    }
    if (!valid || index >= tensor->elements) {
        Q_EMIT message(tr("No such element: %1").arg(displayText(m_goTo->text())));
        return;
    }
    m_elements->goToIndex(index);
    m_elements->setFocus();
}

void TensorDetail::paintEvent(QPaintEvent *)
{
    paintCard(this);
}

void TensorDetail::changeEvent(QEvent *event)
{
    if (event->type() == QEvent::PaletteChange)
        refreshStats();
    QWidget::changeEvent(event);
}

} // namespace forkpoint
