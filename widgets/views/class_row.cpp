// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/class_row.h"

#include "model/class_evidence.h"
#include "widgets/display_text.h"
#include "widgets/views/list_counts.h"

#include <QCoreApplication>

#include <algorithm>

namespace forkpoint {

namespace {

using Segments = std::vector<StyledText::Segment>;

QString tr(const char *text)
{
    return QCoreApplication::translate("forkpoint::ClassRow", text);
}

/// A class and its count stay on one line.
QString unbroken(QString text)
{
    return text.replace(u' ', QChar(QChar::Nbsp));
}

void addEntry(Segments &segments, Outcome outcome, bool pending, const QString &name,
              const QString &link, const QString &text, const Theme &theme)
{
    segments.push_back({unbroken((pending ? QStringLiteral("?") : sign(outcome)) + u' '),
                        theme.color(outcome), true});
    segments.push_back({name, theme.color(outcome), true, false, link});
    segments.push_back({unbroken(u' ' + text), theme.muted});
}

/// What is equal so far, while more may come, is no outcome.
void addEqualSoFar(Segments &segments, const QString &name, const QString &link, const Theme &theme)
{
    segments.push_back({unbroken(QStringLiteral("… ")), theme.muted, true});
    segments.push_back({name, theme.muted, true, false, link});
    segments.push_back({unbroken(u' ' + tr("no difference so far")), theme.muted});
}

void addSummary(Segments &segments, const QString &name, const ClassSummary &summary,
                bool isFinished, const Theme &theme)
{
    if (!isFinished && summary.outcome != Outcome::Different) {
        addEqualSoFar(segments, name, QStringLiteral("class:") + name, theme);
        return;
    }
    const StatusCounts &counts = summary.counts;
    const std::uint64_t total = counts.matched() + counts.onlyInA + counts.onlyInB;
    QString text = tr("equal");
    if (total > counts.identical + counts.notCompared)
        text = differingText(counts, total);
    else if (summary.outcome == Outcome::WithinTolerance)
        text = tr("within tolerance");
    else if (summary.outcome != Outcome::Identical)
        text = tr("unknown");
    const bool pending = summary.outcome == Outcome::Undecided && counts.notCompared == total;
    addEntry(segments, summary.outcome, pending, name, QStringLiteral("class:") + name, text,
             theme);
}

void addEvidence(Segments &segments, const QString &name, const ChainLink &link, bool isFinished,
                 const Theme &theme)
{
    const QString place = link.step
        ? QStringLiteral("place:%1:%2").arg(*link.step).arg(QString::fromStdString(link.stage))
        : QString(); // no step, no place to show
    if (!isFinished && link.status != LinkStatus::Different) {
        addEqualSoFar(segments, name, place, theme);
        return;
    }
    switch (link.status) {
    case LinkStatus::Different:
        addEntry(segments, Outcome::Different, false, name, place,
                 tr("%1 of %2 differ").arg(groupedText(link.different), groupedText(link.compared)),
                 theme);
        return;
    case LinkStatus::Equal:
        addEntry(segments, Outcome::Identical, false, name, place, tr("equal"), theme);
        return;
    case LinkStatus::Undecided:
    case LinkStatus::NotRecorded: break;
    }
    addEntry(segments, Outcome::Undecided, true, name, place, tr("unknown"), theme);
}

/// Checkpoints beside the traces may show what the records of the step where the runs part do not.
bool saysMore(const ClassSummary &summary, const ChainLink &link)
{
    if (summary.outcome == Outcome::Different)
        return link.status != LinkStatus::Different;
    return summary.outcome == Outcome::Undecided && link.status == LinkStatus::Equal;
}

} // namespace

Segments classRow(const RunComparison &comparison, const CheckpointComparison &shown,
                  const Theme &theme)
{
    // These always, others only where they exist.
    constexpr StateClass Always[] = {StateClass::Weights,   StateClass::Optimizer,
                                     StateClass::Scheduler, StateClass::Counter,
                                     StateClass::Rng,       StateClass::Data};
    // Tensors that traces kept are a part of what their records say.
    std::map<StateClass, ChainLink> evidence;
    if (comparison.verdict.coverage.recordsTotal > 0)
        evidence = classEvidence(comparison);
    Segments segments;
    if (comparison.verdict.outcome == Outcome::NotCompared && evidence.empty()
        && shown.byClass.empty())
        return segments; // what the files hold is not known from this
    const auto add = [&](StateClass stateClass, bool always) {
        const QString name = qs(toString(stateClass));
        const auto link = evidence.find(stateClass);
        const auto summary = shown.byClass.find(stateClass);
        const bool isKnown = link != evidence.end() || summary != shown.byClass.end();
        if (!isKnown && !always)
            return;
        if (!segments.empty())
            segments.push_back({QStringLiteral("     ")});
        const bool isSummary = summary != shown.byClass.end()
            && (link == evidence.end() || saysMore(summary->second, link->second));
        if (isSummary)
            addSummary(segments, name, summary->second, comparison.finished, theme);
        else if (link != evidence.end())
            addEvidence(segments, name, link->second, comparison.finished, theme);
        else
            segments.push_back(
                {unbroken(QStringLiteral("– ") + name + u' ' + tr("not recorded")), theme.muted});
    };
    for (const StateClass stateClass : Always)
        add(stateClass, true);
    add(StateClass::Scaler, false);
    if (evidence.empty()) // gradients and activations have rows of their own in the strip
        add(StateClass::Unknown, false);
    return segments;
}

} // namespace forkpoint
