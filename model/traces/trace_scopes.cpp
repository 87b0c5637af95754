// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/traces/trace_scopes.h"

#include "model/format.h"

#include <algorithm>

namespace forkpoint {

namespace {

/// Values remembered to tell where an input was made.
constexpr std::size_t MostMakers = 1'000'000;

std::string valueText(const Observation &observation)
{
    return observation.dtype + ' ' + std::string(toString(observation.kind)) + ' '
        + observation.digest;
}

bool isInside(std::string_view scope, std::string_view outer)
{
    return outer.empty()
        || (scope.starts_with(outer)
            && (scope.size() == outer.size() || scope[outer.size()] == '.'));
}

/// With one separator, without the mark of a pass: "layers.0/mlp[bwd]" as "layers.0.mlp".
std::string plainScope(std::string_view scope)
{
    std::string plain(scope.substr(0, scope.find('[')));
    std::replace(plain.begin(), plain.end(), '/', '.');
    return plain;
}

bool isThe(const RecordName &first, const TraceRecord &record)
{
    return first.name == record.name && first.call == record.call
        && first.microBatch == record.microBatch && first.stage == record.stage
        && first.scope == record.scope && first.placeA == record.place;
}

} // namespace

std::vector<std::string> scopesAround(std::string_view scope)
{
    const std::string plain = plainScope(scope);
    std::vector<std::string> scopes;
    for (std::size_t dot = plain.find('.'); dot != std::string::npos;
         dot = plain.find('.', dot + 1))
        scopes.push_back(plain.substr(0, dot));
    if (!plain.empty())
        scopes.push_back(plain);
    return scopes;
}

bool ScopeLedger::isMadeIn(const Observation &input, const std::string &scope) const
{
    const auto maker = m_makers.find(valueText(input));
    return maker != m_makers.end() && isInside(maker->second, scope);
}

/// What of the record's inputs comes from outside the scope.
void ScopeLedger::enter(const TraceRecord &a, const TraceRecord &b, const std::string &scope)
{
    std::vector<Observation> left, right;
    for (std::size_t i = 0; i < std::min(a.inputs.size(), b.inputs.size()); ++i) {
        if (isMadeIn(a.inputs[i], scope) && isMadeIn(b.inputs[i], scope))
            continue;
        left.push_back(a.inputs[i]);
        right.push_back(b.inputs[i]);
    }
    m_entering[scope].add(compareObservations(left, right));
}

/// A differing input that no record made may have been made inside any module.
bool ScopeLedger::areMakersKnown(const TraceRecord &a, const TraceRecord &b) const
{
    for (std::size_t i = 0; i < std::min(a.inputs.size(), b.inputs.size()); ++i) {
        if (a.inputs[i].digest != b.inputs[i].digest
            && !(isMadeIn(a.inputs[i], {}) && isMadeIn(b.inputs[i], {})))
            return false;
    }
    return true;
}

DivergenceClass ScopeLedger::classOf(const EvidenceSum &entering, const TraceRecord &a,
                                     const TraceRecord &b, const std::string &scope) const
{
    const RecordEvidence own = compareRecords(a, b);
    if (own.inputs.evidence == Evidence::Different)
        return entering.evidence == Evidence::Different && areMakersKnown(a, b)
            ? DivergenceClass::Receiver
            : DivergenceClass::Unclassified;
    const bool isOpen = entering.compared == 0 || entering.nothing > 0 || entering.notComparable > 0
        || own.outputs.evidence != Evidence::Different
        || (entering.fewestBits && *entering.fewestBits < EnoughBits);
    // An input that hides a difference, as that of an operation that cannot vary, hides it here too.
    const bool takesIn = std::any_of(a.inputs.begin(), a.inputs.end(),
                                     [&](const Observation &in) { return !isMadeIn(in, scope); });
    const bool isDoubtful =
        classify(a, own.inputs, own.outputs).divergenceClass == DivergenceClass::Unclassified;
    return isOpen || (isDoubtful && takesIn) ? DivergenceClass::Unclassified
                                             : DivergenceClass::Origin;
}

void ScopeLedger::judge(const TraceRecord &a, const TraceRecord &b)
{
    for (auto narrowest = m_scopes.rbegin(); narrowest != m_scopes.rend(); ++narrowest) {
        const std::string &scope = *narrowest;
        const EvidenceSum &entering = m_entering[scope];
        m_judgements.push_back({scope, classOf(entering, a, b, scope), entering.compared,
                                entering.compared > 0 ? entering.weakestEqual : Strength::None});
    }
}

void ScopeLedger::see(const TraceRecord &a, const TraceRecord &b)
{
    if (m_done)
        return;
    const std::string own = plainScope(a.scope);
    for (const std::string &scope : m_scopes) {
        if (isInside(own, scope))
            enter(a, b, scope);
    }
    if (isThe(m_first, a)) {
        m_done = true;
        judge(a, b);
        return;
    }
    for (const TraceRecord *record : {&a, &b}) {
        for (const Observation &output : record->outputs) {
            if (output.absence == Absence::Recorded && m_makers.size() < MostMakers)
                m_makers.insert_or_assign(valueText(output), plainScope(record->scope));
        }
    }
}

std::optional<Finding> scopeFinding(const std::vector<ScopeJudgement> &judgements)
{
    std::vector<const ScopeJudgement *> guilty, receiving;
    for (const ScopeJudgement &judgement : judgements) {
        if (judgement.divergenceClass == DivergenceClass::Origin)
            guilty.push_back(&judgement);
        else if (judgement.divergenceClass == DivergenceClass::Receiver)
            receiving.push_back(&judgement);
    }
    if (guilty.empty() && receiving.empty())
        return std::nullopt;
    Finding finding{"scopes", Certainty::ConsistentWith, Severity::Note, {}, {}};
    if (!guilty.empty()) {
        const ScopeJudgement &narrowest = *guilty.front();
        finding.severity = Severity::Warning;
        if (provesEquality(narrowest.strength))
            finding.certainty = Certainty::Is;
        finding.text = "the module " + narrowest.scope + " is guilty: "
            + counted(narrowest.entering, "tensor enters it equal", "tensors enter it equal") + " ("
            + std::string(toString(narrowest.strength)) + "), what leaves it differs";
    }
    if (!receiving.empty()) {
        finding.text += (finding.text.empty() ? "" : "; ")
            + ("the module " + receiving.back()->scope + " received the difference");
    }
    for (const auto *list : {&guilty, &receiving}) {
        for (const ScopeJudgement *judgement : *list)
            finding.where.push_back(judgement->scope);
    }
    return finding;
}

} // namespace forkpoint
