// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/compare/run_arms.h"

#include "model/format.h"

#include <algorithm>

namespace forkpoint {

namespace {

std::string label(std::size_t arm)
{
    return arm < 26 ? std::string(1, char('A' + arm)) : "run " + std::to_string(arm + 1);
}

std::string placeOf(const FirstDivergence &first)
{
    const std::string step = first.step ? "step " + std::to_string(*first.step) + ", " : "";
    return step + first.stage + " " + first.name;
}

std::string pairText(const ArmPair &pair)
{
    return label(pair.a) + " and " + label(pair.b) + " " + std::string(toString(pair.outcome))
        + (pair.first ? " (" + placeOf(*pair.first) + ")" : "");
}

Finding matrix(const std::vector<RunArm> &arms, const std::vector<ArmPair> &pairs)
{
    Finding finding{"pair-matrix", Certainty::Is, Severity::Note, {}, {}};
    for (std::size_t i = 2; i < arms.size(); ++i)
        finding.text += (finding.text.empty() ? "" : ", ") + label(i) + " is " + arms[i].path
            + (arms[i].isControl ? " (control)" : " (repeat of A)");
    for (const ArmPair &pair : pairs) {
        finding.text += "; " + pairText(pair);
        finding.where.push_back(label(pair.a) + " and " + label(pair.b));
    }
    return finding;
}

/// The run that is in each of these pairs, where there is one alone.
std::optional<std::size_t> oddOne(const std::vector<const ArmPair *> &pairs)
{
    const auto isInAll = [&](std::size_t arm) {
        return std::all_of(pairs.begin(), pairs.end(),
                           [&](const ArmPair *pair) { return pair->a == arm || pair->b == arm; });
    };
    const bool isA = isInAll(pairs.front()->a), isB = isInAll(pairs.front()->b);
    if (isA == isB)
        return std::nullopt;
    return isA ? pairs.front()->a : pairs.front()->b;
}

/// Whether the pairs that differ, controls apart, part at the same record.
std::optional<Finding> common(const std::vector<RunArm> &arms, const std::vector<ArmPair> &pairs)
{
    std::vector<const ArmPair *> differing;
    for (const ArmPair &pair : pairs) {
        const bool isArm = !arms[pair.a].isControl && !arms[pair.b].isControl;
        if (isArm && pair.outcome == Outcome::Different && pair.first)
            differing.push_back(&pair);
    }
    if (differing.empty())
        return std::nullopt;
    Finding finding{"common-divergence", Certainty::ConsistentWith, Severity::Note, {}, {}};
    const std::string place = placeOf(*differing.front()->first);
    const bool isShared = std::all_of(differing.begin(), differing.end(), [&](const ArmPair *pair) {
        return placeOf(*pair->first) == place;
    });
    const std::optional<std::size_t> odd = oddOne(differing);
    if (differing.size() == 1)
        finding.text = "one pair alone differs: an anecdote until another pair parts at " + place;
    else if (isShared && odd)
        finding.text = counted(differing.size(), "pair parts", "pairs part") + " at " + place + ", "
            + label(*odd)
            + " in each of them, and no others were seen to differ: it is of that run, and no "
              "property of the code is shown";
    else if (isShared)
        finding.text = counted(differing.size(), "pair parts", "pairs part") + " at " + place
            + ": a property of the code rather than of a run";
    else if (odd)
        finding.text = "the pairs that differ part at unlike places, " + label(*odd)
            + " in each of them: it is of that run";
    else
        finding.text = "the pairs that differ part at unlike places";
    return finding;
}

std::optional<Finding> noiseFloor(const std::vector<RunArm> &arms,
                                  const std::vector<ArmPair> &pairs)
{
    std::size_t repeats = 0, unknown = 0;
    const ArmPair *noisy = nullptr;
    for (const ArmPair &pair : pairs) {
        if (pair.a != 0 || pair.b < 2 || arms[pair.b].isControl)
            continue;
        ++repeats;
        if (pair.outcome == Outcome::Different && !noisy)
            noisy = &pair;
        unknown += pair.outcome == Outcome::Undecided || pair.outcome == Outcome::NotCompared;
    }
    if (repeats == 0)
        return std::nullopt;
    Finding finding{"noise-floor", Certainty::Is, Severity::Note, {}, {}};
    if (noisy) {
        finding.certainty = Certainty::ConsistentWith;
        finding.severity = Severity::Warning;
        finding.text = "A differs from its own repeat " + label(noisy->b)
            + (noisy->first ? ", first at " + placeOf(*noisy->first) : "")
            + ": a difference of B from there on may be the same noise";
    } else if (unknown > 0) {
        finding.text = "no difference was seen between A and its repeats, by evidence that may not "
                       "say equal: the floor of noise is not known";
    } else {
        finding.text = "A and " + counted(repeats, "repeat", "repeats")
            + " of it are identical: none of what B differs in was seen as noise";
    }
    return finding;
}

std::vector<Finding> liveness(const std::vector<RunArm> &arms, const std::vector<ArmPair> &pairs)
{
    std::vector<Finding> findings;
    for (const ArmPair &pair : pairs) {
        if (pair.a != 0 || !arms[pair.b].isControl)
            continue;
        const bool isLive = pair.outcome == Outcome::Different;
        findings.push_back({isLive ? "control-differs" : "control-not-seen",
                            Certainty::Is,
                            isLive ? Severity::Note : Severity::Warning,
                            "the control " + label(pair.b)
                                + (isLive ? " was seen to differ from A: the comparison is live"
                                          : " was not seen to differ from A, as it must: what this "
                                            "comparison calls equal proves nothing of its cause"),
                            {arms[pair.b].path}});
    }
    return findings;
}

} // namespace

std::vector<Finding> armFindings(const std::vector<RunArm> &arms, const std::vector<ArmPair> &pairs)
{
    std::vector<Finding> findings = {matrix(arms, pairs)};
    for (auto &&found : {common(arms, pairs), noiseFloor(arms, pairs)}) {
        if (found)
            findings.push_back(*found);
    }
    for (Finding &finding : liveness(arms, pairs))
        findings.push_back(std::move(finding));
    return findings;
}

} // namespace forkpoint
