// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/report/report_json_evidence.h"

#include "model/metrics/printed_text.h"

#include <cmath>

namespace forkpoint {

namespace {

void writeCurve(JsonWriter &json, std::string_view side, const MetricCurve &curve)
{
    const MetricSeries &series = curve.series;
    if (curve.logged == 0)
        return;
    json.key(side).beginObject();
    json.key("bits_known").boolean(series.bitsKnown);
    if (series.float32)
        json.key("float32").boolean(true);
    if (series.integers)
        json.key("integers").boolean(true);
    json.key("logged").number(curve.logged);
    if (curve.notFinite > 0)
        json.key("not_finite").number(curve.notFinite);
    json.key("steps").beginArray();
    for (const MetricPoint &point : series.points)
        json.number(point.step);
    json.endArray();
    // A number as it was printed is a text: its digits tell the interval that it stands for.
    json.key("values").beginArray();
    for (std::size_t i = 0; i < series.points.size(); ++i) {
        if (series.printed.empty() || !std::isfinite(series.points[i].value))
            json.number(series.points[i].value);
        else
            json.text(printedText(series.printed[i]));
    }
    json.endArray();
    json.key("after_gap").beginArray();
    for (std::size_t i = 0; i < curve.afterGap.size(); ++i) {
        if (curve.afterGap[i])
            json.number(series.points[i].step);
    }
    json.endArray();
    json.endObject();
}

} // namespace

void writeCurves(JsonWriter &json, const ReportEvidence &evidence)
{
    if (evidence.curves.empty())
        return;
    json.key("curves").beginArray();
    for (const MetricCurves &curves : evidence.curves) {
        json.beginObject();
        json.key("name").text(curves.name);
        writeCurve(json, "a", curves.a);
        writeCurve(json, "b", curves.b);
        json.endObject();
    }
    json.endArray();
    if (evidence.curvesLeftOut > 0)
        json.key("curves_left_out").number(evidence.curvesLeftOut);
}

} // namespace forkpoint
