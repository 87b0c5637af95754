// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/record_texts.h"

#include "widgets/display_text.h"

#include <QCoreApplication>
#include <QStringList>

namespace forkpoint {

namespace {

QString tr(const char *text)
{
    return QCoreApplication::translate("RecordTexts", text);
}

} // namespace

QString observedText(const Observation &observation)
{
    if (observation.absence != Absence::Recorded)
        return qs(toString(observation.absence));
    return observation.digest.empty() ? tr("no digest") : displayText(observation.digest);
}

QString observedLayout(const Observation &observation)
{
    QStringList parts;
    if (observation.shape)
        parts += shapeText({*observation.shape});
    else if (observation.count)
        parts += countedText(*observation.count, "element", "elements");
    if (!observation.dtype.empty())
        parts += displayText(observation.dtype);
    return parts.join(u' ');
}

QString observedWhole(const Observation &observation)
{
    QString text = observedText(observation);
    if (observation.absence == Absence::Recorded)
        text +=
            tr(" (%1, %2)")
                .arg(qs(toString(observation.kind)), qs(toString(strengthOf(observation.kind))));
    const QString layout = observedLayout(observation);
    if (!layout.isEmpty())
        text += QStringLiteral(", ") + layout;
    for (const auto *list : {&observation.metadata, &observation.statistics}) {
        for (const auto &[name, value] : *list)
            text += QStringLiteral("; ") + displayText(name) + u' ' + displayText(value);
    }
    if (!observation.payload.empty())
        text += tr("; whole tensor in %1").arg(displayText(observation.payload));
    return text;
}

} // namespace forkpoint
