// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/resume/resume_generators.h"

#include "model/folded_numbers.h"
#include "model/format.h"
#include "model/resume/generator_state.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>

namespace forkpoint {

namespace {

/// Blocks of 624 draws to go for one seed, and for all generators of a table together.
constexpr std::uint64_t BlocksForSeed = 20'000, BlocksInAll = 400'000;

std::string parentOf(std::string_view name)
{
    const auto dot = name.rfind('.');
    return std::string(name.substr(0, dot == std::string_view::npos ? 0 : dot + 1));
}

std::string_view kindName(GeneratorState::Kind kind)
{
    switch (kind) {
    case GeneratorState::Kind::TorchCpu: return "torch CPU";
    case GeneratorState::Kind::Philox: return "torch CUDA";
    case GeneratorState::Kind::Numpy: return "numpy";
    case GeneratorState::Kind::Python: return "Python";
    }
    return "";
}

/// Decodes generators, and counts their draws while the budget lasts. Ranks often hold one state:
/// what was counted once is known.
class Decoder
{
public:
    Decoder(const ResumeSide &side, const std::vector<ResumeItem> &items,
            const std::vector<std::uint64_t> &seeds, std::uint64_t &budget)
        : m_side(side),
          m_seeds(seeds),
          m_budget(budget)
    {
        for (const ResumeItem &item : items) {
            if (item.stateClass == StateClass::Rng && side.value(item))
                m_values.emplace(side.value(item)->name, side.value(item));
        }
    }

    std::optional<GeneratorState> decode(const ResumeItem &item)
    {
        std::optional<GeneratorState> state;
        if (const ValueRef *value = m_side.value(item)) {
            state = decodePython(foldedIntegers(value->value));
        } else if (const TensorRef *tensor = m_side.tensor(item)) {
            state = decodeTensor(item, *tensor);
        }
        if (state)
            countDraws(*state);
        return state;
    }

private:
    std::optional<GeneratorState> decodeTensor(const ResumeItem &item, const TensorRef &tensor)
    {
        const bool bytes =
            tensor.dtype.name == "uint8" && (tensor.bytes == 5056 || tensor.bytes == 16);
        const bool words = tensor.dtype.name == "uint32" && tensor.elements == TwisterBlock::Words;
        if ((!bytes && !words) || tensor.unreadable)
            return std::nullopt;
        std::vector<std::byte> data(std::size_t(tensor.bytes));
        if (!m_side.source->read(m_side.isA ? *item.a : *item.b, 0, data))
            return std::nullopt;
        if (bytes)
            return data.size() == 16 ? decodePhilox(data) : decodeTorchCpu(data);
        // ('MT19937', words, position, has_gauss, gauss), or a dictionary of the same.
        const std::string parent = parentOf(tensor.name);
        const bool isTuple = tensor.name.ends_with(".1");
        const auto position = integer(parent + (isTuple ? "2" : "pos"));
        const auto kept = integer(
            isTuple ? parent + "3" : parentOf(parent.substr(0, parent.size() - 1)) + "has_gauss");
        if (parent.empty() || !position)
            return std::nullopt;
        return decodeNumpy(data, *position, kept.value_or(0) != 0);
    }

    std::optional<std::int64_t> integer(const std::string &name) const
    {
        const auto found = m_values.find(name);
        if (found == m_values.end())
            return std::nullopt;
        const auto *number = std::get_if<std::int64_t>(&found->second->value.data);
        return number ? std::optional(*number) : std::nullopt;
    }

    void countDraws(GeneratorState &state)
    {
        for (const GeneratorState &known : m_known) {
            if (known.kind == state.kind && known.block == state.block
                && (!state.seed || known.seed == state.seed)) {
                state.blocks = known.blocks;
                state.seed = known.seed;
                return;
            }
        }
        const auto attempt = [&](std::uint64_t seed) {
            m_budget -= trySeed(state, seed, std::min(BlocksForSeed, m_budget));
        };
        if (state.seed)
            attempt(*state.seed);
        for (std::size_t i = 0; i < m_seeds.size() && !state.seed; ++i)
            attempt(m_seeds[i]);
        constexpr std::size_t MostKnown = 64;
        if (m_known.size() < MostKnown)
            m_known.push_back(state);
    }

    const ResumeSide &m_side;
    const std::vector<std::uint64_t> &m_seeds;
    std::uint64_t &m_budget;
    std::unordered_map<std::string, const ValueRef *> m_values;
    std::vector<GeneratorState> m_known;
};

/// What is shown of an item that is no known generator.
std::string plainText(const ResumeSide &side, const ResumeItem &item)
{
    if (const TensorRef *tensor = side.tensor(item))
        return tensor->dtype.name + " " + tensor->shape.toString();
    if (const ValueRef *value = side.value(item))
        return value->value.toDisplay();
    return {};
}

std::string textOf(const ResumeSide &side, const ResumeItem &item,
                   const std::optional<GeneratorState> &state)
{
    return state ? std::string(kindName(state->kind)) + ": " + state->toString()
                 : plainText(side, item);
}

/// Whether an item is the state of a generator, and no number that belongs to one.
bool isWhole(const ResumeSide &side, const ResumeItem &item)
{
    if (const ValueRef *value = side.value(item))
        return value->value.type == ValueType::Numbers || value->value.type == ValueType::Bytes;
    return side.tensor(item) != nullptr;
}

/// States of one kind of generator over the ranks of one side.
struct OverRanks
{
    std::vector<std::pair<OwnerCoordinate, std::size_t>> states; ///< rank, number of its state
};

std::string withoutTp(const OwnerCoordinate &rank)
{
    OwnerCoordinate others;
    for (const auto &axis : rank.axes) {
        if (axis.first != "tp")
            others.axes.push_back(axis);
    }
    return others.toString();
}

SelfCheck checkOverTp(const OverRanks &over, bool alike)
{
    std::map<std::string, std::vector<const std::pair<OwnerCoordinate, std::size_t> *>> groups;
    for (const auto &state : over.states)
        groups[withoutTp(state.first)].push_back(&state);
    SelfCheck check;
    for (const auto &[others, states] : groups) {
        std::set<std::size_t> distinct;
        for (const auto *state : states)
            distinct.insert(state->second);
        if (states.size() < 2)
            continue;
        const bool holds = distinct.size() == (alike ? 1 : states.size());
        if (!holds && check.holds != false)
            check.reason = states.front()->first.toString()
                + " and others: " + counted(states.size(), "rank has ", "ranks have ")
                + counted(distinct.size(), "state", "states");
        check.holds = check.holds.value_or(true) && holds;
    }
    if (check.holds == true)
        check.reason = alike ? "alike over tp" : "all unlike over tp";
    return check;
}

std::string overText(const OverRanks &over)
{
    std::set<std::size_t> distinct;
    for (const auto &state : over.states)
        distinct.insert(state.second);
    return counted(over.states.size(), "rank", "ranks") + ", "
        + counted(distinct.size(), "state", "states");
}

using RankTable = std::map<std::string, std::pair<OverRanks, OverRanks>>;

/// Of each kind what the ranks hold, and whether that is as it must be.
void addOverRanks(const RankTable &table, std::vector<ResumeFact> &facts)
{
    const ResumeRules &rules = ResumeRules::builtin();
    for (const auto &[name, sides] : table) {
        if (sides.first.states.size() < 2 && sides.second.states.size() < 2)
            continue;
        ResumeFact fact;
        fact.state = "generators over ranks";
        fact.name = name;
        if (!sides.first.states.empty())
            fact.a = overText(sides.first);
        if (!sides.second.states.empty())
            fact.b = overText(sides.second);
        const bool alike = !rules.matches(ResumeRole::AlikeOverTp, name).empty();
        if (alike || !rules.matches(ResumeRole::UnlikeOverTp, name).empty()) {
            fact.checkA = checkOverTp(sides.first, alike);
            fact.checkB = checkOverTp(sides.second, alike);
        }
        facts.push_back(std::move(fact));
    }
}

/// Numbers states: equal ones alike.
class StateNumbers
{
public:
    std::size_t of(const GeneratorState &state)
    {
        const auto *words = reinterpret_cast<const char *>(state.block.words.data());
        std::string key(words, sizeof state.block.words);
        key += std::to_string(int(state.kind)) + ' ' + std::to_string(state.position) + ' '
            + std::to_string(state.seed.value_or(0)) + ' ' + std::to_string(state.offset);
        return m_numbers.try_emplace(std::move(key), m_numbers.size()).first->second;
    }

private:
    std::map<std::string, std::size_t> m_numbers;
};

/// Numbers that belong to a generator's words and are values of their own: what lies beside words in
/// numpy's ('MT19937', words, position, has_gauss, gauss) and Python's (version, words, gauss), and
/// in numpy's dictionary {"state": {"key", "pos"}, "has_gauss", "gauss"}.
std::vector<std::string> numbersBeside(std::string_view words)
{
    const std::string parent = parentOf(words);
    if (parent.empty())
        return {};
    if (words.ends_with(".1"))
        return {parent + "2", parent + "3", parent + "4"};
    if (!words.ends_with(".state.key"))
        return {};
    const std::string above = parentOf(std::string_view(parent).substr(0, parent.size() - 1));
    return {parent + "pos", above + "has_gauss", above + "gauss"};
}

/// Equal words make equal generators only with equal numbers beside them.
class NumbersBeside
{
public:
    explicit NumbersBeside(const std::vector<ResumeItem> &items)
    {
        for (const ResumeItem &item : items) {
            if (item.stateClass == StateClass::Rng && !item.isTensor)
                m_byName.emplace(item.name, &item);
        }
    }

    void apply(ResumeFact &fact) const
    {
        for (const std::string &name : numbersBeside(fact.name)) {
            const auto found = m_byName.find(name);
            if (found == m_byName.end() || fact.equal != true || found->second->equal == true)
                continue;
            fact.equal = found->second->equal;
            fact.relation = fact.equal ? name + " differs" : std::string();
        }
    }

private:
    std::unordered_map<std::string_view, const ResumeItem *> m_byName;
};

} // namespace

std::vector<ResumeFact> generatorFacts(const std::vector<ResumeItem> &items, const ResumeSide &a,
                                       const ResumeSide &b, const std::vector<std::uint64_t> &seeds,
                                       std::stop_token stop)
{
    std::uint64_t budget = BlocksInAll;
    Decoder ofA(a, items, seeds, budget), ofB(b, items, seeds, budget);
    const ResumeRules &rules = ResumeRules::builtin();
    std::vector<ResumeFact> facts;
    RankTable table;
    StateNumbers numbers;
    const NumbersBeside beside(items);
    for (const ResumeItem &item : items) {
        if (stop.stop_requested())
            break;
        if (item.stateClass != StateClass::Rng || (!isWhole(a, item) && !isWhole(b, item)))
            continue;
        const auto stateA = ofA.decode(item), stateB = ofB.decode(item);
        ResumeFact fact;
        fact.state = "generator";
        fact.name = item.name;
        fact.a = textOf(a, item, stateA);
        fact.b = textOf(b, item, stateB);
        fact.equal = item.equal;
        if (stateA && stateB) {
            const std::uint64_t limit = std::min(BlocksForSeed, budget);
            fact.relation = relationOf(*stateA, *stateB, limit);
            if (!stateA->draws() || !stateB->draws()) // one stream was followed to find the other
                budget -= std::min(2 * limit, budget);
            if (!fact.relation.empty() && item.equal)
                fact.equal = false; // its position is a value of its own
            // Else the two are not comparable: unlike runs may have a rank of that number.
        }
        beside.apply(fact);
        facts.push_back(std::move(fact));
        const OwnerCoordinate rank = rules.ranksOf(item.name);
        if (rank.axes.empty())
            continue;
        auto &over = table[rules.withoutRanks(item.name)];
        if (stateA)
            over.first.states.emplace_back(rank, numbers.of(*stateA));
        if (stateB)
            over.second.states.emplace_back(rank, numbers.of(*stateB));
    }
    addOverRanks(table, facts);
    return facts;
}

} // namespace forkpoint
