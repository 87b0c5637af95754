// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/step_axis.h"

#include <algorithm>
#include <cmath>

namespace forkpoint {

namespace {

constexpr double SmallestSpan = 2.0;

} // namespace

void StepAxis::setExtent(double lowest, double highest)
{
    const bool same = lowest == m_lowest && highest == m_highest;
    m_lowest = lowest;
    m_highest = std::max(lowest, highest);
    if (!same || m_fitted)
        fit();
}

void StepAxis::setPixels(double left, double width)
{
    m_left = left;
    m_width = std::max(width, 1.0);
}

double StepAxis::pixelsPerStep() const
{
    return m_width / std::max(m_to - m_from, 1e-9);
}

double StepAxis::margin() const
{
    return std::max(0.5, (m_highest - m_lowest) * 0.03);
}

void StepAxis::fit()
{
    m_from = m_lowest - margin();
    m_to = m_highest + margin();
    m_fitted = true;
}

void StepAxis::showRange(double from, double to)
{
    m_from = from - 0.5;
    m_to = std::max(to + 0.5, m_from + SmallestSpan);
    m_fitted = false;
    clamp();
}

void StepAxis::zoomAt(double x, double factor)
{
    const double fixed = stepAt(x);
    const double whole = m_highest - m_lowest + 2 * margin();
    const double span = std::clamp((m_to - m_from) * factor, std::min(SmallestSpan, whole), whole);
    const double share = (fixed - m_from) / (m_to - m_from);
    m_from = fixed - share * span;
    m_to = m_from + span;
    m_fitted = span >= whole;
    clamp();
}

void StepAxis::panTo(double from)
{
    const double span = m_to - m_from;
    m_from = from;
    m_to = from + span;
    clamp();
}

void StepAxis::show(double step)
{
    const double span = m_to - m_from, edge = span * 0.05;
    if (step < m_from + edge || step > m_to - edge)
        panTo(step - span / 2);
}

void StepAxis::clamp()
{
    const double span = m_to - m_from;
    m_from = std::clamp(m_from, m_lowest - margin(),
                        std::max(m_lowest - margin(), m_highest + margin() - span));
    m_to = m_from + span;
}

double niceInterval(double pixelsPerStep, double room)
{
    const double raw = std::max(1.0, room / std::max(pixelsPerStep, 1e-300));
    const double power = std::pow(10.0, std::floor(std::log10(raw)));
    for (double factor : {1.0, 2.0, 5.0}) {
        if (factor * power >= raw)
            return factor * power;
    }
    return 10.0 * power;
}

} // namespace forkpoint
