// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/resume_facts.h"

#include "model/format.h"
#include "model/resume_generators.h"
#include "model/resume_masters.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace forkpoint {

namespace {

constexpr std::size_t StepsRead = 4096; ///< counts of the optimizer, one a parameter

using Items = std::vector<const ResumeItem *>;

bool isNumbered(StateClass stateClass)
{
    return stateClass != StateClass::Weights && stateClass != StateClass::Rng;
}

/// Items by what they stand for. Names of weights and generators are looked at by their class.
std::map<ResumeRole, Items> byRole(const std::vector<ResumeItem> &items)
{
    using enum ResumeRole;
    const ResumeRules &rules = ResumeRules::builtin();
    std::map<ResumeRole, Items> result;
    for (const ResumeItem &item : items) {
        if (!isNumbered(item.stateClass))
            continue;
        const ResumeRole role = item.isTensor && item.stateClass == StateClass::Optimizer
            ? rules.roleOf(item.name, {OptimizerStep, Moment, Master, Rate})
            : rules.roleOf(item.name,
                           {OptimizerStep, Iteration, SchedulerStep, SchedulerBefore,
                            SchedulerSamples, Epoch, Samples, GlobalBatch, BatchFactor, Rate,
                            LastRate, Seed, Moment, Master});
        if (role != None)
            result[role].push_back(&item);
    }
    return result;
}

/// The numbers of one side that others are held against.
struct Reference
{
    std::optional<double> iteration, epoch, globalBatch;
    std::string iterationName; ///< "iteration", or "optimizer step" in its place
    bool batchIsProduct = false;
};

std::optional<double> firstNumber(const Items &items, const ResumeSide &side)
{
    for (const ResumeItem *item : items) {
        if (const auto number = side.number(*item))
            return number;
    }
    return std::nullopt;
}

/// Smallest and largest of what a side counts, of the first so many.
struct Range
{
    double least = 0, most = 0;
    std::size_t count = 0;
    bool operator==(const Range &) const = default;
};

Range rangeOf(const Items &items, const ResumeSide &side)
{
    Range range;
    for (const ResumeItem *item : items) {
        if (range.count == StepsRead)
            break;
        const auto number = side.number(*item);
        if (!number)
            continue;
        range.least = range.count == 0 ? *number : std::min(range.least, *number);
        range.most = range.count == 0 ? *number : std::max(range.most, *number);
        ++range.count;
    }
    return range;
}

class Table
{
public:
    Table(std::vector<ResumeItem> items, const TensorSource *a, const TensorSource *b,
          std::uint64_t masterBytes, std::stop_token stop)
        : m_items(std::move(items)),
          m_roles(byRole(m_items)),
          m_a{a, true},
          m_b{b, false},
          m_masterBytes(masterBytes),
          m_stop(std::move(stop))
    {
    }

    std::vector<ResumeFact> build()
    {
        using enum ResumeRole;
        m_stepsA = rangeOf(m_roles[OptimizerStep], m_a);
        m_stepsB = rangeOf(m_roles[OptimizerStep], m_b);
        m_ofA = referenceOf(m_a, m_stepsA);
        m_ofB = referenceOf(m_b, m_stepsB);
        addGroup("weights", ofClass(StateClass::Weights, true));
        addGroup("masters", m_roles[Master]);
        if (!m_roles[Master].empty()) {
            m_facts.back().checkA = checkMasters(m_roles[Master], m_a, m_masterBytes, m_stop);
            m_facts.back().checkB = checkMasters(m_roles[Master], m_b, m_masterBytes, m_stop);
        }
        addGroup("moments", m_roles[Moment]);
        addNumbers("iteration", m_roles[Iteration], Iteration);
        addSteps();
        addGroup("schedule", ofClass(StateClass::Scheduler, false));
        for (const ResumeRole role : {SchedulerStep, SchedulerBefore, SchedulerSamples})
            addNumbers("schedule", m_roles[role], role);
        addRates();
        addNumbers("epoch", m_roles[Epoch], Epoch);
        addNumbers("data position", m_roles[Samples], Samples);
        addGroup("data", ofClass(StateClass::Data, false));
        addGroup("loss scaler", ofClass(StateClass::Scaler, false));
        for (const ResumeItem *item : ofClass(StateClass::Scaler, false))
            addItem("loss scaler", *item);
        addGroup("settings", ofClass(StateClass::Recipe, false));
        for (ResumeFact &fact : generatorFacts(m_items, m_a, m_b, seeds(), m_stop))
            m_facts.push_back(std::move(fact));
        return std::move(m_facts);
    }

private:
    Reference referenceOf(const ResumeSide &side, const Range &steps)
    {
        using enum ResumeRole;
        Reference reference;
        reference.iteration = firstNumber(m_roles[Iteration], side);
        reference.iterationName = "iteration";
        if (!reference.iteration && steps.count > 0 && steps.least == steps.most) {
            reference.iteration = steps.least;
            reference.iterationName = "optimizer step";
        }
        reference.epoch = firstNumber(m_roles[Epoch], side);
        reference.globalBatch = firstNumber(m_roles[GlobalBatch], side);
        if (!reference.globalBatch && m_roles[BatchFactor].size() > 1) {
            double product = 1;
            std::size_t factors = 0;
            for (const ResumeItem *item : m_roles[BatchFactor]) {
                if (const auto number = side.number(*item)) {
                    product *= *number;
                    ++factors;
                }
            }
            if (factors > 1)
                reference.globalBatch = product;
            reference.batchIsProduct = true;
        }
        return reference;
    }

    Items ofClass(StateClass stateClass, bool tensorsOnly) const
    {
        Items found;
        for (const ResumeItem &item : m_items) {
            if (item.stateClass == stateClass && (item.isTensor || !tensorsOnly))
                found.push_back(&item);
        }
        return found;
    }

    std::string groupText(const ResumeSide &side, const Items &items) const
    {
        std::uint64_t tensors = 0, elements = 0, values = 0;
        for (const ResumeItem *item : items) {
            if (const TensorRef *tensor = side.tensor(*item)) {
                ++tensors;
                elements += tensor->elements;
            } else if (side.value(*item)) {
                ++values;
            }
        }
        std::string text;
        if (tensors > 0)
            text = counted(tensors, "tensor", "tensors") + ", "
                + counted(elements, "element", "elements");
        if (values > 0)
            text += (text.empty() ? "" : ", ") + counted(values, "value", "values");
        return text;
    }

    void addGroup(const std::string &state, const Items &items)
    {
        if (items.empty())
            return;
        ResumeFact fact;
        fact.state = state;
        fact.a = groupText(m_a, items);
        fact.b = groupText(m_b, items);
        fact.equal = allEqual(items);
        const auto differing =
            std::count_if(items.begin(), items.end(),
                          [](const ResumeItem *item) { return item->equal == false; });
        if (differing > 0)
            fact.relation =
                grouped(std::uint64_t(differing)) + " of " + grouped(items.size()) + " differ";
        m_facts.push_back(std::move(fact));
    }

    void addItem(const std::string &state, const ResumeItem &item)
    {
        ResumeFact fact;
        fact.state = state;
        fact.name = item.name;
        if (const auto number = m_a.number(item))
            fact.a = numberText(*number);
        if (const auto number = m_b.number(item))
            fact.b = numberText(*number);
        if (fact.a.empty() && fact.b.empty())
            return;
        fact.equal = item.equal;
        m_facts.push_back(std::move(fact));
    }

    void addNumbers(const std::string &state, const Items &items, ResumeRole role)
    {
        for (const ResumeItem *item : items) {
            const std::size_t before = m_facts.size();
            addItem(state, *item);
            if (m_facts.size() == before)
                continue;
            ResumeFact &fact = m_facts.back();
            const auto a = m_a.number(*item), b = m_b.number(*item);
            if (a && b && *a != *b)
                fact.relation =
                    "B is " + numberText(std::fabs(*b - *a)) + (*b > *a ? " ahead" : " behind");
            if (a)
                fact.checkA = check(*a, role, m_ofA);
            if (b)
                fact.checkB = check(*b, role, m_ofB);
        }
    }

    static SelfCheck against(double number, double expected, const std::string &what)
    {
        const bool holds = number == expected;
        return {holds,
                (holds ? "is " : numberText(number) + " against ") + what
                    + (holds ? "" : " " + numberText(expected))};
    }

    static SelfCheck check(double number, ResumeRole role, const Reference &reference)
    {
        if (!reference.iteration)
            return {};
        const double iteration = *reference.iteration;
        switch (role) {
        case ResumeRole::Iteration:
            return number == iteration ? SelfCheck{}
                                       : against(number, iteration, "another counter's");
        case ResumeRole::SchedulerStep:
            if (reference.epoch && number == *reference.epoch && number != iteration)
                return {std::nullopt, "counts epochs"};
            return against(number, iteration, reference.iterationName);
        case ResumeRole::SchedulerBefore:
            return against(number, iteration - 1, "one before the " + reference.iterationName);
        case ResumeRole::Samples:
        case ResumeRole::SchedulerSamples: return samplesCheck(number, reference);
        default: return {};
        }
    }

    static SelfCheck samplesCheck(double number, const Reference &reference)
    {
        if (!reference.globalBatch)
            return {};
        const double batch = *reference.globalBatch, expected = *reference.iteration * batch;
        const std::string product = reference.iterationName + " " + numberText(*reference.iteration)
            + " x " + numberText(batch) + " samples";
        if (number == expected)
            return {true, "is " + product};
        // The product of what the settings name may lack how many replicas there were.
        if (reference.batchIsProduct && expected > 0 && number > expected
            && std::fmod(number, expected) == 0)
            return {std::nullopt, numberText(number / expected) + " x (" + product + ")"};
        return {false, numberText(number) + " against " + product};
    }

    void addSteps()
    {
        const Items &items = m_roles[ResumeRole::OptimizerStep];
        if (m_stepsA.count == 0 && m_stepsB.count == 0)
            return;
        ResumeFact fact;
        fact.state = "optimizer step";
        fact.a = rangeText(m_stepsA);
        fact.b = rangeText(m_stepsB);
        fact.equal = allEqual(items);
        if (m_stepsA.count > 0 && m_stepsB.count > 0 && m_stepsA != m_stepsB
            && m_stepsA.least == m_stepsA.most && m_stepsB.least == m_stepsB.most
            && m_stepsA.least != m_stepsB.least) {
            const double ahead = m_stepsB.least - m_stepsA.least;
            fact.relation =
                "B is " + numberText(std::fabs(ahead)) + (ahead > 0 ? " ahead" : " behind");
        }
        fact.checkA = stepsCheck(m_stepsA, m_ofA);
        fact.checkB = stepsCheck(m_stepsB, m_ofB);
        m_facts.push_back(std::move(fact));
    }

    static std::string rangeText(const Range &range)
    {
        if (range.count == 0)
            return {};
        const std::string first = range.count == StepsRead ? "of the first "
            : range.count > 1                              ? "of "
                                                           : "";
        std::string text = numberText(range.least);
        if (range.most != range.least)
            text += " to " + numberText(range.most);
        return range.count > 1
            ? text + " (" + first + counted(range.count, "parameter", "parameters") + ")"
            : text;
    }

    static SelfCheck stepsCheck(const Range &range, const Reference &reference)
    {
        if (range.count == 0)
            return {};
        if (range.least != range.most)
            return {false, "parameters were updated unlike numbers of times"};
        if (reference.iterationName != "iteration" || !reference.iteration)
            return {true, "is alike for all parameters"};
        return against(range.least, *reference.iteration, reference.iterationName);
    }

    /// Rates of the parameter groups, against the rate that the schedule gave last.
    void addRates()
    {
        const Items &rates = m_roles[ResumeRole::Rate];
        if (rates.empty())
            return;
        for (const ResumeItem *item : rates) {
            const std::size_t before = m_facts.size();
            addItem("learning rate", *item);
            if (m_facts.size() == before)
                continue;
            m_facts.back().checkA = rateCheck(*item, m_a);
            m_facts.back().checkB = rateCheck(*item, m_b);
        }
    }

    SelfCheck rateCheck(const ResumeItem &rate, const ResumeSide &side) const
    {
        const auto number = side.number(rate);
        const auto groupOf = [](std::string_view name, std::string_view end) {
            name.remove_suffix(std::min(end.size(), name.size()));
            return name.substr(name.rfind('.') + 1);
        };
        const auto lasts = m_roles.find(ResumeRole::LastRate);
        if (!number || lasts == m_roles.end())
            return {};
        for (const ResumeItem *last : lasts->second) {
            if (groupOf(last->name, "") != groupOf(rate.name, ".lr"))
                continue;
            if (const auto given = side.number(*last)) {
                const bool holds = *given == *number;
                return {holds,
                        holds ? "is what the schedule gave last"
                              : shortest(*number) + " against the schedule's " + shortest(*given)};
            }
        }
        return {};
    }

    std::vector<std::uint64_t> seeds()
    {
        constexpr std::size_t MostSeeds = 4;
        std::vector<std::uint64_t> found;
        for (const ResumeSide *side : {&m_a, &m_b}) {
            for (const ResumeItem *item : m_roles[ResumeRole::Seed]) {
                const auto number = side->number(*item);
                if (!number || *number < 0 || *number >= 9007199254740992.0
                    || *number != std::floor(*number) || found.size() == MostSeeds)
                    continue;
                const auto seed = std::uint64_t(*number);
                if (std::find(found.begin(), found.end(), seed) == found.end())
                    found.push_back(seed);
            }
        }
        return found;
    }

    std::vector<ResumeItem> m_items;
    std::map<ResumeRole, Items> m_roles;
    ResumeSide m_a, m_b;
    std::uint64_t m_masterBytes;
    std::stop_token m_stop;
    Range m_stepsA, m_stepsB;
    Reference m_ofA, m_ofB;
    std::vector<ResumeFact> m_facts;
};

void addContradiction(const ResumeFact &fact, const SelfCheck &check, std::string_view side,
                      std::vector<Finding> &findings)
{
    if (check.holds != false)
        return;
    findings.push_back({"checkpoint-contradicts-itself",
                        Certainty::Is,
                        Severity::Warning,
                        (side.empty() ? std::string() : std::string(side) + ": ")
                            + (fact.name.empty() ? fact.state : fact.name) + ": " + check.reason,
                        {fact.name.empty() ? fact.state : fact.name}});
}

} // namespace

std::vector<ResumeFact> resumeFacts(const CheckpointComparison &comparison, const TensorSource &a,
                                    const TensorSource &b, std::uint64_t masterBytes,
                                    std::stop_token stop)
{
    return Table(itemsOf(comparison), &a, &b, masterBytes, std::move(stop)).build();
}

std::vector<ResumeFact> resumeFacts(const TensorSource &source, std::uint64_t masterBytes,
                                    std::stop_token stop)
{
    return Table(itemsOf(source.catalog()), &source, nullptr, masterBytes, std::move(stop)).build();
}

std::vector<Finding> resumeFindings(const std::vector<ResumeFact> &facts, bool pair)
{
    std::vector<Finding> findings;
    Finding generators{"generators-apart", Certainty::Is, Severity::Warning, {}, {}};
    for (const ResumeFact &fact : facts) {
        if (fact.state == "generator" && !fact.relation.empty()) {
            if (generators.where.empty())
                generators.text = fact.name + ": " + fact.relation;
            generators.where.push_back(fact.name);
        }
        addContradiction(fact, fact.checkA, pair ? "A" : "", findings);
        addContradiction(fact, fact.checkB, "B", findings);
    }
    if (generators.where.size() > 1)
        generators.text +=
            "; and " + counted(generators.where.size() - 1, "more generator", "more generators");
    if (!generators.where.empty())
        findings.insert(findings.begin(), std::move(generators));
    return findings;
}

} // namespace forkpoint
