// SPDX-License-Identifier: GPL-3.0-or-later
// The page of records where there is one trace, or two that do not go together: nothing is compared.
#include "widgets/display_text.h"
#include "widgets/views/records_page.h"
#include "widgets/views/shown_lists.h"

#include <QComboBox>

#include <algorithm>

namespace forkpoint {

/// The sides whose traces are set against nothing: the other side has none or is not open, or the two
/// do not go together.
std::vector<Side> RecordsPage::sidesAlone() const
{
    const auto comparison = m_context->comparison();
    const bool isMet = comparison && comparison->trace && comparison->trace->refusal.empty();
    const auto isOpening = [this](Side side) {
        return m_context->side(side).phase == SideState::Phase::Opening;
    };
    if (isMet || isOpening(Side::A) || isOpening(Side::B)
        || (comparison ? !comparison->finished : !isOneSideAlone(*m_context)))
        return {};
    std::vector<Side> sides;
    for (const Side side : {Side::A, Side::B}) {
        if (m_context->side(side).trace)
            sides.push_back(side);
    }
    return sides;
}

std::size_t RecordsPage::rankCount() const
{
    return m_outline ? m_outline->ranks.size() : trace() ? trace()->ranks.size() : 0;
}

QString RecordsPage::rankText(std::size_t rank) const
{
    const TraceCoordinate &coordinate =
        m_outline ? m_outline->ranks[rank] : trace()->ranks[rank].coordinate;
    return displayText(coordinate.toText());
}

/// A trace that comes to be alone, or is so no longer.
void RecordsPage::refreshAlone()
{
    const std::vector<Side> sides = sidesAlone();
    m_side->clear();
    for (const Side side : sides)
        m_side->addItem(side == Side::A ? tr("of A") : tr("of B"));
    m_side->setVisible(sides.size() > 1);
    const auto isListed = [this](Side side) {
        return m_of == (side == Side::A ? RecordQuery::Of::A : RecordQuery::Of::B)
            && m_outline == m_context->side(side).trace;
    };
    const auto listed = std::find_if(sides.begin(), sides.end(), isListed);
    if (listed != sides.end()) {
        m_side->setCurrentIndex(int(listed - sides.begin()));
        return;
    }
    if (!sides.empty()) {
        startAlone(sides.front() == Side::A ? RecordQuery::Of::A : RecordQuery::Of::B);
    } else if (isAlone()) {
        forget();
        makeRoom();
        fillCombos();
        describe();
    }
}

void RecordsPage::startAlone(RecordQuery::Of of)
{
    forget();
    m_of = of;
    m_outline = m_context->side(of == RecordQuery::Of::A ? Side::A : Side::B).trace;
    m_steps = m_outline->iterations;
    makeRoom();
    RecordQuery query;
    query.of = of;
    if (!m_steps.empty()) {
        const auto selected = m_context->selectedStep();
        const bool known =
            selected && std::binary_search(m_steps.begin(), m_steps.end(), *selected);
        query.iteration = known ? *selected : m_steps.front();
    }
    ask(std::move(query));
}

} // namespace forkpoint
