// SPDX-License-Identifier: GPL-3.0-or-later
// Back and forward through what was looked at.
#include "app/gui/main_window.h"

#include <QAction>

namespace forkpoint {

std::optional<Place> MainWindow::currentPlace() const
{
    const auto comparison = m_context.stepComparison();
    const auto row = m_context.selectedTensor();
    if (!comparison || !row || *row >= comparison->tensors.size())
        return std::nullopt;
    return Place{m_context.selectedStep(), comparison->tensors[*row].name};
}

void MainWindow::rememberPlace()
{
    const std::optional<Place> place = currentPlace();
    // Another step is still being read: where one was is not where one went.
    if (place && place == m_leaving)
        return;
    m_leaving.reset();
    if (place)
        m_places.visit(*place);
    else if (!m_context.comparison())
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
    m_leaving = currentPlace();
    refreshPlaces();
    m_context.selectPlace(place.step, place.tensor);
}

} // namespace forkpoint
