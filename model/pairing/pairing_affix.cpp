// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/pairing/pairing_affix.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace forkpoint {

namespace {

/// Every way to cut `name` in front of a key: "a.b.c" gives "b.c" (prefix "a.") and "c" ("a.b.").
template <class Visit>
void forEachSuffix(std::string_view name, Visit visit)
{
    for (std::size_t dot = name.find('.'); dot != std::string_view::npos;
         dot = name.find('.', dot + 1))
        visit(name.substr(0, dot + 1), name.substr(dot + 1));
}

std::size_t countCommon(const std::vector<PairingCandidate> &a,
                        const std::set<std::string_view> &names, std::string_view prefix)
{
    std::size_t common = 0;
    for (const PairingCandidate &item : a) {
        std::string_view name = item.name;
        if (name.starts_with(prefix) && names.contains(name.substr(prefix.size())))
            ++common;
    }
    return common;
}

/// The prefix which, taken off names of `with`, makes the most of them equal to names of `without`.
struct Affix
{
    std::string prefix;
    std::size_t common = 0;
    std::string other; ///< another one that does as much, where nothing tells which is meant
};

/// A copy of the weights lies beside averaged ones under the same names: the model itself is meant.
int affixRank(std::string_view prefix)
{
    for (const std::string_view model : {"model.", "module.", "state_dict.", "model_state_dict."}) {
        if (prefix.ends_with(model))
            return 0;
    }
    return prefix.find("ema") == std::string_view::npos ? 1 : 2;
}

Affix bestAffix(const std::vector<PairingCandidate> &with,
                const std::vector<PairingCandidate> &without)
{
    std::set<std::string_view> names;
    for (const PairingCandidate &item : without)
        names.insert(item.name);
    std::map<std::string_view, std::size_t> votes;
    for (const PairingCandidate &item : with) {
        forEachSuffix(item.name, [&](std::string_view prefix, std::string_view rest) {
            if (names.contains(rest))
                ++votes[prefix];
        });
    }
    Affix best;
    // Ties go to the model's own prefix, then to the shorter one: it claims less.
    const auto claim = [](std::string_view prefix) {
        return std::tuple(affixRank(prefix), prefix.size(), prefix);
    };
    for (const auto &[prefix, count] : votes) {
        if (count > best.common || (count == best.common && claim(prefix) < claim(best.prefix)))
            best = {std::string(prefix), count, {}};
    }
    for (const auto &[prefix, count] : votes) {
        if (count == best.common && prefix != best.prefix
            && affixRank(prefix) == affixRank(best.prefix))
            best.other = prefix;
    }
    return best;
}

void takeOff(std::vector<PairingCandidate> &items, std::string_view prefix)
{
    for (PairingCandidate &item : items) {
        if (!std::string_view(item.name).starts_with(prefix))
            continue;
        item.name.erase(0, prefix.size());
        item.ownName = false;
    }
}

} // namespace

void takeOffAffix(PairingSides &tensors, PairingSides &values, Pairing &pairing)
{
    std::set<std::string_view> names;
    for (const PairingCandidate &item : tensors.b)
        names.insert(item.name);
    const std::size_t plain = countCommon(tensors.a, names, "");
    if (plain == std::min(tensors.a.size(), tensors.b.size()))
        return; // nothing can pair more
    const Affix ofA = bestAffix(tensors.a, tensors.b), ofB = bestAffix(tensors.b, tensors.a);
    if (std::max(ofA.common, ofB.common) <= plain)
        return;
    // A tie must not depend on which side is called A: the shorter prefix, then the alphabet; one
    // prefix that both sides carry in part is taken off both.
    const auto claim = [](const Affix &affix) {
        return std::tuple(affix.prefix.size(), std::string_view(affix.prefix));
    };
    const bool tie = ofA.common == ofB.common;
    if (ofA.common > ofB.common || (tie && claim(ofA) <= claim(ofB))) {
        pairing.affixA = ofA.prefix;
        takeOff(tensors.a, ofA.prefix);
        takeOff(values.a, ofA.prefix);
        pairing.otherAffix = ofA.other;
    }
    if (ofB.common > ofA.common || (tie && claim(ofB) <= claim(ofA))) {
        pairing.affixB = ofB.prefix;
        takeOff(tensors.b, ofB.prefix);
        takeOff(values.b, ofB.prefix);
        if (!ofB.other.empty())
            pairing.otherAffix = ofB.other;
    }
}

} // namespace forkpoint
