// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/verdict_banner.h"

#include "widgets/display_text.h"
#include "widgets/theme.h"
#include "widgets/views/card.h"
#include "widgets/views/class_row.h"
#include "widgets/views/linked_sentence.h"
#include "widgets/views/shown_lists.h"
#include "widgets/views/styled_text.h"

#include <QEvent>
#include <QVBoxLayout>

#include <algorithm>
#include <cstdlib>

namespace forkpoint {

namespace {

using Segments = std::vector<StyledText::Segment>;

constexpr int NamedRecipeDifferences = 3;
constexpr int MaximumValue = 60;

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
    return value ? elidedMiddle(displayText(value->toDisplay()), MaximumValue)
                 : VerdictBanner::tr("not recorded");
}

QString itemLink(const std::string &name)
{
    return QStringLiteral("item:") + displayText(name);
}

/// False where no recipe differs.
bool addRecipe(Segments &segments, const CheckpointComparison &comparison, const Theme &theme)
{
    std::vector<const ValueRow *> rows;
    for (const ValueRow &row : comparison.values) {
        if (row.stateClass == StateClass::Recipe && row.status != ItemStatus::Identical
            && row.status != ItemStatus::NotCompared)
            rows.push_back(&row);
    }
    if (rows.empty())
        return false;
    segments.push_back({QStringLiteral("\n")});
    segments.push_back({countedText(rows.size(), "recipe difference", "recipe differences"),
                        theme.text, true, false, QStringLiteral("recipe")});
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
        segments.push_back(
            {VerdictBanner::tr(" and %1 more").arg(rows.size() - named), theme.muted});
    return true;
}

/// What is proven: the whole, what differs, or of an open question only a part.
QString strengthText(const RunComparison &comparison)
{
    const Verdict &verdict = comparison.verdict;
    const Strength strength = verdict.strength;
    if (strength == Strength::None)
        return {};
    if (verdict.outcome == Outcome::Undecided && provesEquality(strength))
        return VerdictBanner::tr("What was compared is equal, by %1").arg(qs(toString(strength)));
    if (verdict.outcome == Outcome::Different && verdict.coverage.recordsTotal > 0)
        return VerdictBanner::tr("Difference proven by %1").arg(qs(toString(strength)));
    if (strength == Strength::Xxh3Index)
        return VerdictBanner::tr("Proven by digests remembered of unchanged files (%1)")
            .arg(qs(toString(strength)));
    if (strength == Strength::Bytes)
        return VerdictBanner::tr("Proven on bytes");
    const QString name = qs(toString(strength));
    return provesEquality(strength) ? VerdictBanner::tr("Proven by %1").arg(name)
                                    : VerdictBanner::tr("Evidence: %1").arg(name);
}

/// Proof and coverage, and what leads on from there.
void addCoverage(Segments &segments, const RunComparison &comparison, bool hasRecipe,
                 std::size_t problems, bool isReport, const Theme &theme)
{
    const Coverage &coverage = comparison.verdict.coverage;
    const auto add = [&](const QString &text, const QString &link = {}) {
        if (!segments.back().text.endsWith(u'\n'))
            segments.push_back({QStringLiteral(" · "), theme.muted});
        segments.push_back({text, theme.muted, false, false, link});
    };
    if (!hasRecipe)
        segments.push_back({QStringLiteral("\n")});
    const QString strength = strengthText(comparison);
    if (!strength.isEmpty())
        add(strength);
    if (comparison.verdict.strength == Strength::Xxh3Index && !isReport)
        add(VerdictBanner::tr("verify by reading"), QStringLiteral("verify"));
    const auto addPart = [&](std::uint64_t compared, const QString &total) {
        add(VerdictBanner::tr("%1 of %2 compared").arg(groupedText(compared), total));
    };
    if (coverage.recordsTotal > 0)
        addPart(coverage.recordsCompared, countedText(coverage.recordsTotal, "record", "records"));
    const bool none = comparison.verdict.outcome == Outcome::NotCompared;
    if (coverage.tensorsTotal > 0 || (coverage.recordsTotal == 0 && !none)) {
        addPart(coverage.tensorsCompared, countedText(coverage.tensorsTotal, "tensor", "tensors"));
        add(VerdictBanner::tr("%1 of %2")
                .arg(bytesText(coverage.bytesCompared), bytesText(coverage.bytesTotal)));
    }
    if (coverage.tensorsCompared < coverage.tensorsTotal)
        add(VerdictBanner::tr("%1 not compared")
                .arg(groupedText(coverage.tensorsTotal - coverage.tensorsCompared)),
            QStringLiteral("problems"));
    if (const std::string steps = stepsLeftOut(coverage); !steps.empty())
        add(qs(steps), QStringLiteral("problems"));
    // What keeps the question open is listed there.
    if ((comparison.verdict.outcome == Outcome::Undecided || none) && problems > 0)
        add(countedText(problems, "problem", "problems"), QStringLiteral("problems"));
    if (!comparison.findings.empty())
        add(VerdictBanner::tr("why, and what else is known"), QStringLiteral("findings"));
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

void addVerdict(Segments &segments, const RunComparison &comparison, const Theme &theme)
{
    const Verdict &verdict = comparison.verdict;
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
        links.append(segments, text, {{}, theme.text});
        const auto &marks = comparison.steps;
        const bool isShown = marks.empty()
            || std::any_of(marks.begin(), marks.end(),
                           [&](const StepMark &mark) { return mark.step == first.step; });
        if (first.step && isShown) {
            segments.push_back({QStringLiteral(" ")});
            segments.push_back({VerdictBanner::tr("Show step %1").arg(*first.step), theme.muted,
                                false, false, QStringLiteral("step:%1").arg(*first.step)});
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
    segments.push_back(
        {running ? VerdictBanner::tr("… Comparing. ") : VerdictBanner::tr("? Stopped. "),
         theme.unknown, true});
    segments.push_back({VerdictBanner::tr("So far %1 of %2; not a verdict.")
                            .arg(groupedText(done), countedText(total, "tensor", "tensors")),
                        theme.text, true});
    const std::uint64_t differ = comparison.shown.counts.different;
    if (differ > 0)
        segments.push_back(
            {VerdictBanner::tr(" %1 differ already.").arg(groupedText(differ)), theme.difference});
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
        return sentence(listing->verdict.reason);
    const QString last = parts.takeLast();
    return VerdictBanner::tr("%1 are listed below.")
        .arg(parts.isEmpty()
                 ? last
                 : VerdictBanner::tr("%1 and %2").arg(parts.join(QStringLiteral(", ")), last));
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
    Segments segments{{VerdictBanner::tr("◐ Only %1 is open: ").arg(name), theme.unknown, true},
                      {VerdictBanner::tr("nothing is compared. "), theme.text, true},
                      {VerdictBanner::tr("Open %1").arg(other), theme.color(missing), true, false,
                       QStringLiteral("open:") + other},
                      {VerdictBanner::tr(" to compare them, or drop it on its chip."), theme.text}};
    if (const QString listed = listedText(context); !listed.isEmpty())
        segments.push_back({u'\n' + listed, theme.muted});
    return segments;
}

/// Which sides could not be opened and why; empty if none failed.
Segments failedSides(const ViewContext &context, const Theme &theme)
{
    Segments segments;
    for (const Side side : {Side::A, Side::B}) {
        const SideState &state = context.side(side);
        if (state.phase != SideState::Phase::Failed)
            continue;
        segments.push_back(
            {segments.empty() ? VerdictBanner::tr("✖ Not compared: ") : QStringLiteral("\n"),
             theme.unknown, true});
        segments.push_back({VerdictBanner::tr("%1 could not be opened: %2")
                                .arg(QChar(side == Side::A ? u'A' : u'B'))
                                .arg(state.error),
                            theme.text, true});
        segments.push_back({QStringLiteral(" ")});
        segments.push_back({VerdictBanner::tr("Open another"), theme.color(side), true, false,
                            QStringLiteral("open:") + (side == Side::A ? u'A' : u'B')});
        if (!state.isUnknown)
            continue;
        segments.push_back({VerdictBanner::tr(" or "), theme.text});
        segments.push_back({VerdictBanner::tr("read it by a mapping sheet"), theme.text, false,
                            false, QStringLiteral("mapping:") + (side == Side::A ? u'A' : u'B')});
    }
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
        return {
            {VerdictBanner::tr("? Cancelled before anything was compared. "), theme.unknown, true},
            {VerdictBanner::tr("Read both again (F5)"), theme.text, false, false,
             QStringLiteral("reload")}};
    if (Segments segments = failedSides(context, theme); !segments.empty())
        return segments;
    if (Segments segments = onlySide(context, theme); !segments.empty())
        return segments;
    if (job.phase == JobState::Phase::Failed)
        return {{VerdictBanner::tr("? Not compared. ") + sentence(job.error.toStdString()),
                 theme.unknown, true}};
    return {{both ? VerdictBanner::tr("… Opening both sides; nothing is compared yet.")
                  : VerdictBanner::tr("Open two runs or checkpoints to compare them."),
             theme.muted}};
}

} // namespace

VerdictBanner::VerdictBanner(ViewContext *context, QWidget *parent)
    : QWidget(parent),
      m_context(context),
      m_sentence(new StyledText(this)),
      m_classes(new StyledText(this))
{
    setObjectName(QStringLiteral("verdictBanner"));
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(16, 8, 12, 8);
    layout->setSpacing(6);
    layout->addWidget(m_sentence);
    layout->addWidget(m_classes);
    QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Minimum);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
    connect(m_sentence, &StyledText::linkActivated, this, &VerdictBanner::follow);
    connect(m_classes, &StyledText::linkActivated, this, &VerdictBanner::follow);
    connect(context, &ViewContext::changedFilesChanged, this, [this] { refresh(); });
    connect(&context->notes(), &PairNotes::changed, this, [this] { refresh(); });
    connect(context, &ViewContext::comparisonChanged, this, [this] { refresh(); });
    connect(context, &ViewContext::stepComparisonChanged, this, [this] { refresh(); });
    connect(context, &ViewContext::jobChanged, this, [this] { refresh(); });
    connect(context, &ViewContext::sideChanged, this, [this] { refresh(); });
    refresh();
}

QString VerdictBanner::plainText() const
{
    QString text = m_sentence->plainText() + u'\n' + m_classes->plainText();
    return text.replace(QChar(QChar::Nbsp), u' ');
}

void VerdictBanner::follow(const QString &link)
{
    if (link == QLatin1String("recipe"))
        Q_EMIT recipeRequested();
    else if (link.startsWith(QLatin1String("step:")))
        m_context->selectStep(Step(link.mid(5).toLongLong()));
    else if (link.startsWith(QLatin1String("item:")))
        Q_EMIT itemRequested(link.mid(5));
    else if (link.startsWith(QLatin1String("metric:")))
        Q_EMIT metricRequested(link.mid(7));
    else if (link == QLatin1String("findings"))
        Q_EMIT findingsRequested();
    else if (link == QLatin1String("problems"))
        Q_EMIT problemsRequested();
    else if (link == QLatin1String("verify"))
        m_context->verifyByReading();
    else if (link == QLatin1String("reload"))
        m_context->reload();
    else if (link.startsWith(QLatin1String("open:")))
        Q_EMIT openRequested(link.endsWith(u'A') ? Side::A : Side::B);
    else if (link.startsWith(QLatin1String("mapping:")))
        Q_EMIT mappingRequested(link.endsWith(u'A') ? Side::A : Side::B);
    else if (link.startsWith(QLatin1String("class:"))) {
        if (const auto stateClass = stateClassByName(link.mid(6).toStdString()))
            Q_EMIT classRequested(*stateClass);
    } else if (link.startsWith(QLatin1String("place:"))) {
        const QStringList parts = link.split(u':');
        Q_EMIT placeRequested(parts[1].toLongLong(), parts[2].toStdString());
    }
}

void VerdictBanner::refresh()
{
    const Theme theme = Theme::of(palette());
    const auto comparison = m_context->comparison();
    Segments segments, classes;
    m_stripe = theme.unknown;
    if (!comparison) {
        segments = withoutComparison(*m_context, theme);
        if (segments.front().color == theme.muted)
            m_stripe = theme.border;
    } else {
        if (comparison->finished)
            addVerdict(segments, *comparison, theme);
        else
            addProgress(segments, *comparison, m_context->job(), theme);
        const auto step = m_context->stepComparison();
        const CheckpointComparison &shown =
            comparison->finished || !step ? comparison->shown : *step;
        const bool hasRecipe = addRecipe(segments, shown, theme);
        if (comparison->finished) {
            addCoverage(segments, *comparison, hasRecipe, shownProblems(*m_context).size(),
                        m_context->isReport(), theme);
            m_stripe = theme.color(comparison->verdict.outcome);
            const bool none = comparison->verdict.outcome == Outcome::NotCompared;
            const QString listed = none ? listedText(*m_context) : QString();
            if (!listed.isEmpty() && !m_context->isReport())
                segments.push_back({u'\n' + listed, theme.muted});
        }
        classes = classRow(*comparison, shown, theme);
    }
    if (m_context->isReport())
        segments.push_back({tr("\nRead from the report %1: what it does not keep, such as "
                               "elements, cannot be shown.")
                                .arg(displayText(m_context->reportFile())),
                            theme.unknown});
    const QString changed = m_context->changedFiles();
    if (!changed.isEmpty()) {
        segments.push_back(
            {tr("\n▲ Files changed since they were read: %1. ").arg(changed), theme.unknown, true});
        segments.push_back(
            {tr("Reload (F5)"), theme.unknown, true, false, QStringLiteral("reload")});
    }
    m_sentence->setSegments(std::move(segments));
    m_classes->setVisible(!classes.empty());
    m_classes->setSegments(std::move(classes));
    update();
}

void VerdictBanner::paintEvent(QPaintEvent *)
{
    paintCard(this, m_stripe);
}

void VerdictBanner::changeEvent(QEvent *event)
{
    if (event->type() == QEvent::PaletteChange)
        refresh();
    QWidget::changeEvent(event);
}

} // namespace forkpoint
