// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace forkpoint {

/// The part of the steps that is in view, and where they stand on a line of pixels.
class StepAxis
{
public:
    /// Steps there are; keeps what is in view unless all of it was.
    void setExtent(double lowest, double highest);
    /// The pixels that the steps in view are spread over.
    void setPixels(double left, double width);

    double lowest() const { return m_lowest; }
    double highest() const { return m_highest; }
    double from() const { return m_from; }
    double to() const { return m_to; }
    bool isFitted() const { return m_fitted; }

    double xOf(double step) const { return m_left + (step - m_from) * pixelsPerStep(); }
    double stepAt(double x) const { return m_from + (x - m_left) / pixelsPerStep(); }
    double pixelsPerStep() const;

    void fit();
    void showRange(double from, double to); ///< that part of the steps, with room on both sides
    void zoomAt(double x, double factor);   ///< below one: closer; the step at x stays there
    void panTo(double from);
    /// Pans so far that the step is well in view.
    void show(double step);

private:
    double margin() const;
    void clamp();

    double m_lowest = 0, m_highest = 1;
    double m_from = 0, m_to = 1;
    double m_left = 0, m_width = 1;
    bool m_fitted = true;
};

/// 1, 2 or 5 times a power of ten steps, so that labels stand `room` pixels apart.
double niceInterval(double pixelsPerStep, double room);

} // namespace forkpoint
