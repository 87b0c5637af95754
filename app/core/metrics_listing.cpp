// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/metrics_listing.h"

#include "model/format.h"
#include "model/text/printable.h"

namespace forkpoint {

namespace {

std::string_view precisionOf(const MetricSeries &series)
{
    if (!series.bitsKnown)
        return "printed";
    return series.float32 ? "float32" : "float64";
}

} // namespace

void writeMetricSeries(JsonWriter &json, const std::vector<MetricSeries> &metrics)
{
    if (metrics.empty())
        return;
    json.key("metrics").beginArray();
    for (const MetricSeries &series : metrics) {
        json.beginObject();
        json.key("name").text(series.name);
        json.key("file").text(series.file);
        json.key("points").number(std::uint64_t(series.points.size()));
        json.key("first_step").number(series.points.front().step);
        json.key("last_step").number(series.points.back().step);
        json.key("last_value").number(series.points.back().value);
        json.key("precision").text(precisionOf(series));
        json.key("bits_known").boolean(series.bitsKnown);
        json.endObject();
    }
    json.endArray();
}

std::string metricSeriesText(const std::vector<MetricSeries> &metrics)
{
    std::string text = metrics.empty() ? "" : "metrics:\n";
    for (const MetricSeries &series : metrics) {
        text += "  " + printable(series.name) + "  "
            + counted(series.points.size(), "point", "points") + ", steps "
            + std::to_string(series.points.front().step) + " to "
            + std::to_string(series.points.back().step) + ", "
            + (series.bitsKnown ? std::string(precisionOf(series)) + ", every bit known"
                                : "bits not known: may be rounded")
            + "  (" + printable(series.file) + ")\n";
    }
    return text;
}

} // namespace forkpoint
