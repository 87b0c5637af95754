// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/report/report_svg.h"

#include "model/format.h"
#include "model/metrics/metric_relation.h"
#include "model/report/svg_axis.h"
#include "model/report/svg_writer.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace forkpoint {

namespace {

constexpr int Width = 960, Height = 250;
constexpr double Left = 82, Right = 946, Top = 34, Bottom = 206;
/// Numbers that are none stand above the plot, a row for each side.
constexpr double RowA = 12, RowB = 26;
/// Beyond these two numbers lie further apart than a float64 says.
constexpr double Largest = 8e307;

double drawable(double value)
{
    return std::clamp(value, -Largest, Largest);
}

/// The values that a point may stand for: of a printed number an interval.
DecimalRange rangeAt(const MetricSeries &series, std::size_t point)
{
    const MetricSample sample = sampleAt(series, point);
    const DecimalRange range =
        sample.rounded() ? rangeOf(*sample.printed) : DecimalRange{sample.value, sample.value};
    return {drawable(range.low), drawable(range.high)};
}

struct Bounds
{
    double firstStep = 0, lastStep = 0, low = 0, high = 0;
    bool some = false, finite = false;

    void take(const MetricCurve &curve)
    {
        for (std::size_t i = 0; i < curve.series.points.size(); ++i) {
            const MetricPoint &point = curve.series.points[i];
            const double step = double(point.step);
            firstStep = some ? std::min(firstStep, step) : step;
            lastStep = some ? std::max(lastStep, step) : step;
            some = true;
            if (!std::isfinite(point.value))
                continue;
            const DecimalRange range = rangeAt(curve.series, i);
            low = finite ? std::min(low, range.low) : range.low;
            high = finite ? std::max(high, range.high) : range.high;
            finite = true;
        }
    }

    SvgAxis steps() const { return {firstStep, lastStep, Left + 8, Right - 8}; }
    SvgAxis values() const
    {
        if (high > low)
            return {low, high, Bottom - 4, Top + 4};
        const double room = low == 0 ? 1 : std::fabs(low) / 10; // of a constant
        return {drawable(low - room), drawable(high + room), Bottom - 4, Top + 4};
    }
};

void drawAxes(SvgWriter &svg, const SvgAxis &steps, const SvgAxis &values)
{
    for (const double tick : decimalTicks(values.first, values.last, 5)) {
        const double y = values.at(tick);
        svg.line(Left, y, Right, y, "grid");
        svg.text(Left - 6, y + 4, significant(tick, 6), "end");
    }
    svg.line(Left, Bottom, Right, Bottom, "axis");
    for (const double tick : wholeTicks(steps.first, steps.last, 10))
        svg.text(steps.at(tick), Bottom + 16, significant(tick, 15), "middle");
}

/// A line through what is known to be neighbours; a point without any stands alone.
void drawCurve(SvgWriter &svg, const MetricCurve &curve, const SvgAxis &steps,
               const SvgAxis &values, std::string_view side)
{
    const std::vector<MetricPoint> &points = curve.series.points;
    const auto isJoined = [&](std::size_t i) {
        return i > 0 && i < points.size() && !curve.afterGap[i] && std::isfinite(points[i].value)
            && std::isfinite(points[i - 1].value);
    };
    bool isOpen = false;
    std::vector<std::size_t> alone;
    for (std::size_t i = 0; i < points.size(); ++i) {
        if (!std::isfinite(points[i].value))
            continue;
        const double x = steps.at(double(points[i].step)), y = values.at(drawable(points[i].value));
        if (isJoined(i)) {
            svg.lineTo(x, y);
        } else if (isJoined(i + 1)) {
            svg.moveTo(x, y);
            isOpen = true;
        } else {
            alone.push_back(i);
        }
    }
    const std::string style(side);
    if (isOpen)
        svg.endPath("outline " + style);
    for (const std::size_t i : alone)
        svg.circle(steps.at(double(points[i].step)), values.at(drawable(points[i].value)), 3,
                   "lone " + style);
}

/// Half a unit of the last printed place to each side, where that is wide enough to be seen.
void drawIntervals(SvgWriter &svg, const MetricCurve &curve, const SvgAxis &steps,
                   const SvgAxis &values, std::string_view side)
{
    constexpr double Seen = 2;
    const std::string style = "interval " + std::string(side);
    for (std::size_t i = 0; i < curve.series.points.size(); ++i) {
        if (!std::isfinite(curve.series.points[i].value))
            continue;
        const DecimalRange range = rangeAt(curve.series, i);
        const double low = values.at(range.low), high = values.at(range.high);
        if (low - high < Seen)
            continue;
        const double x = steps.at(double(curve.series.points[i].step));
        svg.line(x, low, x, high, style);
        for (const double end : {low, high})
            svg.line(x - 3, end, x + 3, end, style);
    }
}

/// NaN and infinities by step: a mark each, and a word before the first of a run.
void drawUnlike(SvgWriter &svg, const MetricCurve &curve, const SvgAxis &steps, double y,
                std::string_view side)
{
    bool isRun = false;
    for (const MetricPoint &point : curve.series.points) {
        const bool wasRun = std::exchange(isRun, !std::isfinite(point.value));
        if (!isRun)
            continue;
        const double x = steps.at(double(point.step));
        svg.line(x, y - 8, x, y + 2, "interval " + std::string(side == "A" ? "a" : "b"));
        const std::string word = std::string(side) + " "
            + (std::isnan(point.value) ? "NaN"
                   : point.value > 0   ? "+Inf"
                                       : "\u2212Inf");
        if (!wasRun)
            svg.text(x - 4, y + 1, word, "end");
    }
}

void drawFirst(SvgWriter &svg, const MetricComparison &metric, const SvgAxis &steps)
{
    if (!metric.firstProvenDifference)
        return;
    const double x = steps.at(double(*metric.firstProvenDifference));
    svg.line(x, Top, x, Bottom, "first");
    svg.text(x < Right - 160 ? x + 5 : x - 5, Bottom - 6,
             "\u2260 from step " + std::to_string(*metric.firstProvenDifference),
             x < Right - 160 ? "start" : "end", "label different");
}

} // namespace

std::string svgOfCurves(const MetricPlot &plot)
{
    const MetricCurve &a = plot.curves.a, &b = plot.curves.b;
    Bounds bounds;
    bounds.take(a);
    bounds.take(b);
    if (!bounds.some)
        return {};
    SvgWriter svg(Width, Height, "Curves. " + describe(plot));
    const SvgAxis steps = bounds.steps(), values = bounds.values();
    drawAxes(svg, steps, values);
    drawFirst(svg, plot.metric, steps);
    drawIntervals(svg, a, steps, values, "a");
    drawIntervals(svg, b, steps, values, "b");
    drawCurve(svg, a, steps, values, "a");
    drawCurve(svg, b, steps, values, "b");
    drawUnlike(svg, a, steps, RowA, "A");
    drawUnlike(svg, b, steps, RowB, "B");
    svg.text((Left + Right) / 2, Height - 6,
             "step; " + plot.metric.name + ": A line, B dashes, broken where a step is missing"
                 + (plot.metric.bitsKnown ? "" : "; bars: what a printed number may be"),
             "middle");
    return svg.take();
}

} // namespace forkpoint
