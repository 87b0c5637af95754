// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/name_pairing.h"

#include "model/optimizer_names.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace forkpoint {

namespace {

/// `logical` is the tensor's name as rename rules and prefixes have left it.
ParameterName nameOf(const TensorRef &tensor, const std::string &logical,
                     const std::vector<OptimizerNames> &optimizers)
{
    const ParameterNames &table = ParameterNames::instance();
    const std::string parameter = tensor.stateClass == StateClass::Optimizer
        ? parameterOf(tensor.path, optimizers)
        : std::string();
    if (parameter.empty())
        return table.read(logical);
    ParameterName name = table.read(parameter);
    name.slot = tensor.path.keys.back().toString();
    return name;
}

struct Meeting
{
    std::vector<std::size_t> a, b; ///< rows of one side only
};

using Key = std::tuple<StateClass, std::string, std::string>; ///< class, slot, what is said
using Meetings = std::map<Key, Meeting>;

std::string reasonOf(const ParameterName &a, const ParameterName &b, bool byMeaning)
{
    const std::string slot = a.slot.empty() ? "" : a.slot + " of ";
    if (!byMeaning)
        return "both are " + slot + "'" + a.bare + "' without wrappers and prefixes";
    return "both are " + slot + "'" + a.meaning + "': " + a.family + "'s name in A, " + b.family
        + "'s in B";
}

std::vector<ParameterName> namesOf(const std::vector<TensorPair> &pairs, const Catalog &a,
                                   const Catalog &b)
{
    const std::vector<OptimizerNames> ofA = optimizerNames(a), ofB = optimizerNames(b);
    std::vector<ParameterName> names(pairs.size());
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        const TensorPair &pair = pairs[i];
        if (pair.a.has_value() != pair.b.has_value())
            names[i] = pair.a ? nameOf(a.tensors[*pair.a], pair.name, ofA)
                              : nameOf(b.tensors[*pair.b], pair.name, ofB);
    }
    return names;
}

/// A row that loses its tensor to its partner is left with neither.
void pairBy(std::string ParameterName::*said, std::vector<TensorPair> &pairs,
            const std::vector<ParameterName> &names)
{
    Meetings meetings;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        if (pairs[i].a.has_value() == pairs[i].b.has_value() || (names[i].*said).empty())
            continue;
        Meeting &meeting = meetings[{pairs[i].stateClass, names[i].slot, names[i].*said}];
        (pairs[i].a ? meeting.a : meeting.b).push_back(i);
    }
    const bool byMeaning = said == &ParameterName::meaning;
    for (const auto &[key, meeting] : meetings) {
        if (meeting.a.size() != 1 || meeting.b.size() != 1)
            continue;
        const std::size_t a = meeting.a.front(), b = meeting.b.front();
        pairs[a].b = std::exchange(pairs[b].b, std::nullopt);
        pairs[a].by = byMeaning ? PairedBy::Table : PairedBy::Affix;
        pairs[a].reason = reasonOf(names[a], names[b], byMeaning);
    }
}

} // namespace

std::vector<ParameterName> parameterNamesOf(const Catalog &catalog)
{
    const std::vector<OptimizerNames> optimizers = optimizerNames(catalog);
    std::vector<ParameterName> names;
    names.reserve(catalog.tensors.size());
    for (const TensorRef &tensor : catalog.tensors)
        names.push_back(nameOf(tensor, tensor.name, optimizers));
    return names;
}

void pairByMeaning(std::vector<TensorPair> &pairs, const Catalog &a, const Catalog &b)
{
    const auto isLeft = [&](std::optional<TensorIndex> TensorPair::*here,
                            std::optional<TensorIndex> TensorPair::*there) {
        return std::any_of(pairs.begin(), pairs.end(), [&](const TensorPair &pair) {
            return (pair.*here).has_value() && !(pair.*there).has_value();
        });
    };
    if (!isLeft(&TensorPair::a, &TensorPair::b) || !isLeft(&TensorPair::b, &TensorPair::a))
        return;
    const std::vector<ParameterName> names = namesOf(pairs, a, b);
    pairBy(&ParameterName::bare, pairs, names);
    pairBy(&ParameterName::meaning, pairs, names);
    std::erase_if(pairs, [](const TensorPair &pair) { return !pair.a && !pair.b; });
}

} // namespace forkpoint
