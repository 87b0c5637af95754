// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/resume/resume_facts.h"

#include "model/format.h"
#include "model/resume/resume_counters.h"
#include "model/resume/resume_generators.h"
#include "model/resume/resume_masters.h"
#include "model/resume/resume_rates.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace forkpoint {

namespace {

using Items = std::vector<const ResumeItem *>;

bool isNumbered(StateClass stateClass)
{
    // Bookkeeping: what was logged on the way is no position from which a run goes on.
    return stateClass != StateClass::Weights && stateClass != StateClass::Rng
        && stateClass != StateClass::Bookkeeping;
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

std::optional<double> firstNumber(const Items &items, const ResumeSide &side)
{
    for (const ResumeItem *item : items) {
        if (const auto number = side.number(*item))
            return number;
    }
    return std::nullopt;
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
        m_optimizers = countUpdates(m_roles[OptimizerStep], m_a, m_b);
        m_ofA = referenceOf(m_a, &OptimizerCounts::a);
        m_ofB = referenceOf(m_b, &OptimizerCounts::b);
        const Items weights = ofClass(StateClass::Weights, true);
        addGroup("weights", weights);
        if (!weights.empty()) // a parameter whose name no rule knows: not among "weights, equal"
            addGroup("tensors of no known class", ofClass(StateClass::Unknown, true));
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
    CounterReference referenceOf(const ResumeSide &side, UpdateCounts OptimizerCounts::*counts)
    {
        using enum ResumeRole;
        CounterReference reference;
        reference.iteration = firstNumber(m_roles[Iteration], side);
        reference.iterationName = "iteration";
        for (const OptimizerCounts &optimizer : m_optimizers) {
            const UpdateCounts &updates = optimizer.*counts;
            if (updates.count > 0)
                reference.updates.push_back(updates.isAlike() ? std::optional(updates.least)
                                                              : std::nullopt);
        }
        const auto &updates = reference.updates;
        const bool alike = !updates.empty()
            && std::all_of(updates.begin(), updates.end(),
                           [&](const auto &count) { return count && count == updates.front(); });
        if (!reference.iteration && alike) {
            reference.iteration = updates.front();
            reference.iterationName = "optimizer step";
        }
        reference.processes = processesOf(side);
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

    /// By accelerate's files of generators, one a process.
    std::size_t processesOf(const ResumeSide &side) const
    {
        std::set<OwnerCoordinate> ranks;
        for (const ResumeItem &item : m_items) {
            if (item.name.starts_with("random_states_") && (side.tensor(item) || side.value(item)))
                ranks.insert(ResumeRules::builtin().ranksOf(item.name));
        }
        return ranks.size();
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
        if (m_b.source)
            fact.relation = groupRelation(items);
        m_facts.push_back(std::move(fact));
    }

    /// "2 of 4 differ"; where some were not compared, how many that is said of.
    static std::string groupRelation(const Items &items)
    {
        std::uint64_t differing = 0, compared = 0;
        for (const ResumeItem *item : items) {
            differing += item->equal == false ? 1u : 0u;
            compared += item->equal ? 1u : 0u;
        }
        if (compared == items.size()) {
            return differing == 0 ? std::string()
                                  : grouped(differing) + " of " + grouped(compared) + " differ";
        }
        std::string text = grouped(compared) + " of " + grouped(items.size()) + " compared";
        if (compared > 0)
            text += differing == 0 ? ", all equal" : ", " + counted(differing, "differs", "differ");
        return text + "; whether the rest is equal is not known";
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
                fact.relation = aheadText(*a, *b);
            if (a)
                fact.checkA = checkCounter(*item, *a, role, m_ofA);
            if (b)
                fact.checkB = checkCounter(*item, *b, role, m_ofB);
        }
    }

    void addSteps()
    {
        for (const OptimizerCounts &optimizer : m_optimizers) {
            const UpdateCounts &a = optimizer.a, &b = optimizer.b;
            if (a.count == 0 && b.count == 0)
                continue;
            ResumeFact fact;
            fact.state = "optimizer step";
            if (m_optimizers.size() > 1)
                fact.name = optimizer.optimizer;
            fact.a = a.toString();
            fact.b = b.toString();
            fact.equal = allEqual(optimizer.items);
            if (a.isAlike() && b.isAlike() && a.least != b.least)
                fact.relation = aheadText(a.least, b.least);
            fact.checkA = checkUpdates(a, m_ofA);
            fact.checkB = checkUpdates(b, m_ofB);
            m_facts.push_back(std::move(fact));
        }
    }

    static std::string aheadText(double a, double b)
    {
        return "B is " + numberText(std::fabs(b - a)) + (b > a ? " ahead" : " behind");
    }

    /// Rates of the parameter groups, against the rate that the schedule gave last.
    void addRates()
    {
        const Items &rates = m_roles[ResumeRole::Rate], &lasts = m_roles[ResumeRole::LastRate];
        const LastRates ofA(rates, lasts, m_a), ofB(rates, lasts, m_b);
        for (const ResumeItem *item : rates) {
            const std::size_t before = m_facts.size();
            addItem("learning rate", *item);
            if (m_facts.size() == before)
                continue;
            m_facts.back().checkA = ofA.check(*item);
            m_facts.back().checkB = ofB.check(*item);
        }
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
    std::vector<OptimizerCounts> m_optimizers;
    CounterReference m_ofA, m_ofB;
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
    const bool complete = a.catalog().complete && b.catalog().complete;
    return Table(itemsOf(comparison, complete), &a, &b, masterBytes, std::move(stop)).build();
}

std::vector<ResumeFact> resumeFacts(const TensorSource &source, std::uint64_t masterBytes,
                                    std::stop_token stop)
{
    return Table(itemsOf(source.catalog()), &source, nullptr, masterBytes, std::move(stop)).build();
}

std::string contradictionOfOneSide(const std::vector<ResumeFact> &facts)
{
    std::string inA, inB;
    std::size_t countA = 0, countB = 0;
    for (const ResumeFact &fact : facts) {
        for (const bool isA : {true, false}) {
            const SelfCheck &check = isA ? fact.checkA : fact.checkB;
            if (check.holds != false || (isA ? fact.checkB : fact.checkA).holds != true)
                continue;
            if ((isA ? countA : countB)++ > 0)
                continue;
            std::string &text = isA ? inA : inB;
            text = (fact.name.empty() ? fact.state : fact.name) + " (" + check.reason + ")";
            if (fact.state == "optimizer step")
                text += ", consistent with a resume that did not restore its optimizer";
        }
    }
    if ((countA > 0) == (countB > 0))
        return {};
    const std::size_t others = std::max(countA, countB) - 1;
    return (countA > 0 ? " A contradicts itself, and B does not: " + inA
                       : " B contradicts itself, and A does not: " + inB)
        + (others > 0 ? "; and " + counted(others, "more such fact", "more such facts") : "") + ".";
}

std::vector<Finding> resumeFindings(const std::vector<ResumeFact> &facts, bool pair)
{
    std::vector<Finding> findings;
    Finding generators{"generators-apart", Certainty::Is, Severity::Warning, {}, {}};
    for (const ResumeFact &fact : facts) {
        if (fact.state == "generator" && fact.equal == false && !fact.relation.empty()) {
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
