// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/where_page.h"

#include "model/compare/one_sided.h"
#include "model/compare/row_stats.h"
#include "widgets/display_text.h"
#include "widgets/views/flow_layout.h"
#include "widgets/views/heat_map_view.h"
#include "widgets/views/saving.h"
#include "widgets/views/shown_subject.h"

#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QSpinBox>
#include <QTimer>
#include <QToolButton>
#include <QVBoxLayout>

namespace forkpoint {

namespace {

constexpr int CellPixels = 2; ///< a cell is at least so large
constexpr std::size_t MostCells = 256;

QSpinBox *powerBox(QWidget *parent, const QString &name)
{
    auto *box = new QSpinBox(parent);
    box->setRange(PowerHistogram::Lowest, PowerHistogram::Highest);
    box->setPrefix(QStringLiteral("2^"));
    box->setAccessibleName(name);
    box->setToolTip(name);
    return box;
}

} // namespace

WherePage::WherePage(ViewContext *context, QWidget *parent)
    : QWidget(parent),
      m_context(context),
      m_view(new HeatMapView(this)),
      m_quantity(new QComboBox(this)),
      m_axes(new QComboBox(this)),
      m_bar(new FlowLayout),
      m_autoRange(new QCheckBox(tr("auto"), this)),
      m_lowest(powerBox(this, tr("Magnitude of the weakest colour"))),
      m_highest(powerBox(this, tr("Magnitude of the strongest colour"))),
      m_whole(new QToolButton(this)),
      m_description(new QLabel(this)),
      m_later(new QTimer(this))
{
    m_quantity->setAccessibleName(tr("What the map shows"));
    m_quantity->addItem(tr("|B−A|"), int(MapQuantity::Difference));
    m_quantity->addItem(tr("ULP"), int(MapQuantity::Ulp));
    m_quantity->addItem(tr("|A|"), int(MapQuantity::A));
    m_quantity->addItem(tr("|B|"), int(MapQuantity::B));
    m_axes->setAccessibleName(tr("Axes of the map"));
    m_whole->setText(tr("Whole"));
    m_whole->setToolTip(tr("Show the whole plane (Home)"));
    m_autoRange->setChecked(true);
    m_autoRange->setToolTip(tr("Colours from the smallest to the largest magnitude"));
    m_description->setTextFormat(Qt::PlainText);
    m_description->setWordWrap(true);
    m_description->setForegroundRole(QPalette::PlaceholderText);
    m_later->setSingleShot(true);
    m_later->setInterval(60);

    m_bar->setContentsMargins(8, 4, 8, 0);
    m_bar->setSpacing(6);
    auto *range = new QWidget(this); // which stays together where the bar takes two lines
    auto *rangeLayout = new QHBoxLayout(range);
    rangeLayout->setContentsMargins(0, 0, 0, 0);
    for (QWidget *control : std::initializer_list<QWidget *>{m_autoRange, m_lowest, m_highest})
        rangeLayout->addWidget(control);
    for (QWidget *control : std::initializer_list<QWidget *>{m_quantity, m_axes, m_whole, range})
        m_bar->addWidget(control);
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 4);
    layout->addLayout(m_bar);
    layout->addWidget(m_view, 1);
    auto *below = new QHBoxLayout;
    below->setContentsMargins(12, 0, 12, 0);
    below->addWidget(m_description);
    layout->addLayout(below);

    connect(m_later, &QTimer::timeout, this, &WherePage::ask);
    connect(m_quantity, &QComboBox::currentIndexChanged, this, &WherePage::ask);
    connect(m_axes, &QComboBox::currentIndexChanged, this, [this] {
        refreshSlices();
        setWindow(PlaneWindow::of(plane()));
        Q_EMIT partSelected(std::nullopt);
    });
    connect(m_whole, &QToolButton::clicked, this, [this] { setWindow(PlaneWindow::of(plane())); });
    connect(m_autoRange, &QCheckBox::toggled, this, &WherePage::applyRange);
    for (QSpinBox *box : {m_lowest, m_highest})
        connect(box, &QSpinBox::valueChanged, this, &WherePage::applyRange);
    connect(m_view, &HeatMapView::closerRequested, this, &WherePage::setWindow);
    connect(m_view, &HeatMapView::boxSelected, this, [this](const PlaneWindow &window) {
        Q_EMIT partSelected(PlanePart{plane(), window});
    });
    connect(m_view, &HeatMapView::boxCleared, this, [this] { Q_EMIT partSelected(std::nullopt); });
    connect(m_view, &HeatMapView::elementActivated, this, &WherePage::elementActivated);
    connect(m_view, &HeatMapView::saveRequested, this, [this] {
        const TensorRow *tensor = row();
        askToSavePicture(m_context, this,
                         QStringLiteral("where-")
                             + (tensor ? displayText(tensor->name) : QString()),
                         [this](const QString &suffix) { return m_view->picture(suffix); });
    });
    connect(context, &ViewContext::selectedTensorChanged, this, &WherePage::refreshTensor);
    connect(context, &ViewContext::stepComparisonChanged, this, &WherePage::refreshTensor);
    connect(context, &ViewContext::mapReady, this, &WherePage::receive);
    connect(context, &ViewContext::requestFailed, this, [this](quint64 id, const QString &error) {
        if (id != m_askedId)
            return;
        m_error = error;
        m_view->setMap(nullptr); // what was drawn of it so far is not shown as what was asked for
        m_view->setEmptyText(tr("Not drawn: %1").arg(error));
        describe();
    });
    refreshTensor();
}

const TensorRow *WherePage::row() const
{
    const auto selected = m_context->selectedTensor();
    if (!m_comparison || !selected || *selected >= m_comparison->tensors.size())
        return nullptr;
    return &m_comparison->tensors[*selected];
}

void WherePage::refreshTensor()
{
    m_comparison = m_context->stepComparison();
    const TensorRow *tensor = row();
    const bool report = m_context->isReport();
    const bool isLone = tensor && isOneSided(*tensor);
    const bool readable =
        tensor && (hasElementPairs(*tensor) || isLone) && tensor->elements > 0 && !report;
    const QString pair =
        readable ? shownSubject(m_context->selectedStep().value_or(-1), *tensor) : QString();
    if (pair == m_pair && !pair.isEmpty())
        return;
    m_pair = pair;
    m_shape = readable ? elementShape(shownShape(*tensor), tensor->elements) : forkpoint::Shape();
    m_askedId = 0;
    m_error.clear();
    m_readSide.reset();
    m_view->setMap(nullptr);
    m_view->setEmptyText(!tensor ? tr("Select a tensor to see where it differs.")
                             : report
                             ? tr("A report keeps no map: open the two paths that it names.")
                             : !readable ? tr("There is no pair of elements to draw.")
                                         : tr("The map is being read…"));
    showQuantities(tensor);
    const bool floating = tensor && measuredType(*tensor).isFloating();
    if (!floating && m_quantity->currentData().toInt() == int(MapQuantity::Ulp))
        m_quantity->setCurrentIndex(0);
    for (QWidget *control : std::initializer_list<QWidget *>{m_axes, m_whole})
        control->setEnabled(readable);
    m_quantity->setEnabled(readable && !isLone);
    fillAxes();
    refreshSlices();
    m_window = PlaneWindow::of(plane());
    describe();
    m_later->start();
}

/// Of a tensor that one side alone has, or can be read of, that side's elements; afterwards what was chosen before.
void WherePage::showQuantities(const TensorRow *tensor)
{
    const QSignalBlocker blocker(m_quantity);
    const bool isLone = tensor && (isOneSided(*tensor) || m_readSide);
    const bool isA = isLone && m_readSide.value_or(tensor->a ? Side::A : Side::B) == Side::A;
    if (isLone && m_chosenQuantity < 0)
        m_chosenQuantity = m_quantity->currentIndex();
    if (isLone)
        m_quantity->setCurrentIndex(
            m_quantity->findData(int(isA ? MapQuantity::A : MapQuantity::B)));
    else if (m_chosenQuantity >= 0)
        m_quantity->setCurrentIndex(std::exchange(m_chosenQuantity, -1));
}

/// The plane of the whole tensor first, then every pair of axes.
void WherePage::fillAxes()
{
    constexpr std::size_t MostAxes = 8; // of 64 axes nobody chooses from a list of pairs
    const QSignalBlocker blocker(m_axes);
    m_axes->clear();
    const std::size_t rank = m_shape.rank();
    m_axes->addItem(rank < 2        ? tr("wrapped into rows")
                        : rank == 2 ? tr("axes 0 × 1")
                                    : tr("axes 0–%1 flattened × %2").arg(rank - 2).arg(rank - 1));
    const std::size_t axes = std::min(rank, MostAxes);
    for (std::size_t row = 0; row < axes; ++row) {
        for (std::size_t column = 0; column < axes; ++column) {
            const bool already = rank == 2 && row == 0 && column == 1;
            if (row != column && rank >= 2 && !already)
                m_axes->addItem(tr("axes %1 × %2").arg(row).arg(column),
                                QPoint(int(row), int(column)));
        }
    }
}

/// A spin box for each axis that is not drawn.
void WherePage::refreshSlices()
{
    for (QSpinBox *box : m_slices)
        box->deleteLater();
    m_slices.clear();
    const QVariant chosen = m_axes->currentData();
    if (!chosen.isValid())
        return;
    for (std::size_t axis = 0; axis < m_shape.rank(); ++axis) {
        auto *box = new QSpinBox(this);
        const Index last = m_shape.dims[axis] - 1;
        box->setRange(0, int(std::min<Index>(last, std::numeric_limits<int>::max())));
        box->setPrefix(tr("axis %1: ").arg(axis));
        box->setAccessibleName(tr("Index along axis %1").arg(axis));
        const bool drawn = int(axis) == chosen.toPoint().x() || int(axis) == chosen.toPoint().y();
        box->setVisible(!drawn);
        m_bar->addWidget(box);
        connect(box, &QSpinBox::valueChanged, m_later, qOverload<>(&QTimer::start));
        m_slices.push_back(box);
    }
}

ElementPlane WherePage::plane() const
{
    const QVariant chosen = m_axes->currentData();
    if (!chosen.isValid())
        return ElementPlane::whole(m_shape);
    std::vector<Index> at;
    for (const QSpinBox *box : m_slices)
        at.push_back(Index(box->value()));
    return ElementPlane::slice(m_shape, std::size_t(chosen.toPoint().x()),
                               std::size_t(chosen.toPoint().y()), at)
        .value_or(ElementPlane());
}

void WherePage::setWindow(const PlaneWindow &window)
{
    m_window = window;
    m_later->start();
}

void WherePage::ask()
{
    if (!isVisible() || m_pair.isEmpty())
        return;
    MapQuery query;
    query.quantity = MapQuantity(m_quantity->currentData().toInt());
    query.plane = plane();
    query.window = m_window;
    const auto cells = [](int pixels) {
        return std::clamp<std::size_t>(std::size_t(std::max(0, pixels)) / CellPixels, 16,
                                       MostCells);
    };
    query.rows = cells(m_view->height());
    query.columns = cells(m_view->width());
    if (m_askedId != 0 && query == m_asked)
        return;
    m_asked = query;
    m_error.clear();
    m_askedId = m_context->nextRequestId();
    m_context->requestMap(m_askedId, query);
}

void WherePage::receive(quint64 id, std::shared_ptr<const ElementMap> map)
{
    if (id == 0 || id != m_askedId)
        return;
    if (map->query.quantity != m_asked.quantity) {
        m_readSide = map->query.quantity == MapQuantity::A ? Side::A : Side::B;
        showQuantities(row());
        m_quantity->setEnabled(false);
        m_asked.quantity = map->query.quantity;
    }
    m_view->setMap(std::move(map));
    if (m_autoRange->isChecked())
        applyRange();
    describe();
}

void WherePage::applyRange()
{
    const bool automatic = m_autoRange->isChecked();
    m_lowest->setEnabled(!automatic);
    m_highest->setEnabled(!automatic);
    if (!automatic) {
        const auto [low, high] = std::minmax(m_lowest->value(), m_highest->value());
        m_view->setRange(ColourRange{low, high});
        return;
    }
    m_view->setRange(std::nullopt);
    const QSignalBlocker lowest(m_lowest), highest(m_highest);
    m_lowest->setValue(m_view->range().lowest);
    m_highest->setValue(m_view->range().highest);
}

void WherePage::setMarked(std::optional<Index> element)
{
    m_view->setMarked(element);
}

QString WherePage::description() const
{
    return m_description->text();
}

void WherePage::describe()
{
    const QVariant chosen = m_axes->currentData();
    const std::size_t rank = m_shape.rank();
    if (chosen.isValid())
        m_view->setAxes(tr("rows ↓ axis %1").arg(chosen.toPoint().x()),
                        tr("columns → axis %1").arg(chosen.toPoint().y()));
    else if (rank < 2)
        m_view->setAxes(tr("rows ↓ of %1 elements each").arg(plane().columns),
                        tr("columns → within a row"));
    else
        m_view->setAxes(rank == 2 ? tr("rows ↓ axis 0")
                                  : tr("rows ↓ axes 0–%1 flattened").arg(rank - 2),
                        tr("columns → axis %1").arg(rank - 1));
    const ElementMap *map = m_view->map();
    if (!m_error.isEmpty()) {
        m_description->setText(tr("Not drawn: %1").arg(m_error));
        return;
    }
    if (!map) {
        m_description->clear();
        return;
    }
    Index largest = 0, notFinite = 0;
    for (const MapCell &cell : map->cells) {
        largest = std::max(largest, cell.elements);
        notFinite += cell.notFinite > 0 ? 1 : 0;
    }
    QString text;
    if (m_readSide)
        text = m_readSide == Side::A ? tr("A alone: B cannot be read. ")
                                     : tr("B alone: A cannot be read. ");
    text += largest <= 1
        ? tr("Each cell is one element.")
        : tr("Each cell shows, of up to %1 elements, the one of largest magnitude.")
              .arg(groupedText(largest));
    if (notFinite > 0)
        text += tr(" NaN or Inf in %1, in a colour of their own.")
                    .arg(countedText(std::uint64_t(notFinite), "cell", "cells"));
    if (!map->complete)
        text += tr(" Still being read.");
    if (map->query.window != PlaneWindow::of(map->query.plane))
        text += tr(" A part of the plane; Whole shows all of it.");
    m_description->setText(text + tr(" Drag a box to filter the elements."));
}

void WherePage::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    m_later->start();
}

void WherePage::resizeEvent(QResizeEvent *event)
{
    QWidget::resizeEvent(event);
    m_later->start();
}

} // namespace forkpoint
