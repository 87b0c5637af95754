// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/verdict_segments.h"

#include "model/compare/telling_findings.h"
#include "widgets/display_text.h"
#include "widgets/views/class_row.h"
#include "widgets/views/linked_sentence.h"
#include "widgets/views/shown_lists.h"

#include <QCoreApplication>

#include <algorithm>
#include <cstdlib>

namespace forkpoint {

namespace {

using Segments = VerdictSegments;

QString tr(const char *text)
{
    return QCoreApplication::translate("forkpoint::VerdictBanner", text);
}

constexpr int NamedRecipeDifferences = 3;
constexpr std::size_t NamedFindings = 2;
constexpr int MaximumValue = 60;
constexpr int MaximumSettings = 200; ///< characters

QString sentence(const std::string &text)
{
    QString result = displayText(text);
    if (result.isEmpty())
        return result;
    result[0] = result[0].toUpper();
    if (!result.endsWith(u'.'))
        result += u'.';
    return result;
}

QString shortValue(const std::optional<Value> &value)
{
    return value ? elidedMiddle(displayText(value->toDisplay()), MaximumValue) : tr("not recorded");
}

QString itemLink(const std::string &name)
{
    return QStringLiteral("item:") + displayText(name);
}

/// False where no recipe differs.
bool addRecipe(Segments &segments, const CheckpointComparison &comparison, Detail detail,
               const Theme &theme)
{
    std::vector<const ValueRow *> rows;
    for (const ValueRow &row : comparison.values) {
        if (row.stateClass == StateClass::Recipe && row.status != ItemStatus::Identical
            && row.status != ItemStatus::NotCompared)
            rows.push_back(&row);
    }
    if (rows.empty())
        return false;
    segments.push_back({detail == Detail::Brief ? QStringLiteral(" · ") : QStringLiteral("\n")});
    segments.push_back({countedText(rows.size(), "recipe difference", "recipe differences"),
                        theme.text, true, false, QStringLiteral("recipe")});
    if (detail == Detail::Brief)
        return true;
    const std::size_t named = std::min<std::size_t>(rows.size(), NamedRecipeDifferences);
    for (std::size_t i = 0; i < named; ++i) {
        segments.push_back({i == 0 ? QStringLiteral(": ") : QStringLiteral(", ")});
        segments.push_back(
            {displayText(rows[i]->name), theme.text, true, false, itemLink(rows[i]->name)});
        segments.push_back({QStringLiteral(" ")});
        segments.push_back({shortValue(rows[i]->valueA), theme.a, true, true});
        segments.push_back({QStringLiteral(" → "), theme.muted});
        segments.push_back({shortValue(rows[i]->valueB), theme.b, true, true});
    }
    if (named < rows.size())
        segments.push_back({tr(" and %1 more").arg(rows.size() - named), theme.muted});
    return true;
}

/// What traces recorded of their processes and no checkpoint has among its values; false where there is
/// nothing of it.
bool addProcessSettings(Segments &segments, const RunComparison &comparison, Detail detail,
                        const Theme &theme)
{
    const auto finding =
        std::find_if(comparison.findings.begin(), comparison.findings.end(),
                     [](const Finding &each) { return each.id == "recipe-differs"; });
    if (finding == comparison.findings.end())
        return false;
    const QString text = displayText(finding->text), count = text.section(u':', 0, 0);
    const bool isBrief = detail == Detail::Brief;
    segments.push_back({isBrief ? QStringLiteral(" · ") : QStringLiteral("\n")});
    segments.push_back({count, theme.text, true, false, QStringLiteral("findings")});
    if (!isBrief)
        segments.push_back({elidedMiddle(text.mid(count.size()), MaximumSettings), theme.text});
    return true;
}

/// What kind of difference it is, where an exact test tells: of a brief banner the first alone.
void addTelling(Segments &segments, const RunComparison &comparison, Detail detail,
                const Theme &theme)
{
    const bool isBrief = detail == Detail::Brief;
    for (const Finding *finding :
         tellingFindings(comparison.findings, isBrief ? 1 : NamedFindings)) {
        segments.push_back({isBrief ? QStringLiteral(" · ") : QStringLiteral("\n")});
        QString text = elidedMiddle(sentence(finding->text), MaximumSettings);
        if (isBrief)
            text.chop(1); // what follows is set off by a point of its own
        segments.push_back({text, theme.text, false, false, QStringLiteral("findings")});
    }
}

/// What is proven: the whole, what differs, or of an open question only a part.
QString strengthText(const RunComparison &comparison)
{
    const Verdict &verdict = comparison.verdict;
    const Strength strength = verdict.strength;
    if (strength == Strength::None)
        return {};
    if (verdict.outcome == Outcome::Undecided && provesEquality(strength))
        return tr("What was compared is equal, by %1").arg(qs(toString(strength)));
    if (verdict.outcome == Outcome::Different && verdict.coverage.recordsTotal > 0)
        return tr("Difference proven by %1").arg(qs(toString(strength)));
    if (strength == Strength::Xxh3Index)
        return tr("Proven by digests remembered of unchanged files (%1)")
            .arg(qs(toString(strength)));
    if (strength == Strength::Bytes)
        return tr("Proven on bytes");
    const QString name = qs(toString(strength));
    return provesEquality(strength) ? tr("Proven by %1").arg(name) : tr("Evidence: %1").arg(name);
}

/// Tensors without a partner are no problem of reading. Of a series only the step that is shown tells
/// them apart.
template <class Add>
void addNotCompared(const RunComparison &comparison, const Add &add)
{
    const Coverage &coverage = comparison.verdict.coverage;
    if (coverage.tensorsCompared >= coverage.tensorsTotal)
        return;
    std::uint64_t left = coverage.tensorsTotal - coverage.tensorsCompared;
    const StatusCounts &counts = comparison.shown.counts;
    const bool isSeries = !comparison.steps.empty();
    if (isSeries && counts.onlyInA + counts.onlyInB > 0) {
        add(tr("%1 not compared or on one side only").arg(groupedText(left)),
            QStringLiteral("problems"));
        return;
    }
    for (const auto &[side, count] :
         {std::pair{u'A', counts.onlyInA}, std::pair{u'B', counts.onlyInB}}) {
        const std::uint64_t alone = std::min<std::uint64_t>(count, left);
        if (alone > 0)
            add(tr("%1 only in %2").arg(groupedText(alone)).arg(QChar(side)), {});
        left -= alone;
    }
    if (left > 0)
        add(tr("%1 not compared").arg(groupedText(left)), QStringLiteral("problems"));
}

/// "2 problems, first B: model-00002-of-00003.safetensors: cannot be opened": the gravest is the first.
QString problemsText(const std::vector<Remark> &problems, Detail detail)
{
    const QString count = countedText(problems.size(), "problem", "problems");
    if (detail == Detail::Brief)
        return count;
    const auto gravest = std::max_element(
        problems.begin(), problems.end(),
        [](const Remark &left, const Remark &right) { return left.severity < right.severity; });
    QStringList cells = gravest->cells;
    cells.removeAll(QString());
    const QString text =
        elidedMiddle(cells.join(QStringLiteral(": ")), MaximumSettings).simplified();
    return (problems.size() == 1 ? tr("%1: %2") : tr("%1, first %2")).arg(count, text);
}

/// Proof and coverage, and what leads on from there.
void addCoverage(Segments &segments, const RunComparison &comparison, bool hasRecipe,
                 const std::vector<Remark> &problems, bool isReport, Detail detail,
                 const Theme &theme)
{
    const Coverage &coverage = comparison.verdict.coverage;
    const auto add = [&](const QString &text, const QString &link = {}) {
        if (!segments.back().text.endsWith(u'\n'))
            segments.push_back({QStringLiteral(" · "), theme.muted});
        segments.push_back({text, theme.muted, false, false, link});
    };
    if (!hasRecipe && detail == Detail::Full)
        segments.push_back({QStringLiteral("\n")});
    const QString strength = strengthText(comparison);
    if (!strength.isEmpty())
        add(strength);
    if (comparison.verdict.strength == Strength::Xxh3Index && !isReport)
        add(tr("verify by reading"), QStringLiteral("verify"));
    const auto addPart = [&](std::uint64_t compared, const QString &total) {
        add(tr("%1 of %2 compared").arg(groupedText(compared), total));
    };
    if (coverage.recordsTotal > 0)
        addPart(coverage.recordsCompared, countedText(coverage.recordsTotal, "record", "records"));
    const bool none = comparison.verdict.outcome == Outcome::NotCompared;
    if (coverage.metricsTotal > 0)
        addPart(coverage.metricsCompared, countedText(coverage.metricsTotal, "metric", "metrics"));
    const bool isOther = coverage.recordsTotal > 0 || coverage.metricsTotal > 0;
    if (coverage.tensorsTotal > 0 || (!isOther && !none)) {
        addPart(coverage.tensorsCompared, countedText(coverage.tensorsTotal, "tensor", "tensors"));
        add(tr("%1 of %2").arg(bytesText(coverage.bytesCompared), bytesText(coverage.bytesTotal)));
    }
    addNotCompared(comparison, add);
    if (const std::string steps = stepsLeftOut(coverage); !steps.empty())
        add(qs(steps), QStringLiteral("problems"));
    // What keeps the question open is listed there.
    if ((comparison.verdict.outcome == Outcome::Undecided || none) && !problems.empty())
        add(problemsText(problems, detail), QStringLiteral("problems"));
    if (!comparison.findings.empty())
        add(tr("why, and what else is known"), QStringLiteral("findings"));
    if (segments.back().text == QLatin1String("\n"))
        segments.pop_back(); // nothing to say
}

/// Where the bracket opens with which a sentence ends, others within it or not; -1: there is none.
qsizetype lastBracket(const QString &sentence)
{
    int depth = 0;
    for (qsizetype i = sentence.size() - 2; sentence.endsWith(QLatin1String(").")) && i >= 0; --i) {
        depth += sentence[i] == u')' ? 1 : sentence[i] == u'(' ? -1 : 0;
        if (depth == 0)
            return i;
    }
    return -1;
}

/// Up to where the first sentence of several ends.
QString firstSentence(const QString &text)
{
    const qsizetype end = text.indexOf(QLatin1String(". "));
    return end < 0 ? text : text.left(end + 1);
}

void addVerdict(Segments &segments, const RunComparison &comparison, Detail detail,
                const Theme &theme)
{
    const Verdict &verdict = comparison.verdict;
    const Coverage &coverage = verdict.coverage;
    // The sentence ends with its proof in brackets: that is the last line of the banner.
    const QString whole = sentence(verdict.sentence);
    const qsizetype proof = lastBracket(whole);
    QString statement = proof > 0 ? QString(whole.left(proof).trimmed() + u'.') : whole;
    if (!statement.startsWith(describe(verdict.outcome)))
        statement = describe(verdict.outcome) + QStringLiteral(": ") + statement;
    segments.push_back({sign(verdict.outcome) + u' ', theme.color(verdict.outcome), true});
    const LinkedSentence links(comparison, comparison.shown);
    links.append(segments, statement, {{}, theme.text, true});
    const QString reason = sentence(verdict.reason);
    if (!reason.isEmpty() && !displayText(verdict.sentence).contains(displayText(verdict.reason)))
        links.append(segments, u' ' + reason, {{}, theme.text});
    if (comparison.firstDivergence) {
        const FirstDivergence &first = *comparison.firstDivergence;
        segments.push_back({QStringLiteral(" ")});
        QString text = sentence(first.sentence);
        if (first.sentence.starts_with(first.name)) // a name keeps its case
            text.replace(0, 1, displayText(first.sentence).left(1));
        links.append(segments, detail == Detail::Brief ? firstSentence(text) : text,
                     {{}, theme.text});
        const auto &marks = comparison.steps;
        const bool isShown = marks.empty()
            || std::any_of(marks.begin(), marks.end(),
                           [&](const StepMark &mark) { return mark.step == first.step; });
        // Of metrics alone the step is a row of the metric.
        const bool isOfMetric = coverage.metricsTotal > 0;
        if (first.step && (isShown || isOfMetric)) {
            segments.push_back({QStringLiteral(" ")});
            segments.push_back({tr("Show step %1").arg(*first.step), theme.muted, false, false,
                                isOfMetric ? QStringLiteral("metric:") + displayText(first.name)
                                           : QStringLiteral("step:%1").arg(*first.step)});
        }
    }
}

void addProgress(Segments &segments, const RunComparison &comparison, const JobState &job,
                 const Theme &theme)
{
    const bool running = job.phase == JobState::Phase::Running;
    const Coverage &coverage = comparison.verdict.coverage;
    std::uint64_t done = coverage.tensorsCompared, total = coverage.tensorsTotal;
    if (running && job.progress.itemsTotal > 0) {
        done = job.progress.itemsDone;
        total = job.progress.itemsTotal;
    }
    segments.push_back({running ? tr("… Comparing. ") : tr("? Stopped. "), theme.unknown, true});
    segments.push_back({tr("So far %1 of %2; not a verdict.")
                            .arg(groupedText(done), countedText(total, "tensor", "tensors")),
                        theme.text, true});
    const std::uint64_t differ = comparison.shown.counts.different;
    if (differ > 0)
        segments.push_back({tr(" %1 differ already.").arg(groupedText(differ)), theme.difference});
}

/// "118 tensors, 119 values and 260 records are listed below."; empty while nothing is.
QString listedText(const ViewContext &context)
{
    const auto listing = context.stepComparison();
    if (!listing)
        return {};
    QStringList parts;
    if (!listing->tensors.empty() || !listing->values.empty())
        parts = {countedText(listing->tensors.size(), "tensor", "tensors"),
                 countedText(listing->values.size(), "value", "values")};
    std::uint64_t records = 0;
    for (const Side side : {Side::A, Side::B}) {
        const auto trace = context.side(side).trace;
        records += trace ? trace->records : 0;
    }
    if (records > 0)
        parts += countedText(records, "record", "records");
    if (parts.isEmpty())
        if (const std::size_t metrics = std::max(context.side(Side::A).metrics.size(),
                                                 context.side(Side::B).metrics.size()))
            parts += countedText(metrics, "metric", "metrics");
    if (parts.isEmpty()) // of two sides the verdict itself says why
        return isOneSideAlone(context) ? sentence(listing->verdict.reason) : QString();
    const QString last = parts.takeLast();
    return tr("%1 are listed below.")
        .arg(parts.isEmpty() ? last : tr("%1 and %2").arg(parts.join(QStringLiteral(", ")), last));
}

/// What the side that is alone holds, and what it waits for; empty unless one is.
Segments onlySide(const ViewContext &context, const Theme &theme)
{
    const auto isOpen = [&](Side side) {
        return context.side(side).phase == SideState::Phase::Open;
    };
    if (!isOneSideAlone(context))
        return {};
    const Side open = isOpen(Side::A) ? Side::A : Side::B;
    const Side missing = open == Side::A ? Side::B : Side::A;
    const QString name = QChar(open == Side::A ? u'A' : u'B');
    const QString other = QChar(missing == Side::A ? u'A' : u'B');
    if (context.side(missing).phase == SideState::Phase::Opening)
        return {};
    Segments segments{{tr("◐ Only %1 is open: ").arg(name), theme.unknown, true},
                      {tr("nothing is compared. "), theme.text, true},
                      {tr("Open %1").arg(other), theme.color(missing), true, false,
                       QStringLiteral("open:") + other},
                      {tr(" to compare them, or drop it on its chip."), theme.text}};
    if (const QString listed = listedText(context); !listed.isEmpty())
        segments.push_back({u'\n' + listed, theme.muted});
    return segments;
}

/// Which sides could not be opened and why; empty if none failed.
Segments failedSides(const ViewContext &context, const Theme &theme)
{
    Segments segments;
    bool isAnyUnknown = false;
    for (const Side side : {Side::A, Side::B}) {
        const SideState &state = context.side(side);
        if (state.phase != SideState::Phase::Failed)
            continue;
        segments.push_back({segments.empty() ? tr("✖ Not compared: ") : QStringLiteral("\n"),
                            theme.unknown, true});
        segments.push_back({tr("%1 could not be opened: %2")
                                .arg(QChar(side == Side::A ? u'A' : u'B'))
                                .arg(state.error),
                            theme.text, true});
        segments.push_back({QStringLiteral(" ")});
        segments.push_back({tr("Open another"), theme.color(side), true, false,
                            QStringLiteral("open:") + (side == Side::A ? u'A' : u'B')});
        if (!state.isUnknown)
            continue;
        segments.push_back({tr(" or "), theme.text});
        segments.push_back({tr("read it by a mapping sheet"), theme.text, false, false,
                            QStringLiteral("mapping:") + (side == Side::A ? u'A' : u'B')});
        isAnyUnknown = true;
    }
    if (isAnyUnknown)
        segments.push_back({tr("\nFolders of ranks, traces and metrics are known by their contents "
                               "too; forkpoint-cli formats lists all that opens."),
                            theme.muted});
    const QString listed = isOneSideAlone(context) ? listedText(context) : QString();
    if (!segments.empty() && !listed.isEmpty())
        segments.push_back({u'\n' + listed, theme.muted});
    return segments;
}

/// While there is no comparison: why.
Segments withoutComparison(const ViewContext &context, const Theme &theme)
{
    const JobState job = context.job();
    const bool both = context.side(Side::A).phase != SideState::Phase::Empty
        && context.side(Side::B).phase != SideState::Phase::Empty;
    // A side whose opening was cancelled has failed for no other reason.
    if (job.phase == JobState::Phase::Cancelled)
        return {{tr("? Cancelled before anything was compared. "), theme.unknown, true},
                {tr("Read both again (F5)"), theme.text, false, false, QStringLiteral("reload")}};
    if (Segments segments = failedSides(context, theme); !segments.empty())
        return segments;
    if (Segments segments = onlySide(context, theme); !segments.empty())
        return segments;
    if (job.phase == JobState::Phase::Failed)
        return {{tr("? Not compared. ") + sentence(job.error.toStdString()), theme.unknown, true}};
    return {{both ? tr("… Opening both sides; nothing is compared yet.")
                  : tr("Open two runs or checkpoints to compare them."),
             theme.muted}};
}

/// What the comparison says, finished or not.
void addComparison(Segments &segments, const ViewContext &context, const RunComparison &comparison,
                   const CheckpointComparison &shown, Detail detail, const Theme &theme)
{
    if (comparison.finished) {
        addVerdict(segments, comparison, detail, theme);
        addTelling(segments, comparison, detail, theme);
    } else {
        addProgress(segments, comparison, context.job(), theme);
    }
    const bool hasRecipe = addRecipe(segments, shown, detail, theme)
        || addProcessSettings(segments, comparison, detail, theme);
    if (!comparison.finished)
        return;
    addCoverage(segments, comparison, hasRecipe, shownProblems(context), context.isReport(), detail,
                theme);
    const bool none = comparison.verdict.outcome == Outcome::NotCompared;
    const QString listed = none ? listedText(context) : QString();
    if (!listed.isEmpty() && !context.isReport())
        segments.push_back({u'\n' + listed, theme.muted});
}

void addNotices(Segments &segments, const ViewContext &context, const Theme &theme)
{
    const auto comparison = context.comparison();
    const bool hasRecords = comparison && comparison->verdict.coverage.recordsTotal > 0;
    if (context.isReport())
        segments.push_back({(hasRecords ? tr("\nRead from the report %1: single records, ranks by "
                                             "step, and elements, which it does not keep, cannot "
                                             "be shown.")
                                        : tr("\nRead from the report %1: what it does not keep, "
                                             "such as elements, cannot be shown."))
                                .arg(displayText(context.reportFile())),
                            theme.unknown});
    const QString changed = context.changedFiles();
    if (changed.isEmpty())
        return;
    segments.push_back(
        {tr("\n▲ Files changed since they were read: %1. ").arg(changed), theme.unknown, true});
    segments.push_back({tr("Reload (F5)"), theme.unknown, true, false, QStringLiteral("reload")});
}

} // namespace

VerdictText verdictText(const ViewContext &context, Detail detail, const Theme &theme)
{
    VerdictText text;
    text.stripe = theme.unknown;
    const auto comparison = context.comparison();
    if (comparison) {
        const auto step = context.stepComparison();
        const CheckpointComparison &shown =
            comparison->finished || !step ? comparison->shown : *step;
        addComparison(text.sentence, context, *comparison, shown, detail, theme);
        text.classes = classRow(*comparison, shown, detail == Detail::Brief, theme);
        if (comparison->finished)
            text.stripe = theme.color(comparison->verdict.outcome);
    } else {
        text.sentence = withoutComparison(context, theme);
        if (text.sentence.front().color == theme.muted)
            text.stripe = theme.border;
    }
    addNotices(text.sentence, context, theme);
    return text;
}

} // namespace forkpoint
