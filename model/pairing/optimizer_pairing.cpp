// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/pairing/optimizer_pairing.h"

#include "model/pairing/optimizer_names.h"

#include <algorithm>
#include <unordered_set>

namespace forkpoint {

namespace {

std::string logicalName(const OptimizerNames &names, const std::string &parameter,
                        const std::string &slot)
{
    const std::string root = names.root.toString();
    return root + (root.empty() ? "" : ".") + "state." + parameter + "." + slot;
}

using Renamed = std::unordered_map<TensorIndex, StateNames::Name>;

Renamed renamedBy(const Catalog &catalog, const OptimizerNames &names, bool withModel)
{
    Renamed result;
    for (TensorIndex i = 0; i < catalog.tensors.size(); ++i) {
        const auto state = numberedState(catalog.tensors[i].path, names.root);
        if (!state)
            continue;
        const auto found = names.parameters.find(state->number);
        if (found == names.parameters.end())
            continue;
        const std::string parameter = (withModel ? names.model : std::string()) + found->second;
        result[i] = {logicalName(names, parameter, state->slot),
                     "number " + std::to_string(state->number) + " is " + parameter + " "
                         + names.reason};
    }
    return result;
}

bool hasNumbers(const Catalog &catalog, const KeyPath &root)
{
    return std::any_of(
        catalog.tensors.begin(), catalog.tensors.end(),
        [&](const TensorRef &tensor) { return numberedState(tensor.path, root).has_value(); });
}

const OptimizerNames *sameRoot(const std::vector<OptimizerNames> &all, const KeyPath &root)
{
    const auto found = std::find_if(
        all.begin(), all.end(), [&](const OptimizerNames &names) { return names.root == root; });
    return found == all.end() ? nullptr : &*found;
}

/// Names for a side whose other side bears names already: those that most of them meet.
Renamed namesLikeThere(const Catalog &here, const OptimizerNames &names, const Catalog &there)
{
    if (hasNumbers(there, names.root))
        return {};
    std::unordered_set<std::string_view> known;
    for (const TensorRef &tensor : there.tensors)
        known.insert(tensor.name);
    for (const bool withModel : {false, true}) {
        Renamed renamed = renamedBy(here, names, withModel);
        const auto met = std::count_if(renamed.begin(), renamed.end(), [&](const auto &entry) {
            return known.contains(entry.second.logical);
        });
        if (std::size_t(met) * 2 > renamed.size())
            return renamed;
    }
    return {};
}

} // namespace

StateNames stateNamesAcross(const Catalog &a, const Catalog &b)
{
    const std::vector<OptimizerNames> ofA = optimizerNames(a), ofB = optimizerNames(b);
    StateNames result;
    for (const OptimizerNames &names : ofA) {
        const OptimizerNames *other = sameRoot(ofB, names.root);
        if (!other) {
            result.a.merge(namesLikeThere(a, names, b));
        } else if (other->parameters != names.parameters) {
            result.a.merge(renamedBy(a, names, false));
            result.b.merge(renamedBy(b, *other, false));
        }
    }
    for (const OptimizerNames &names : ofB) {
        if (!sameRoot(ofA, names.root))
            result.b.merge(namesLikeThere(b, names, a));
    }
    return result;
}

} // namespace forkpoint
