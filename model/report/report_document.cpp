// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/report/report_document.h"

#include "model/compare/telling_findings.h"
#include "model/format.h"
#include "model/text/utf8.h"

#include <algorithm>

namespace forkpoint {

namespace {

constexpr std::size_t NamedFindings = 3; ///< of where the runs part

std::string lastPart(std::string_view path)
{
    while (path.size() > 1 && path.ends_with('/'))
        path.remove_suffix(1);
    const auto slash = path.rfind('/');
    return std::string(slash == std::string_view::npos || slash + 1 == path.size()
                           ? path
                           : path.substr(slash + 1));
}

std::string_view outcomeWords(Outcome outcome)
{
    switch (outcome) {
    case Outcome::Identical: return "Identical";
    case Outcome::WithinTolerance: return "Within tolerance";
    case Outcome::Different: return "Different";
    case Outcome::Undecided: return "Undecided";
    case Outcome::NotCompared: return "Not compared";
    }
    return "Not compared";
}

std::string evidenceWords(Strength strength)
{
    switch (strength) {
    case Strength::Bytes: return "all bytes of what was compared were read, on both sides";
    case Strength::Sha256: return "SHA-256 that the files record, over all bytes";
    case Strength::Xxh3: return "XXH3-128 fingerprints of all bytes; not against forgery";
    case Strength::Xxh3Index:
        return "XXH3-128 fingerprints of all bytes, from the index; not against forgery";
    case Strength::None: return "none: nothing was compared";
    case Strength::Printed:
        return "numbers as they were printed: they can show a difference, and are too weak to say "
               "equal";
    default: return std::string(toString(strength)) + ": too weak to say equal";
    }
}

// --- what was compared

/// Of two logs: "4 metrics, 48 pairs of numbers at common steps", as the verdict counts them.
std::string loggedText(const std::vector<MetricComparison> &metrics)
{
    if (metrics.empty())
        return "no tensors";
    std::uint64_t pairs = 0, deciding = 0;
    for (const MetricComparison &metric : metrics) {
        if (metric.context)
            continue;
        ++deciding;
        pairs += metric.commonSteps;
    }
    const std::uint64_t others = metrics.size() - deciding;
    return counted(deciding, "metric", "metrics") + ", "
        + counted(pairs, "pair of numbers", "pairs of numbers") + " at common steps"
        + (others == 0 ? std::string()
                       : "; besides " + grouped(others)
                   + " of the machine, such as times, which decide nothing");
}

/// Of what is open: the first of the gravest things that the files say; all are listed further down.
std::string gravestProblem(const RunComparison &comparison)
{
    const Outcome outcome = comparison.verdict.outcome;
    const auto gravest =
        std::max_element(comparison.diagnostics.begin(), comparison.diagnostics.end(),
                         [](const Diagnostic &left, const Diagnostic &right) {
                             return left.severity < right.severity;
                         });
    const bool isOpen = outcome == Outcome::Undecided || outcome == Outcome::NotCompared;
    if (!isOpen || gravest == comparison.diagnostics.end() || gravest->severity == Severity::Note)
        return {};
    std::string text = gravest->file;
    for (const std::string &part : {gravest->place, gravest->text}) {
        if (!part.empty())
            text += (text.empty() ? "" : ": ") + part;
    }
    return text;
}

ReportSection comparedSection(const RunComparison &comparison, const ReportOptions &options)
{
    ReportFacts facts;
    const auto add = [&](std::string name, ReportCell cell) {
        facts.facts.emplace_back(std::move(name), std::move(cell));
    };
    add("A", verbatim(comparison.pathA));
    if (!comparison.formatA.empty())
        add("A is", {comparison.formatA, {}, false, {}});
    add("B", verbatim(comparison.pathB));
    if (!comparison.formatB.empty())
        add("B is", {comparison.formatB, {}, false, {}});
    const Verdict &verdict = comparison.verdict;
    const Coverage &coverage = verdict.coverage;
    const std::string steps = stepsLeftOut(coverage);
    if (verdict.outcome != Outcome::NotCompared) {
        // Of two traces there may be no tensors to count: their records are what was compared.
        std::string compared = grouped(coverage.tensorsCompared) + " of "
            + counted(coverage.tensorsTotal, "tensor", "tensors") + ", "
            + byteSize(coverage.bytesCompared) + " of " + byteSize(coverage.bytesTotal)
            + " of both sides together";
        if (coverage.tensorsTotal == 0)
            compared = coverage.recordsTotal > 0 ? std::string() : loggedText(comparison.metrics);
        if (!steps.empty())
            compared += (compared.empty() ? "" : "; ") + steps;
        if (!compared.empty())
            add("Compared", {compared, {}, false, {}});
        if (coverage.recordsTotal > 0) {
            add("Records of traces",
                {grouped(coverage.recordsCompared) + " of " + grouped(coverage.recordsTotal),
                 {},
                 false,
                 {}});
        }
        const bool ofRecords = verdict.outcome == Outcome::Different && coverage.recordsTotal > 0;
        add(ofRecords ? "Evidence of the difference" : "Evidence",
            {ofRecords && verdict.strength == Strength::Bytes
                 ? "bytes or whole values of both sides"
                 : evidenceWords(verdict.strength),
             {},
             false,
             {}});
    }
    if (const std::string problem = gravestProblem(comparison); !problem.empty())
        add("What stood in the way", verbatim(problem));
    for (const auto &[name, value] : options.environment)
        add(name, verbatim(value));
    ReportSection section{"compared", "What was compared", {}};
    section.blocks.emplace_back(std::move(facts));
    for (const std::string &limit : options.request.limits)
        section.blocks.emplace_back(ReportText{"By request: " + limit + ".", {}});
    return section;
}

// --- where they part

ReportCell provenCell(const FirstDivergence &divergence)
{
    const auto &step = divergence.provenEqualStep;
    if (!divergence.provenEqualBefore) {
        const bool some = step || !divergence.provenEqualName.empty();
        return {some ? "not all of what came before"
                     : "nothing: no earlier step has the state of both",
                ReportTone::Unknown,
                false,
                {}};
    }
    std::string text = "everything up to ";
    if (!step)
        text += divergence.provenEqualName;
    else if (step == divergence.step) // the step in which they part is not equal as a whole
        text += divergence.provenEqualName + " in step " + std::to_string(*step);
    else
        text += "step " + std::to_string(*step);
    return {text + (divergence.rank ? ", on this rank" : ""), ReportTone::Equal, false, {}};
}

/// Which steps are equal only as far as was asked for: such a step carries that as its reason.
std::string withinText(const std::vector<StepMark> &steps)
{
    const auto isWithin = [](const StepMark &mark) {
        return mark.status == StepStatus::Identical && !mark.inferred && !mark.reason.empty();
    };
    const auto first = std::find_if(steps.begin(), steps.end(), isWithin);
    if (first == steps.end())
        return {};
    const auto count = std::uint64_t(std::count_if(steps.begin(), steps.end(), isWithin));
    return counted(count, "step", "steps") + " of those shown as equal "
        + (count == 1 ? "differs" : "differ") + " within the tolerance, first step "
        + std::to_string(first->step) + ".";
}

ReportSection divergenceSection(const RunComparison &comparison)
{
    ReportSection section{"divergence", "Where the runs part", {}};
    if (const auto &divergence = comparison.firstDivergence) {
        ReportFacts facts; // the sentence stands at the top of the report
        if (divergence->step)
            facts.facts.emplace_back("Step",
                                     ReportCell{std::to_string(*divergence->step), {}, false, {}});
        facts.facts.emplace_back("First item", verbatim(divergence->name));
        facts.facts.emplace_back("Stage", ReportCell{divergence->stage, {}, false, {}});
        facts.facts.emplace_back("Proven equal before it", provenCell(*divergence));
        for (const Finding *finding : tellingFindings(comparison.findings, NamedFindings))
            facts.facts.emplace_back("Kind of difference",
                                     ReportCell{finding->text, {}, false, {}});
        section.blocks.emplace_back(std::move(facts));
    } else if (comparison.verdict.outcome == Outcome::NotCompared) {
        section.blocks.emplace_back(
            ReportText{"Not known: nothing was compared.", ReportTone::Unknown});
    } else {
        const bool within = comparison.verdict.outcome == Outcome::WithinTolerance;
        section.blocks.emplace_back(
            ReportText{within ? "No item that decides differs by more than was asked for."
                              : "No item that decides was seen to differ.",
                       ReportTone::Plain});
    }
    if (!comparison.steps.empty())
        section.blocks.emplace_back(StepsPlot{comparison.steps, comparison.shownStep});
    if (const std::string text = withinText(comparison.steps); !text.empty())
        section.blocks.emplace_back(ReportText{text, ReportTone::Plain});
    return section;
}

} // namespace

std::string_view signOf(ReportTone tone)
{
    switch (tone) {
    case ReportTone::Plain: return "";
    case ReportTone::Equal: return "=";
    case ReportTone::Different: return "\u2260";
    case ReportTone::Unknown: return "?";
    case ReportTone::OneSided: return "\u25d0";
    }
    return "";
}

ReportTone toneOf(ItemStatus status)
{
    switch (status) {
    case ItemStatus::Identical: return ReportTone::Equal;
    case ItemStatus::Different: return ReportTone::Different;
    case ItemStatus::OnlyInA:
    case ItemStatus::OnlyInB: return ReportTone::OneSided;
    case ItemStatus::NotCompared: break;
    }
    return ReportTone::Unknown;
}

ReportTone toneOf(Outcome outcome)
{
    switch (outcome) {
    case Outcome::Identical:
    case Outcome::WithinTolerance: return ReportTone::Equal;
    case Outcome::Different: return ReportTone::Different;
    case Outcome::Undecided:
    case Outcome::NotCompared: break;
    }
    return ReportTone::Unknown;
}

ReportTone toneOf(StepStatus status)
{
    switch (status) {
    case StepStatus::Identical: return ReportTone::Equal;
    case StepStatus::Different: return ReportTone::Different;
    case StepStatus::OnlyInA:
    case StepStatus::OnlyInB: return ReportTone::OneSided;
    case StepStatus::Undecided:
    case StepStatus::Pending: break;
    }
    return ReportTone::Unknown;
}

ReportCell verbatim(std::string_view text, std::size_t most)
{
    ReportCell cell{std::string(text), {}, true, {}};
    if (text.size() <= most)
        return cell;
    // A cut inside a character would leave bytes that are not text.
    std::size_t end = 0;
    while (end < most) {
        const std::size_t length = std::max<std::size_t>(1, utf8Length(text.substr(end)));
        if (end + length > most)
            break;
        end += length;
    }
    cell.text = std::string(text.substr(0, end)) + " \u2026 (the first of "
        + counted(text.size(), "byte", "bytes") + ")";
    return cell;
}

ReportCell plainCell(std::string text, ReportTone tone)
{
    return {std::move(text), tone, false, {}};
}

ReportCell numberCell(std::uint64_t number)
{
    return {grouped(number), {}, false, {}};
}

std::string wordsOf(std::string_view token)
{
    if (token == "only-in-a" || token == "only-in-b")
        return token.back() == 'a' ? "only in A" : "only in B";
    std::string words(token);
    std::replace(words.begin(), words.end(), '-', ' ');
    return words;
}

bool ReportDocument::isCut() const
{
    for (const ReportSection &section : sections) {
        for (const ReportBlock &block : section.blocks) {
            const auto *table = std::get_if<ReportTable>(&block);
            if (table && table->total > table->rows.size())
                return true;
        }
    }
    return false;
}

ReportDocument makeReport(const RunComparison &comparison, const ReportOptions &options)
{
    ReportDocument document;
    document.title = lastPart(comparison.pathA) + " against " + lastPart(comparison.pathB);
    document.tone = toneOf(comparison.verdict.outcome);
    document.outcome = outcomeWords(comparison.verdict.outcome);
    document.sentence = comparison.verdict.sentence;
    if (comparison.firstDivergence)
        document.divergence = comparison.firstDivergence->sentence;
    document.suspect = recipeDifference(comparison);
    const bool compared = comparison.verdict.outcome != Outcome::NotCompared;
    document.sections.push_back(comparedSection(comparison, options));
    if (compared) {
        document.sections.push_back(divergenceSection(comparison));
        document.sections.push_back(classesSection(comparison));
        document.sections.push_back(recipeSection(comparison));
        if (!comparison.chain.empty())
            document.sections.push_back(chainSection(comparison));
        document.sections.push_back(tensorsSection(comparison));
        document.sections.push_back(valuesSection(comparison));
        if (!comparison.shown.resume.empty())
            document.sections.push_back(resumeSection(comparison));
        if (!comparison.metrics.empty())
            document.sections.push_back(metricsSection(comparison, options.evidence.get()));
    }
    document.sections.push_back(notComparedSection(comparison));
    if (compared)
        document.sections.push_back(findingsSection(comparison));
    document.sections.push_back(reproduceSection(comparison, options));
    document.sections.push_back(readingSection(comparison));
    return document;
}

} // namespace forkpoint
