// SPDX-License-Identifier: GPL-3.0-or-later
// Back and forward through what was looked at.
#include "app/gui/main_window.h"
#include "widgets/display_text.h"
#include "widgets/views/metrics_page.h"
#include "widgets/views/records_page.h"

#include <QAction>
#include <QTimer>

#include <utility>

namespace forkpoint {

namespace {

/// A place that is not reached by then is gone.
constexpr int ArrivalMs = 2000;

} // namespace

void MainWindow::connectPlaces()
{
    // A step and its tensor arrive one after the other: only where one ends up is a place.
    m_arrival = new QTimer(this);
    m_arrival->setSingleShot(true);
    m_arrival->setInterval(0);
    connect(m_arrival, &QTimer::timeout, this, &MainWindow::rememberPlace);
    const auto arrive = qOverload<>(&QTimer::start);
    connect(&m_context, &ViewContext::selectedTensorChanged, m_arrival, arrive);
    connect(&m_context, &ViewContext::stepComparisonChanged, m_arrival, arrive);
    connect(m_list, &TensorList::pageChanged, m_arrival, arrive);
    connect(m_detail, &TensorDetail::pageChanged, m_arrival, arrive);
    connect(m_list->records(), &RecordsPage::rowChanged, m_arrival, arrive);
    connect(m_list->metrics(), &MetricsPage::selectionChanged, m_arrival, arrive);
    connect(&m_context, &ViewContext::reloading, this, &MainWindow::keepPlace);
    connect(&m_context, &ViewContext::jobChanged, this, [this] {
        const JobState::Phase phase = m_context.job().phase;
        if (phase == JobState::Phase::Failed || phase == JobState::Phase::Cancelled)
            m_reloaded.reset(); // another pair may be opened next
    });
    connect(&m_context, &ViewContext::comparisonChanged, this, &MainWindow::returnToPlace);
}

std::optional<Place> MainWindow::currentPlace() const
{
    Place place;
    place.list = m_list->page();
    if (place.list == TensorList::Page::Records) {
        place.record = m_list->records()->place();
        return place.record ? std::optional(place) : std::nullopt;
    }
    if (place.list == TensorList::Page::Metrics) {
        const MetricPair *selected = m_list->metrics()->selected();
        place.metric = selected ? displayText(selected->name) : QString();
        return selected ? std::optional(place) : std::nullopt;
    }
    const auto comparison = m_context.stepComparison();
    const auto row = m_context.selectedTensor();
    if (!comparison || !row || *row >= comparison->tensors.size())
        return std::nullopt;
    place.step = m_context.selectedStep();
    place.tensor = comparison->tensors[*row].name;
    place.detail = m_detail->page();
    return place;
}

void MainWindow::rememberPlace()
{
    const std::optional<Place> place = currentPlace();
    // On the way back, forward or through a reload, what is passed is not where one went.
    if (m_going && place != m_going && !m_goingSince.hasExpired(ArrivalMs))
        return;
    m_going.reset();
    if (place)
        m_places.visit(*place);
    else if (!m_context.comparison() && !m_reloaded)
        m_places.clear();
    refreshPlaces();
}

void MainWindow::refreshPlaces()
{
    m_back->setEnabled(m_places.canGoBack());
    m_forward->setEnabled(m_places.canGoForward());
}

void MainWindow::go(const Place &place)
{
    m_going = place;
    m_goingSince.start();
    refreshPlaces();
    m_list->showPage(place.list);
    if (place.record) {
        m_list->records()->showQuery(*place.record);
    } else if (!place.metric.isEmpty()) {
        m_list->metrics()->select(place.metric);
    } else {
        m_detail->showPage(place.detail);
        m_context.selectPlace(place.step, place.tensor);
    }
}

/// What is looked at is looked at again when both sides were read anew.
void MainWindow::keepPlace()
{
    m_reloaded = currentPlace();
}

void MainWindow::returnToPlace()
{
    const auto comparison = m_context.comparison();
    if (!m_reloaded || !comparison || !comparison->finished)
        return;
    const Place place = *std::exchange(m_reloaded, std::nullopt);
    if (m_list->hasPage(place.list))
        go(place);
}

} // namespace forkpoint
