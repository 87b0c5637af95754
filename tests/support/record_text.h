// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/traces/trace_record.h"

#include <QString>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace forkpoint::test {

inline QString textOf(const std::optional<std::int64_t> &number)
{
    return number ? QString::number(*number) : QStringLiteral("none");
}

inline QString textOf(const std::vector<std::pair<std::string, std::string>> &pairs)
{
    QString text;
    for (const auto &[name, value] : pairs)
        text += QString::fromStdString(name + "=" + value + ";");
    return text;
}

inline QString textOf(const std::vector<Observation> &observations)
{
    QString text;
    for (const Observation &each : observations) {
        text += QString::fromStdString("[" + each.path + "|" + each.dtype + "|" + each.digest + "|"
                                       + each.payload + "|" + std::string(toString(each.kind)) + "|"
                                       + std::string(toString(each.absence)) + "|")
            + textOf(each.metadata) + textOf(each.statistics)
            + (each.count ? QString::number(*each.count) : QStringLiteral("none"));
        for (const std::uint64_t dimension : each.shape.value_or(std::vector<std::uint64_t>{~0ull}))
            text += QStringLiteral("x%1").arg(dimension);
        text += QStringLiteral("]");
    }
    return text;
}

/// All that a record says.
inline QString textOf(const TraceRecord &record)
{
    return QString::fromStdString(record.stage + "|" + record.name + "|" + record.key + "|"
                                  + record.group + "|" + record.scope + "|" + record.caller + "|"
                                  + record.place.toText() + "|")
        + textOf(record.iteration) + textOf(record.microBatch)
        + QStringLiteral(" %1 %2 %3 %4 %5 %6 ")
              .arg(record.place.size)
              .arg(record.call)
              .arg(int(record.role))
              .arg(record.callIsStated)
              .arg(record.isPlaced)
              .arg(record.sequence ? QString::number(*record.sequence) : QStringLiteral("none"))
        + textOf(record.inputs) + textOf(record.outputs) + textOf(record.fields);
}

} // namespace forkpoint::test
