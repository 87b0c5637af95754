// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/class_row.h"

#include "model/compare/class_evidence.h"
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

/// A line may end behind a dash, even before a blank that does not break.
constexpr QChar WordJoiner(0x2060);

/// A class and its count stay on one line.
QString unbroken(QString text)
{
    return text.replace(u' ', QChar(QChar::Nbsp));
}

/// One class, or in brief several of which the same is said.
struct Entry
{
    QString sign;
    QColor color;
    std::vector<std::pair<QString, QString>> names; ///< and their links
    QString text;
    bool isPlain = false; ///< there is nothing of it
};

void addEntry(std::vector<Entry> &entries, Outcome outcome, bool pending, const QString &name,
              const QString &link, const QString &text, const Theme &theme)
{
    entries.push_back({pending ? QStringLiteral("?") : sign(outcome),
                       theme.color(outcome),
                       {{name, link}},
                       text});
}

/// What is equal so far, while more may come, is no outcome.
void addEqualSoFar(std::vector<Entry> &entries, const QString &name, const QString &link,
                   const Theme &theme)
{
    entries.push_back(
        {QStringLiteral("…"), theme.muted, {{name, link}}, tr("no difference so far")});
}

/// Those of which the same is said as one, unless they differ.
std::vector<Entry> merged(const std::vector<Entry> &entries)
{
    std::vector<Entry> result;
    for (const Entry &entry : entries) {
        const auto same = std::find_if(result.begin(), result.end(), [&](const Entry &other) {
            return other.sign == entry.sign && other.text == entry.text
                && entry.sign != sign(Outcome::Different);
        });
        if (same == result.end())
            result.push_back(entry);
        else
            same->names.insert(same->names.end(), entry.names.begin(), entry.names.end());
    }
    return result;
}

Segments segmentsOf(const std::vector<Entry> &entries, const Theme &theme)
{
    Segments segments;
    for (const Entry &entry : entries) {
        if (!segments.empty())
            segments.push_back({QStringLiteral("     ")});
        segments.push_back({unbroken(entry.sign + WordJoiner + u' '), entry.color, !entry.isPlain});
        for (std::size_t i = 0; i < entry.names.size(); ++i) {
            const auto &[name, link] = entry.names[i];
            if (i > 0)
                segments.push_back({QStringLiteral(", "), theme.muted});
            segments.push_back({name, entry.color, !entry.isPlain, false, link});
        }
        segments.push_back({unbroken(u' ' + entry.text), theme.muted});
    }
    return segments;
}

void addSummary(std::vector<Entry> &entries, StateClass stateClass, const ClassSummary &summary,
                bool isFinished, bool besideRecords, const Theme &theme)
{
    // What is of no class is not called by the word that the others have for what is not known.
    const bool isOfNone = stateClass == StateClass::Unknown;
    const QString name = isOfNone ? tr("unknown class") : qs(toString(stateClass));
    const QString link = QStringLiteral("class:") + qs(toString(stateClass));
    if (!isFinished && summary.outcome != Outcome::Different) {
        addEqualSoFar(entries, name, link, theme);
        return;
    }
    const StatusCounts &counts = summary.counts;
    const std::uint64_t total = counts.matched() + counts.onlyInA + counts.onlyInB;
    QString text = tr("equal");
    if (total > counts.identical + counts.notCompared)
        text = besideRecords ? tr("%1, of tensors and values").arg(differingText(counts, total))
                             : differingText(counts, total);
    else if (summary.outcome == Outcome::WithinTolerance)
        text = tr("within tolerance");
    else if (summary.outcome != Outcome::Identical)
        text = isOfNone ? tr("undecided") : tr("unknown");
    const bool pending = summary.outcome == Outcome::Undecided && counts.notCompared == total;
    addEntry(entries, summary.outcome, pending, name, link, text, theme);
}

void addEvidence(std::vector<Entry> &entries, const QString &name, const ChainLink &link,
                 bool isFinished, const Theme &theme)
{
    const QString place = link.step
        ? QStringLiteral("place:%1:%2").arg(*link.step).arg(QString::fromStdString(link.stage))
        : QString(); // no step, no place to show
    if (!isFinished && link.status != LinkStatus::Different) {
        addEqualSoFar(entries, name, place, theme);
        return;
    }
    switch (link.status) {
    case LinkStatus::Different:
        addEntry(entries, Outcome::Different, false, name, place,
                 tr("%1 of %2 recorded values differ")
                     .arg(groupedText(link.different), groupedText(link.compared)),
                 theme);
        return;
    case LinkStatus::Equal:
        addEntry(entries, Outcome::Identical, false, name, place, tr("equal"), theme);
        return;
    case LinkStatus::Undecided:
    case LinkStatus::NotRecorded: break;
    }
    addEntry(entries, Outcome::Undecided, true, name, place, tr("unknown"), theme);
}

} // namespace

Segments classRow(const RunComparison &comparison, const CheckpointComparison &shown, bool brief,
                  const Theme &theme)
{
    // These always, others only where they exist.
    constexpr StateClass Always[] = {StateClass::Weights,   StateClass::Optimizer,
                                     StateClass::Scheduler, StateClass::Counter,
                                     StateClass::Rng,       StateClass::Data};
    const std::vector<ClassLine> lines = classLines(comparison, shown);
    const bool anyRecorded = std::any_of(lines.begin(), lines.end(), [](const ClassLine &line) {
        return line.recorded.has_value();
    });
    std::vector<Entry> entries;
    if (comparison.verdict.outcome == Outcome::NotCompared && lines.empty())
        return {}; // what the files hold is not known from this
    const auto add = [&](StateClass stateClass, bool always) {
        const QString name = qs(toString(stateClass));
        const auto line = std::find_if(lines.begin(), lines.end(), [&](const ClassLine &each) {
            return each.stateClass == stateClass;
        });
        if (line == lines.end()) {
            if (always)
                entries.push_back(
                    {QStringLiteral("–"), theme.muted, {{name, {}}}, tr("not recorded"), true});
        } else if (line->isByItems) {
            addSummary(entries, stateClass, *line->items, comparison.finished,
                       anyRecorded && !brief, theme);
        } else {
            addEvidence(entries, name, *line->recorded, comparison.finished, theme);
        }
    };
    for (const StateClass stateClass : Always)
        add(stateClass, true);
    add(StateClass::Scaler, false);
    if (!anyRecorded) // gradients and activations have rows of their own in the strip
        add(StateClass::Unknown, false);
    return segmentsOf(brief ? merged(entries) : entries, theme);
}

} // namespace forkpoint
