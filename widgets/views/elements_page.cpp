// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/elements_page.h"

#include "model/compare/one_sided.h"
#include "model/compare/row_stats.h"
#include "model/layout.h"
#include "widgets/display_text.h"
#include "widgets/plot/histogram_plot.h"
#include "widgets/theme.h"
#include "widgets/views/element_view.h"
#include "widgets/views/flow_layout.h"
#include "widgets/views/hinted_line_edit.h"
#include "widgets/views/no_elements.h"
#include "widgets/views/saving.h"
#include "widgets/views/styled_text.h"

#include <QAction>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QSplitter>
#include <QToolButton>
#include <QVBoxLayout>

#include <cmath>

namespace forkpoint {

namespace {

/// "0", "2^-43 to below 2^-35", "NaN", joined.
QString rangeText(const MagnitudeRange &range)
{
    QStringList parts;
    if (range.zero)
        parts += QStringLiteral("0");
    if (range.powers)
        parts += ElementsPage::tr("2^%1 to below 2^%2")
                     .arg(range.powers->first)
                     .arg(range.powers->second + 1);
    if (range.infinite)
        parts += QStringLiteral("Inf");
    if (range.nan)
        parts += QStringLiteral("NaN");
    const QString name = range.kind == MagnitudeKind::AbsA ? QStringLiteral("|A|")
        : range.kind == MagnitudeKind::AbsB                ? QStringLiteral("|B|")
        : range.kind == MagnitudeKind::Ulp                 ? QStringLiteral("ULP")
                                                           : QStringLiteral("|B−A|");
    return name + QStringLiteral(" ")
        + (parts.isEmpty() ? ElementsPage::tr("in no bin") : parts.join(QStringLiteral(", ")));
}

QString partText(const PlanePart &part)
{
    const auto span = [](Index first, Index count) {
        return count == 1 ? QString::number(first)
                          : QStringLiteral("%1–%2").arg(first).arg(first + count - 1);
    };
    return ElementsPage::tr("rows %1, columns %2 of the map")
        .arg(span(part.window.row, part.window.rows),
             span(part.window.column, part.window.columns));
}

std::optional<Index> indexOf(QString text, const Shape &shape, Index elements)
{
    text.remove(u'[').remove(u']').remove(u'(').remove(u')');
    std::vector<Index> numbers;
    for (const QString &part : text.split(u',', Qt::SkipEmptyParts)) {
        bool valid = false;
        numbers.push_back(part.trimmed().remove(u'_').toULongLong(&valid));
        if (!valid)
            return std::nullopt;
    }
    if (numbers.empty() || (numbers.size() > 1 && numbers.size() != shape.rank()))
        return std::nullopt;
    Index index = numbers.front();
    for (std::size_t axis = 1; axis < numbers.size(); ++axis) {
        if (numbers[axis] >= shape.dims[axis])
            return std::nullopt;
        index = index * shape.dims[axis] + numbers[axis];
    }
    return index < elements ? std::optional<Index>(index) : std::nullopt;
}

QString whyNotMeasured(const TensorRow *row)
{
    if (row && isOneSided(*row))
        return ElementsPage::tr("No magnitudes are known yet");
    if (row && !row->reason.empty())
        return ElementsPage::tr("Not measured: %1").arg(displayText(row->reason));
    return row && row->a && row->b
        ? ElementsPage::tr("Not measured yet")
        : ElementsPage::tr("Nothing to measure: there is no pair of elements");
}

} // namespace

ElementsPage::ElementsPage(ViewContext *context, QWidget *parent)
    : QWidget(parent),
      m_context(context)
{
    auto *splitter = new QSplitter(Qt::Vertical, this);
    splitter->setChildrenCollapsible(false);
    m_upper = new QSplitter(Qt::Horizontal, splitter);
    m_upper->setChildrenCollapsible(false);
    m_plot = new HistogramPlot(m_upper);
    m_plotKind = new QComboBox(m_plot);
    m_plotKind->setAccessibleName(tr("What the histogram shows"));
    m_plotKind->addItem(tr("magnitudes"));
    m_plotKind->addItem(tr("ULP distance"));
    m_plot->addControl(m_plotKind);
    auto *lower = new QWidget(splitter);
    m_elements = new ElementView(context, lower);
    m_filterText = new StyledText(lower);
    m_place = new QLabel(lower);
    m_place->setTextFormat(Qt::PlainText);
    m_place->setForegroundRole(QPalette::PlaceholderText);
    m_place->setIndent(10);
    m_place->setWordWrap(true);
    m_place->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    m_place->hide();
    auto *filterBox = new QHBoxLayout;
    filterBox->setContentsMargins(10, 0, 10, 2);
    filterBox->addWidget(m_filterText);
    auto *lowerLayout = new QVBoxLayout(lower);
    lowerLayout->setContentsMargins(0, 0, 0, 0);
    lowerLayout->setSpacing(0);
    lowerLayout->addWidget(buildBar());
    lowerLayout->addLayout(filterBox);
    lowerLayout->addWidget(m_elements, 1);
    lowerLayout->addWidget(m_place);
    m_upper->addWidget(m_plot);
    splitter->addWidget(m_upper);
    splitter->addWidget(lower);
    splitter->setStretchFactor(0, 2);
    splitter->setStretchFactor(1, 3);
    splitter->setSizes({190, 280});
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(splitter);

    connect(m_plotKind, &QComboBox::currentIndexChanged, context,
            &ViewContext::selectedStatsChanged);
    connect(m_plot, &HistogramPlot::rangeSelected, this, [this](const MagnitudeRange &range) {
        ElementFilter filter = m_elements->filter();
        filter.range = range;
        m_elements->setFilter(filter);
    });
    connect(m_plot, &HistogramPlot::selectionCleared, this, [this] {
        ElementFilter filter = m_elements->filter();
        filter.range.reset();
        m_elements->setFilter(filter);
    });
    connect(m_plot, &HistogramPlot::saveRequested, this, [this] {
        askToSavePicture(m_context, this, QStringLiteral("histogram-") + m_shownName,
                         [this](const QString &suffix) { return m_plot->picture(suffix); });
    });
    connect(m_elements, &ElementView::filterChanged, this, &ElementsPage::showOrder);
    connect(m_elements, &ElementView::currentChanged, this, &ElementsPage::markCurrent);
    connect(m_elements, &ElementView::message, this, &ElementsPage::message);
    connect(m_filterText, &StyledText::linkActivated, this, &ElementsPage::clearFilter);
    showOrder();
}

QComboBox *ElementsPage::addChoice(QWidget *bar, const QString &name)
{
    auto *choice = new QComboBox(bar);
    choice->setAccessibleName(name);
    choice->setToolTip(name);
    bar->layout()->addWidget(choice);
    return choice;
}

QWidget *ElementsPage::buildBar()
{
    auto *bar = new QWidget(this);
    auto *layout = new FlowLayout(bar);
    layout->setContentsMargins(8, 3, 8, 3);
    layout->setSpacing(6);
    m_order = addChoice(bar, tr("Order of the elements"));
    m_order->addItem(tr("largest first"), int(ElementOrder::Largest));
    m_order->addItem(tr("differing only"), int(ElementOrder::Differing));
    m_order->addItem(tr("by index"), int(ElementOrder::ByIndex));
    m_goTo = new HintedLineEdit(bar);
    m_goTo->setPlaceholderText(tr("go to index…"));
    m_goTo->setAccessibleName(tr("Go to index"));
    m_goTo->setToolTip(tr("A flat index, or coordinates like 52, 23; typed or pasted"));
    layout->addWidget(m_goTo);
    auto *first = new QAction(tr("First differing element"), this);
    const auto button = [&](const QString &text, QAction *action) {
        auto *result = new QToolButton(bar);
        action->setIconText(text); // which is what a button shows, now and after changes
        result->setDefaultAction(action);
        result->setAutoRaise(true);
        result->setFocusPolicy(Qt::TabFocus);
        result->setAccessibleName(action->text());
        layout->addWidget(result);
    };
    button(tr("|◂"), first);
    button(tr("◂ F7"), m_elements->previousDifferenceAction());
    button(tr("F7 ▸"), m_elements->nextDifferenceAction());
    m_format = addChoice(bar, tr("How numbers are written"));
    m_format->addItem(tr("all digits"), int(ValueFormat::Digits));
    m_format->addItem(tr("shortest"), int(ValueFormat::Shortest));
    m_format->addItem(tr("hex float"), int(ValueFormat::HexFloat));
    m_format->addItem(tr("hex bits"), int(ValueFormat::Bits));
    m_bits = addChoice(bar, tr("Whose bits are shown"));
    m_bits->addItem(tr("bits of B"), int(BitsOf::B));
    m_bits->addItem(tr("bits of A"), int(BitsOf::A));
    m_bits->addItem(tr("A xor B"), int(BitsOf::Xor));
    m_plotButton = new QToolButton(bar);
    m_plotButton->setText(tr("Histogram"));
    m_plotButton->setToolTip(tr("The histogram in place of the elements"));
    m_plotButton->setCheckable(true);
    m_plotButton->setAutoRaise(true);
    m_plotButton->setFocusPolicy(Qt::TabFocus);
    m_plotButton->hide();
    layout->addWidget(m_plotButton);
    connect(m_plotButton, &QToolButton::toggled, this, &ElementsPage::makeRoom);
    connect(first, &QAction::triggered, m_elements, &ElementView::goToFirstDifference);
    connect(m_goTo, &QLineEdit::returnPressed, this, [this] { goTo(m_goTo->text()); });
    connect(m_format, &QComboBox::currentIndexChanged, this, &ElementsPage::applyFormat);
    connect(m_bits, &QComboBox::currentIndexChanged, this, &ElementsPage::applyFormat);
    connect(m_order, &QComboBox::currentIndexChanged, this,
            [this] { m_elements->setOrder(ElementOrder(m_order->currentData().toInt())); });
    connect(m_elements, &ElementView::orderChanged, this, [this](ElementOrder order) {
        m_order->setCurrentIndex(m_order->findData(int(order)));
    });
    return bar;
}

void ElementsPage::setBeside(QWidget *widget)
{
    m_beside = widget;
    widget->hide();
    m_upper->addWidget(widget);
    m_upper->setStretchFactor(0, 1);
    m_upper->setStretchFactor(1, 1);
}

void ElementsPage::resizeEvent(QResizeEvent *event)
{
    constexpr int Characters = 150; // of a page that has room for both
    QWidget::resizeEvent(event);
    makeRoom();
    const bool hasRoom = width() > fontMetrics().averageCharWidth() * Characters;
    if (!m_beside || m_beside->isVisibleTo(this) == hasRoom)
        return;
    m_beside->setVisible(hasRoom);
    m_upper->setSizes({width() / 2, width() / 2});
}

/// A low page shows the elements or the histogram, as chosen.
void ElementsPage::makeRoom()
{
    constexpr int Lines = 16;
    const bool isLow = height() < Lines * fontMetrics().height();
    m_plotButton->setVisible(isLow);
    const bool isPlot = isLow && m_plotButton->isChecked();
    m_upper->setVisible(!isLow || isPlot);
    m_elements->setVisible(!isPlot);
}

void ElementsPage::applyFormat()
{
    m_elements->setFormat(ValueFormat(m_format->currentData().toInt()),
                          BitsOf(m_bits->currentData().toInt()));
}

/// Where nothing differs there is one order, and of a side alone one side's bits.
void ElementsPage::showOrder()
{
    const ElementRows &rows = m_elements->rows();
    const bool isFixed = rows.hasNoDifference();
    const std::optional<Side> only = rows.onlySide();
    m_order->setEnabled(!isFixed);
    m_bits->setEnabled(!only);
    const QSignalBlocker orderBlocker(m_order), bitsBlocker(m_bits); // the user's choices stay
    m_order->setCurrentIndex(
        m_order->findData(int(isFixed ? ElementOrder::ByIndex : rows.chosenOrder())));
    const BitsOf bits = !only ? m_elements->bitsOf() : only == Side::A ? BitsOf::A : BitsOf::B;
    m_bits->setCurrentIndex(m_bits->findData(int(bits)));
    describeFilter();
}

void ElementsPage::showStats(const TensorRow *row, const DiffStats *stats, std::optional<Side> lone)
{
    const QString name = row ? displayText(row->name) : QString();
    if (name != m_shownName)
        m_goTo->clear();
    m_shownName = name;
    m_elementCount = row ? row->elements : 0;
    m_shape = row ? elementShape(shownShape(*row), row->elements) : forkpoint::Shape();
    showOrder();
    m_plotKind->setEnabled(row && !lone && measuredType(*row).isFloating());
    if (!stats) {
        m_plot->setSeries({}, {});
        m_plot->setEmptyText(whyNotMeasured(row));
        return;
    }
    const Theme theme = Theme::of(palette());
    const bool report = m_context->isReport();
    m_plot->setEmptyText(report ? tr("The report keeps no histograms: compare --full writes them")
                                : tr("No pair with two finite sides"));
    if (m_plotKind->currentIndex() == 1 && m_plotKind->isEnabled()) {
        m_plot->setSeries({{tr("ULP"), theme.difference, stats->ulp, MagnitudeKind::Ulp}},
                          tr("elements per distance in ULP, powers of two"));
        return;
    }
    std::vector<HistogramPlot::Series> series;
    if (lone) {
        m_plot->setSeries(
            lone == Side::A
                ? std::vector{HistogramPlot::Series{tr("|A|"), theme.a, stats->absA,
                                                    MagnitudeKind::AbsA, stats->infA, stats->nanA}}
                : std::vector{HistogramPlot::Series{tr("|B|"), theme.b, stats->absB,
                                                    MagnitudeKind::AbsB, stats->infB, stats->nanB}},
            tr("elements per power of two; drag to filter"));
        return;
    }
    if (stats->magnitudes) {
        series.push_back(
            {tr("|A|"), theme.a, stats->absA, MagnitudeKind::AbsA, stats->infA, stats->nanA});
        series.push_back(
            {tr("|B|"), theme.b, stats->absB, MagnitudeKind::AbsB, stats->infB, stats->nanB});
    }
    series.push_back(
        {tr("|B−A|"), theme.difference, stats->absDifference, MagnitudeKind::AbsDifference});
    m_plot->setSeries(std::move(series),
                      report ? tr("elements per power of two")
                          : stats->magnitudes
                          ? tr("elements per power of two; drag to filter; dotted: current row")
                          : tr("elements per power of two; A and B are being counted"));
    markCurrent();
}

void ElementsPage::setPart(const std::optional<PlanePart> &part)
{
    ElementFilter filter = m_elements->filter();
    filter.part = part;
    m_elements->setFilter(filter);
}

/// Why the rows stand in that order, where it was not chosen; empty where it was, or is plain.
QString ElementsPage::whyByIndex() const
{
    const ElementRows &rows = m_elements->rows();
    if (rows.isOtherUnreadable()) {
        const bool isA = rows.onlySide() == Side::A;
        if (isFingerprintFile(m_context->side(isA ? Side::B : Side::A)))
            return isA ? tr("A alone, by index: B is a fingerprint file, which has no elements.")
                       : tr("B alone, by index: A is a fingerprint file, which has no elements.");
        return (isA ? tr("A alone, by index: B cannot be read (%1).")
                    : tr("B alone, by index: A cannot be read (%1)."))
            .arg(displayText(rows.tensor()->reason));
    }
    if (rows.hasNoDifference() && !rows.isOneSided() && rows.elements() > 0)
        return tr("No element differs: all are listed by index.");
    return {};
}

void ElementsPage::describeFilter()
{
    const ElementFilter &filter = m_elements->filter();
    const Theme theme = Theme::of(palette());
    const QString order = filter.isEmpty() ? whyByIndex() : QString();
    m_filterText->setVisible(!filter.isEmpty() || !order.isEmpty());
    if (filter.isEmpty()) {
        m_filterText->setSegments({{order, theme.muted}});
        return;
    }
    QStringList parts;
    if (filter.range)
        parts += rangeText(*filter.range);
    if (filter.part)
        parts += partText(*filter.part);
    m_filterText->setSegments({{tr("Only "), theme.muted},
                               {parts.join(tr(" and ")), theme.text, true},
                               {QStringLiteral("  "), theme.muted},
                               {tr("show all"), theme.a, false, false, QStringLiteral("all")}});
}

void ElementsPage::clearFilter()
{
    m_elements->setFilter({});
    m_plot->clearSelection();
    Q_EMIT partCleared();
}

/// In whose part the current element lies, where ranks are known.
void ElementsPage::showPlace()
{
    const ElementRow *row = m_elements->currentElement();
    m_place->setVisible(row && row->places);
    if (!row || !row->places)
        return;
    const QString index = qs(forkpoint::Shape{coordinatesOf(row->index, m_shape)}.toString());
    m_place->setText(tr("%1 lies in %2").arg(index, displayText(row->places->toString())));
    m_place->setToolTip(plainToolTip(m_place->text()));
}

void ElementsPage::markCurrent()
{
    showPlace();
    std::optional<double> magnitude;
    if (const auto difference = m_elements->currentDifference())
        magnitude = std::fabs(*difference);
    m_plot->setMarked(m_plotKind->currentIndex() == 0 ? magnitude : std::nullopt);
}

void ElementsPage::goTo(const QString &text)
{
    const std::optional<Index> index = indexOf(text, m_shape, m_elementCount);
    if (!index) {
        Q_EMIT message(tr("No such element: %1").arg(displayText(text)));
        return;
    }
    const bool wasOrdered = !m_elements->rows().rowsAreIndices();
    m_elements->goToIndex(*index);
    m_elements->setFocus();
    if (wasOrdered)
        Q_EMIT message(tr("Listed by index now, to show the element among its neighbours"));
}

} // namespace forkpoint
