// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/results/report_evidence_reader.h"

#include <cmath>

namespace forkpoint {

namespace {

/// A text is a number as it was printed, or one of the words for NaN and infinities.
std::optional<DecimalText> decimalOf(const JsonValue &value)
{
    constexpr std::string_view Ellipsis = "\u2026";
    std::string_view digits = value.text().value_or("");
    const bool isCut = digits.ends_with(Ellipsis);
    digits.remove_suffix(isCut ? Ellipsis.size() : 0);
    std::optional<DecimalText> decimal = parseDecimal(digits);
    if (decimal)
        decimal->printed.cut = isCut;
    return decimal;
}

/// The numbers of a curve; false where they are none, or finite ones are partly texts.
bool addValues(const std::vector<JsonValue> &values, MetricSeries &series)
{
    bool someNumbers = false, someTexts = false;
    for (const JsonValue &value : values) {
        DecimalText decimal;
        if (value.kind() == JsonValue::Kind::Text) {
            const auto read = decimalOf(value);
            if (!read)
                return false;
            decimal = *read;
            someTexts |= std::isfinite(decimal.value);
        } else {
            const auto number = realOf(value);
            if (!number)
                return false;
            decimal.value = *number;
            someNumbers = true;
        }
        series.points[series.printed.size()].value = decimal.value;
        series.printed.push_back(decimal.printed);
    }
    if (!someTexts)
        series.printed.clear();
    series.beyondFloat64 = someTexts && series.integers;
    return !(someTexts && someNumbers);
}

bool addSteps(const std::vector<JsonValue> &steps, MetricSeries &series)
{
    for (const JsonValue &value : steps) {
        const auto step = integerOf(value);
        if (!step || (!series.points.empty() && *step <= series.points.back().step))
            return false;
        series.points.push_back({*step, 0.0});
    }
    return true;
}

bool markGaps(const std::vector<JsonValue> &gaps, MetricCurve &curve)
{
    const std::vector<MetricPoint> &points = curve.series.points;
    curve.afterGap.assign(points.size(), false);
    std::size_t at = 0;
    for (const JsonValue &value : gaps) {
        const auto step = integerOf(value);
        while (step && at < points.size() && points[at].step < *step)
            ++at;
        if (!step || at == points.size() || points[at].step != *step)
            return false;
        curve.afterGap[at] = true;
    }
    return true;
}

MetricCurve curveOf(const JsonFields &fields, const std::string &name)
{
    MetricCurve curve;
    MetricSeries &series = curve.series;
    series.name = name;
    series.bitsKnown = fields.flagIf("bits_known").value_or(false);
    series.float32 = fields.flagIf("float32").value_or(false);
    series.integers = fields.flagIf("integers").value_or(false);
    curve.logged = fields.count("logged");
    curve.notFinite = fields.countIf("not_finite").value_or(0);
    const std::vector<JsonValue> steps = fields.arrayIf("steps");
    const std::vector<JsonValue> values = fields.arrayIf("values");
    if (steps.size() > MetricCurves::MostSteps || steps.empty() || curve.logged < steps.size())
        fields.problem("steps",
                       "expected 1 to " + std::to_string(MetricCurves::MostSteps)
                           + " of those that were logged");
    else if (!addSteps(steps, series))
        fields.problem("steps", "expected whole numbers that rise");
    else if (values.size() != steps.size() || !addValues(values, series))
        fields.problem("values", "expected a number for each step");
    else if (!markGaps(fields.arrayIf("after_gap"), curve))
        fields.problem("after_gap", "expected some of its steps");
    return curve;
}

} // namespace

std::shared_ptr<const ReportEvidence> reportEvidenceOf(const JsonFields &root, JsonProblem &problem)
{
    auto evidence = std::make_shared<ReportEvidence>();
    std::size_t number = 0;
    for (const JsonValue &value : root.elementsIf("curves")) {
        if (problem.error)
            return nullptr;
        const JsonFields fields(value, "curves[" + std::to_string(number++) + "]", problem);
        MetricCurves curves;
        curves.name = fields.text("name");
        if (const auto a = fields.objectIf("a"))
            curves.a = curveOf(*a, curves.name);
        if (const auto b = fields.objectIf("b"))
            curves.b = curveOf(*b, curves.name);
        evidence->curves.push_back(std::move(curves));
    }
    evidence->curvesLeftOut = root.countIf("curves_left_out").value_or(0);
    return evidence->isEmpty() ? nullptr : evidence;
}

} // namespace forkpoint
