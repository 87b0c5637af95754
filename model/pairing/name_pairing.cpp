// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/pairing/name_pairing.h"

#include "model/pairing/optimizer_names.h"

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
    std::vector<std::size_t> a, b; ///< rows that hold a tensor of the side, alone or with a partner
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

struct RowNames
{
    ParameterName a, b; ///< empty where the row has no tensor of the side
};

std::vector<RowNames> namesOf(const std::vector<TensorPair> &pairs, const Catalog &a,
                              const Catalog &b)
{
    const std::vector<OptimizerNames> ofA = optimizerNames(a), ofB = optimizerNames(b);
    std::vector<RowNames> names(pairs.size());
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        const TensorPair &pair = pairs[i];
        if (pair.a)
            names[i].a = nameOf(a.tensors[*pair.a], pair.name, ofA);
        if (pair.b)
            names[i].b = nameOf(b.tensors[*pair.b], pair.name, ofB);
    }
    return names;
}

/// Who has a partner counts: what a side holds twice says of neither whom it meets. A row that loses
/// its tensor to its partner is left with neither.
void pairBy(std::string ParameterName::*said, std::vector<TensorPair> &pairs,
            std::vector<RowNames> &names)
{
    Meetings meetings;
    const auto add = [&](std::size_t row, const ParameterName &name,
                         std::vector<std::size_t> Meeting::*side) {
        if (!(name.*said).empty())
            (meetings[{pairs[row].stateClass, name.slot, name.*said}].*side).push_back(row);
    };
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        add(i, names[i].a, &Meeting::a);
        add(i, names[i].b, &Meeting::b);
    }
    const bool byMeaning = said == &ParameterName::meaning;
    for (const auto &[key, meeting] : meetings) {
        if (meeting.a.size() != 1 || meeting.b.size() != 1)
            continue;
        const std::size_t a = meeting.a.front(), b = meeting.b.front();
        if (pairs[a].b || pairs[b].a)
            continue;
        pairs[a].b = std::exchange(pairs[b].b, std::nullopt);
        pairs[a].by = byMeaning ? PairedBy::Table : PairedBy::Affix;
        pairs[a].reason = reasonOf(names[a].a, names[b].b, byMeaning);
        names[a].b = std::exchange(names[b].b, {});
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
    std::vector<RowNames> names = namesOf(pairs, a, b);
    pairBy(&ParameterName::bare, pairs, names);
    pairBy(&ParameterName::meaning, pairs, names);
    std::erase_if(pairs, [](const TensorPair &pair) { return !pair.a && !pair.b; });
}

} // namespace forkpoint
