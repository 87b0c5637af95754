// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/report/report_svg.h"

#include "model/format.h"
#include "model/report/svg_axis.h"
#include "model/report/svg_writer.h"
#include "model/text/printable.h"

#include <algorithm>
#include <cmath>

namespace forkpoint {

namespace {

using Axis = SvgAxis;

/// "1", "100", "1e+06"
std::string powerOfTen(double exponent)
{
    return exponent >= 0 && exponent <= 4 ? grouped(std::uint64_t(std::pow(10.0, exponent)))
                                          : "1e" + std::to_string(int(exponent));
}

// --- the steps

constexpr int StepsWidth = 960;
constexpr double StepsLeft = 14, StepsRight = 946;
/// Closer than this, marks share a column, which shows the worst of them.
constexpr double MarkWidth = 18;

/// A difference hides nothing, and nothing hides a difference.
int severity(StepStatus status)
{
    switch (toneOf(status)) {
    case ReportTone::Different: return 3;
    case ReportTone::Unknown: return 2;
    case ReportTone::OneSided: return 1;
    default: return 0;
    }
}

std::string_view styleOf(ReportTone tone)
{
    switch (tone) {
    case ReportTone::Equal: return "equal";
    case ReportTone::Different: return "different";
    case ReportTone::OneSided: return "onesided";
    default: return "unknown";
    }
}

struct StepColumn
{
    double x = 0;
    StepMark worst;
    std::uint64_t marks = 0;
};

std::vector<StepColumn> columnsOf(const std::vector<StepMark> &marks, const Axis &axis)
{
    std::vector<StepColumn> columns;
    for (const StepMark &mark : marks) {
        const double x = axis.at(double(mark.step));
        if (columns.empty() || x - columns.back().x >= MarkWidth)
            columns.push_back({x, mark, 0});
        StepColumn &column = columns.back();
        ++column.marks;
        if (severity(mark.status) > severity(column.worst.status))
            column.worst = mark;
    }
    return columns;
}

void drawStepAxis(SvgWriter &svg, const StepsPlot &plot, const Axis &axis, double y)
{
    svg.line(axis.begin, y, axis.end, y, "axis");
    const bool few = plot.marks.size() <= 20;
    if (few) {
        double previous = -1e9;
        for (const StepMark &mark : plot.marks) {
            const double x = axis.at(double(mark.step));
            if (x - previous < 40)
                continue;
            previous = x;
            svg.text(x, y + 16, std::to_string(mark.step), "middle");
        }
        return;
    }
    for (const double tick : wholeTicks(axis.first, axis.last, 8))
        svg.text(axis.at(tick), y + 16, significant(tick, 15), "middle");
}

// --- histograms

constexpr int PlotWidth = 470, PlotHeight = 210;
constexpr double PlotLeft = 54, PlotRight = 462, PlotTop = 12, PlotBottom = 168;
constexpr double ZeroWidth = 22;

using Bins = std::vector<std::pair<int, std::uint64_t>>;

/// Where counts stand: logarithmic, so that a single element beside a million is seen.
struct CountAxis
{
    double decades = 1;

    double at(std::uint64_t count) const
    {
        if (count == 0)
            return PlotBottom;
        // One element is half a decade high, not nothing.
        return PlotBottom
            - (std::log10(double(count)) + 0.5) / (decades + 0.5) * (PlotBottom - PlotTop);
    }
};

CountAxis countAxisOf(std::initializer_list<const PowerHistogram *> histograms)
{
    std::uint64_t most = 1;
    for (const PowerHistogram *histogram : histograms) {
        most = std::max(most, histogram->zeros());
        for (const auto &[power, count] : histogram->bins())
            most = std::max(most, count);
    }
    return {std::max(1.0, std::ceil(std::log10(double(most))))};
}

/// Powers of two from the lowest to the highest bin, a place for zero to their left.
Axis powerAxisOf(std::initializer_list<const PowerHistogram *> histograms)
{
    int lowest = 2000, highest = -2000;
    for (const PowerHistogram *histogram : histograms) {
        for (const auto &[power, count] : histogram->bins()) {
            lowest = std::min(lowest, power);
            highest = std::max(highest, power);
        }
    }
    if (lowest > highest)
        lowest = highest = 0;
    return {double(lowest), double(highest) + 1, PlotLeft + ZeroWidth + 10, PlotRight};
}

Axis withPlaceFor(Axis powers, double value)
{
    if (!std::isnormal(value))
        return powers;
    powers.first = std::min(powers.first, std::floor(std::log2(value)));
    powers.last = std::max(powers.last, std::floor(std::log2(value)) + 1);
    return powers;
}

void drawFrame(SvgWriter &svg, const Axis &powers, const CountAxis &counts,
               const std::string &title)
{
    const int stride = counts.decades > 8 ? 4 : counts.decades > 4 ? 2 : 1;
    constexpr int MostDecades = 19; // of a 64-bit count
    for (int decade = 0; decade <= std::min(int(counts.decades), MostDecades); decade += stride) {
        const double y = counts.at(std::uint64_t(std::pow(10.0, decade)));
        svg.line(PlotLeft, y, PlotRight, y, "grid");
        svg.text(PlotLeft - 5, y + 4, powerOfTen(decade), "end");
    }
    svg.line(PlotLeft, PlotBottom, PlotRight, PlotBottom, "axis");
    svg.text(PlotLeft - 5, PlotBottom + 4, "0", "end"); // so that one element stands on nothing
    svg.text(PlotLeft + ZeroWidth / 2, PlotBottom + 15, "0", "middle");
    const double decadesOfAxis = (powers.last - powers.first) * std::log10(2.0);
    const int step = std::max(1, int(std::ceil(decadesOfAxis / 7)));
    const double bits = std::log2(10.0);
    const int from = int(std::ceil(powers.first / bits)), to = int(std::floor(powers.last / bits));
    const auto tick = [&](double power, const std::string &label) {
        const double x = powers.at(power);
        svg.line(x, PlotBottom, x, PlotBottom + 4, "axis");
        svg.text(x, PlotBottom + 15, label, x > PlotRight - 20 ? "end" : "middle");
    };
    for (int decade = from; decade <= to; ++decade) {
        if (decade % step == 0)
            tick(decade * bits, powerOfTen(decade));
    }
    if (to - from < 1) { // fewer than two powers of ten: the ends say where we are
        tick(powers.first, significant(std::exp2(powers.first), 3));
        tick(powers.last, significant(std::exp2(powers.last), 3));
    }
    svg.text((PlotLeft + PlotRight) / 2, PlotHeight - 8, title, "middle");
}

void drawBars(SvgWriter &svg, const PowerHistogram &histogram, const Axis &powers,
              const CountAxis &counts, std::string_view style)
{
    const auto bar = [&](double x, double width, std::uint64_t count) {
        const double y = counts.at(count);
        svg.rect(x, y, std::max(0.5, width), PlotBottom - y, style);
    };
    if (histogram.zeros() > 0)
        bar(PlotLeft + 1, ZeroWidth - 2, histogram.zeros());
    for (const auto &[power, count] : histogram.bins()) {
        const double x = powers.at(power);
        bar(x, powers.at(power + 1) - x - 0.5, count);
    }
}

void drawOutline(SvgWriter &svg, const PowerHistogram &histogram, const Axis &powers,
                 const CountAxis &counts, std::string_view style)
{
    const Bins bins = histogram.bins();
    if (histogram.zeros() > 0) {
        const double y = counts.at(histogram.zeros());
        svg.moveTo(PlotLeft, PlotBottom);
        svg.lineTo(PlotLeft, y);
        svg.lineTo(PlotLeft + ZeroWidth, y);
        svg.lineTo(PlotLeft + ZeroWidth, PlotBottom);
    }
    int next = -10000;
    for (const auto &[power, count] : bins) {
        const double x = powers.at(power), end = powers.at(power + 1), y = counts.at(count);
        if (power != next) {
            if (next != -10000)
                svg.lineTo(powers.at(next), PlotBottom);
            svg.moveTo(x, PlotBottom);
        }
        svg.lineTo(x, y);
        svg.lineTo(end, y);
        next = power + 1;
    }
    if (next != -10000)
        svg.lineTo(powers.at(next), PlotBottom);
    if (!bins.empty() || histogram.zeros() > 0)
        svg.endPath(style);
}

// --- a metric

constexpr int MetricWidth = 960, MetricHeight = 190;
constexpr double MetricLeft = 82, MetricRight = 946, MetricTop = 14, MetricBottom = 130,
                 MetricZero = 150;

/// The range of |B-A| in decades, where it is not zero.
Axis decadesOf(const MetricComparison &metric)
{
    double lowest = 1e9, highest = -1e9;
    for (const MetricDifference &entry : metric.differences) {
        for (const std::optional<double> &end : {entry.least, entry.largest}) {
            if (!end || *end == 0.0)
                continue;
            lowest = std::min(lowest, std::floor(std::log10(std::fabs(*end))));
            highest = std::max(highest, std::ceil(std::log10(std::fabs(*end))));
        }
    }
    if (lowest > highest)
        return {-1, 0, MetricBottom, MetricTop};
    return {lowest, std::max(highest, lowest + 1), MetricBottom, MetricTop};
}

/// `written`: where the last word ended, which the next must not cover.
void drawMetricMark(SvgWriter &svg, const MetricDifference &entry, double x, const Axis &decades,
                    double &written)
{
    if (entry.different == 0) {
        svg.circle(x, MetricZero, 2.5, "equal");
        return;
    }
    if (!entry.least) {
        svg.line(x, MetricTop - 8, x, MetricTop - 2, "range");
        if (x >= written)
            svg.text(x + 3, MetricTop - 4, "no number", x > MetricRight - 70 ? "end" : "start");
        written = std::max(written, x + 80);
        return;
    }
    const auto heightOf = [&](double value) {
        return value == 0.0 ? MetricZero : decades.at(std::log10(std::fabs(value)));
    };
    const double least = heightOf(*entry.least), largest = heightOf(*entry.largest);
    if (entry.steps > 1)
        svg.line(x, least, x, largest, "range");
    // A filled mark is positive, an open one negative.
    svg.circle(x, largest, 3, *entry.largest > 0 ? "different" : "different open");
    if (*entry.least != *entry.largest)
        svg.circle(x, least, 3, *entry.least > 0 ? "different" : "different open");
}

} // namespace

std::string markupText(std::string_view text)
{
    std::string result;
    for (const char c : printable(text)) {
        switch (c) {
        case '&': result += "&amp;"; break;
        case '<': result += "&lt;"; break;
        case '>': result += "&gt;"; break;
        case '"': result += "&quot;"; break;
        case '\'': result += "&#39;"; break;
        default: result += c;
        }
    }
    return result;
}

std::string svgOf(const StepsPlot &plot)
{
    SvgWriter svg(StepsWidth, 74, describe(plot));
    if (plot.marks.empty())
        return svg.take();
    const Axis axis{double(plot.marks.front().step), double(plot.marks.back().step),
                    StepsLeft + MarkWidth, StepsRight - MarkWidth};
    constexpr double Y = 34;
    drawStepAxis(svg, plot, axis, Y + 14);
    for (const StepColumn &column : columnsOf(plot.marks, axis)) {
        const ReportTone tone = toneOf(column.worst.status);
        svg.rect(column.x - 8, Y - 11, 16, 22, styleOf(tone));
        svg.text(column.x, Y + 5, signOf(tone), "middle", "sign");
        if (column.marks > 1)
            svg.text(column.x, Y - 15, grouped(column.marks), "middle", "small");
    }
    if (plot.shown) {
        const double x = axis.at(double(*plot.shown));
        svg.rect(x - 11.5, Y - 14.5, 23, 29, "shown");
    }
    return svg.take();
}

std::string svgOf(const MetricPlot &plot)
{
    const MetricComparison &metric = plot.metric;
    SvgWriter svg(MetricWidth, MetricHeight, describe(plot));
    if (metric.differences.empty())
        return svg.take();
    const Axis steps{double(metric.differences.front().first),
                     double(metric.differences.back().last), MetricLeft + 8, MetricRight - 8};
    const Axis decades = decadesOf(metric);
    for (const double tick : wholeTicks(decades.first, decades.last, 6)) {
        const double y = decades.at(tick);
        svg.line(MetricLeft, y, MetricRight, y, "grid");
        svg.text(MetricLeft - 6, y + 4, powerOfTen(tick), "end");
    }
    svg.line(MetricLeft, MetricZero, MetricRight, MetricZero, "axis");
    svg.text(MetricLeft - 6, MetricZero + 4, "equal", "end");
    for (const double tick : wholeTicks(steps.first, steps.last, 10))
        svg.text(steps.at(tick), MetricZero + 18, significant(tick, 15), "middle");
    svg.text((MetricLeft + MetricRight) / 2, MetricHeight - 6,
             "step; |B\u2212A| of " + metric.name + ", \u25cf positive, \u25cb negative", "middle");
    double written = 0;
    for (const MetricDifference &entry : metric.differences)
        drawMetricMark(svg, entry,
                       (steps.at(double(entry.first)) + steps.at(double(entry.last))) / 2, decades,
                       written);
    return svg.take();
}

std::string svgOfMagnitudes(const TensorPlot &plot)
{
    const DiffStats &stats = plot.stats;
    SvgWriter svg(PlotWidth, PlotHeight, "Sizes. " + describe(plot));
    if (!stats.magnitudes) {
        const double rms = stats.rmsA().value_or(0.0);
        const Axis powers = withPlaceFor(powerAxisOf({&stats.absDifference}), rms);
        const CountAxis counts = countAxisOf({&stats.absDifference});
        drawFrame(svg, powers, counts, "elements by size of |B\u2212A|; the line is the rms of A");
        drawBars(svg, stats.absDifference, powers, counts, "different");
        if (std::isnormal(rms))
            svg.line(powers.at(std::log2(rms)), PlotTop, powers.at(std::log2(rms)), PlotBottom,
                     "outline a");
        return svg.take();
    }
    const auto histograms = {&stats.absA, &stats.absB, &stats.absDifference};
    const Axis powers = powerAxisOf(histograms);
    const CountAxis counts = countAxisOf(histograms);
    drawFrame(svg, powers, counts, "elements by size: |A| line, |B| dashes, |B\u2212A| bars");
    drawBars(svg, stats.absDifference, powers, counts, "different");
    drawOutline(svg, stats.absA, powers, counts, "outline a");
    drawOutline(svg, stats.absB, powers, counts, "outline b");
    return svg.take();
}

std::string svgOfUlp(const TensorPlot &plot)
{
    const DiffStats &stats = plot.stats;
    SvgWriter svg(PlotWidth, PlotHeight, "ULP. " + describe(plot));
    const Axis powers = powerAxisOf({&stats.ulp});
    const CountAxis counts = countAxisOf({&stats.ulp});
    drawFrame(svg, powers, counts, "elements by distance in ULP");
    drawBars(svg, stats.ulp, powers, counts, "different");
    return svg.take();
}

} // namespace forkpoint
