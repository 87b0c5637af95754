// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/pairing/pairing.h"

#include "model/pairing/name_pairing.h"
#include "model/pairing/optimizer_pairing.h"
#include "model/pairing/pairing_affix.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace forkpoint {

namespace {

std::string renamed(std::string name, const std::vector<RenameRule> &rules)
{
    for (const RenameRule &rule : rules)
        name = rule.apply(name);
    return name;
}

using StateNameTable = std::unordered_map<std::size_t, StateNames::Name>;

template <class Item>
std::vector<PairingCandidate> candidatesOf(const std::vector<Item> &items,
                                           const PairingOptions &options,
                                           const StateNameTable &states)
{
    static const KeyPath NoPath; // the path of a numbered state says nothing to the other side
    std::vector<PairingCandidate> result;
    result.reserve(items.size());
    for (std::size_t i = 0; i < items.size(); ++i) {
        const auto state = states.find(i);
        const bool isState = state != states.end();
        std::string name =
            renamed(isState ? state->second.logical : items[i].name, options.renames);
        const bool ownName = name == items[i].name;
        result.push_back(
            {i, std::move(name), isState ? &NoPath : &items[i].path, items[i].stateClass, ownName});
    }
    return result;
}

/// Rules that change no name of either side, as they find it.
std::vector<std::string> idleRules(const Catalog &a, const Catalog &b,
                                   const PairingOptions &options)
{
    std::vector<std::string> idle;
    for (std::size_t i = 0; i < options.renames.size(); ++i) {
        const std::vector<RenameRule> before(options.renames.begin(),
                                             options.renames.begin() + std::ptrdiff_t(i));
        const auto changes = [&](const auto &items) {
            return std::any_of(items.begin(), items.end(), [&](const auto &item) {
                const std::string name = renamed(item.name, before);
                return options.renames[i].apply(name) != name;
            });
        };
        if (!changes(a.tensors) && !changes(b.tensors) && !changes(a.values) && !changes(b.values))
            idle.push_back(options.renames[i].toString());
    }
    return idle;
}

bool selected(std::string_view name, StateClass stateClass, const PairingOptions &options)
{
    return passesGlobs(name, options)
        && (!options.scope
            || std::find(options.scope->begin(), options.scope->end(), stateClass)
                != options.scope->end());
}

/// The class of a pair whose sides the rules class differently, whichever side is called A: what is
/// known, and state rather than context, so that no difference is overlooked.
StateClass commonClass(StateClass a, StateClass b)
{
    const auto rank = [](StateClass c) {
        return std::tuple(isContext(c), c == StateClass::Unknown, c);
    };
    return std::min(a, b, [&](StateClass l, StateClass r) { return rank(l) < rank(r); });
}

template <class Pair>
Pair pairOf(const PairingCandidate *a, const PairingCandidate *b)
{
    Pair pair;
    const PairingCandidate &item = a ? *a : *b;
    pair.name = item.name;
    pair.stateClass = a && b ? commonClass(a->stateClass, b->stateClass) : item.stateClass;
    if (a)
        pair.a = a->index;
    if (b)
        pair.b = b->index;
    return pair;
}

/// Takes out of both lists what has one path on both sides, whatever number its display name got
/// among equal names of its file.
template <class Pair>
std::vector<Pair> pairByPath(std::vector<PairingCandidate> &a, std::vector<PairingCandidate> &b)
{
    const auto byPath = [](const KeyPath *left, const KeyPath *right) { return *left < *right; };
    std::multimap<const KeyPath *, const PairingCandidate *, decltype(byPath)> ofB(byPath);
    for (const PairingCandidate &item : b)
        ofB.emplace(item.path, &item);
    std::vector<Pair> pairs;
    std::vector<PairingCandidate> restA, restB;
    std::set<const PairingCandidate *> taken;
    for (const PairingCandidate &item : a) {
        const auto found = item.path->keys.empty() ? ofB.end() : ofB.find(item.path);
        if (found == ofB.end()) {
            restA.push_back(item);
            continue;
        }
        pairs.push_back(pairOf<Pair>(&item, found->second));
        taken.insert(found->second);
        ofB.erase(found);
    }
    for (const PairingCandidate &item : b) {
        if (!taken.contains(&item))
            restB.push_back(item);
    }
    a = std::move(restA);
    b = std::move(restB);
    return pairs;
}

/// Whether a neighbour in a list sorted by name bears the same name: after a rename rule, or where
/// the paths behind equal display names have no partner of their own.
bool bearsSeveral(const std::vector<PairingCandidate> &sorted, std::size_t i)
{
    return (i > 0 && sorted[i - 1].name == sorted[i].name)
        || (i + 1 < sorted.size() && sorted[i + 1].name == sorted[i].name);
}

/// Whether the lists are the same, item by item, with names that rise: the usual case, in which
/// nothing needs to be looked up.
bool inStep(const std::vector<PairingCandidate> &a, const std::vector<PairingCandidate> &b)
{
    if (a.size() != b.size())
        return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const bool rises = i == 0 || a[i - 1].name < a[i].name;
        if (!rises || a[i].name != b[i].name || a[i].path->keys.empty() || *a[i].path != *b[i].path)
            return false;
    }
    return true;
}

template <class Pair>
std::vector<Pair> merge(std::vector<PairingCandidate> a, std::vector<PairingCandidate> b,
                        bool affixTaken, bool strict)
{
    std::vector<Pair> pairs;
    if (!affixTaken && inStep(a, b)) {
        pairs.reserve(a.size());
        for (std::size_t i = 0; i < a.size(); ++i)
            pairs.push_back(pairOf<Pair>(&a[i], &b[i]));
        return pairs;
    }
    if (!affixTaken) // else the affix says that equal paths are not the same thing
        pairs = pairByPath<Pair>(a, b);
    const auto byName = [](const PairingCandidate &left, const PairingCandidate &right) {
        return std::tuple(std::string_view(left.name), !left.ownName, left.index)
            < std::tuple(std::string_view(right.name), !right.ownName, right.index);
    };
    std::sort(a.begin(), a.end(), byName);
    std::sort(b.begin(), b.end(), byName);
    std::size_t i = 0, j = 0;
    while (i < a.size() || j < b.size()) {
        const bool takeA = j == b.size() || (i < a.size() && a[i].name <= b[j].name);
        // Strictly, unlike paths that are displayed alike are two things, unless a rule renamed one.
        const bool apart = strict && i < a.size() && j < b.size() && a[i].ownName && b[j].ownName
            && a[i].name == b[j].name;
        const bool takeB = i == a.size() || (j < b.size() && b[j].name <= a[i].name && !apart);
        pairs.push_back(pairOf<Pair>(takeA ? &a[i] : nullptr, takeB ? &b[j] : nullptr));
        pairs.back().ambiguous = takeA && takeB && (bearsSeveral(a, i) || bearsSeveral(b, j));
        i += takeA ? 1u : 0u;
        j += takeB ? 1u : 0u;
    }
    const auto order = [](const Pair &left, const Pair &right) {
        return std::tuple(std::string_view(left.name), !(left.a && left.b), !left.a)
            < std::tuple(std::string_view(right.name), !(right.a && right.b), !right.a);
    };
    std::stable_sort(pairs.begin(), pairs.end(), order);
    std::vector<std::string *> names;
    for (Pair &pair : pairs)
        names.push_back(&pair.name);
    makeNamesUnique(std::move(names));
    std::stable_sort(pairs.begin(), pairs.end(), order);
    return pairs;
}

/// "A's number 3 is w by order, shape and count; B's number 7 is w ...", or nothing.
std::string stateReason(std::size_t a, std::size_t b, const StateNames &states)
{
    std::string text;
    for (const auto &[side, table, index] :
         {std::tuple("A", &states.a, a), std::tuple("B", &states.b, b)}) {
        if (const auto found = table->find(index); found != table->end())
            text += (text.empty() ? "" : "; ") + std::string(side) + "'s " + found->second.reason;
    }
    return text;
}

template <class Pair, class Item>
void explain(std::vector<Pair> &pairs, const std::vector<Item> &a, const std::vector<Item> &b,
             const Pairing &pairing, const StateNames &states)
{
    for (Pair &pair : pairs) {
        if (!pair.a || !pair.b)
            continue;
        const std::string &nameA = a[*pair.a].name, &nameB = b[*pair.b].name;
        const KeyPath &pathA = a[*pair.a].path, &pathB = b[*pair.b].path;
        if (pathA == pathB && (nameA == nameB || !pathA.keys.empty())) {
            pair.by = PairedBy::Exact;
        } else if (nameA == nameB) {
            pair.by = PairedBy::Name;
            pair.reason = "the same name, by other keys";
        } else if (std::string reason = stateReason(*pair.a, *pair.b, states); !reason.empty()) {
            pair.by = PairedBy::Parameter;
            pair.reason = std::move(reason);
        } else if (!pairing.affixA.empty() || !pairing.affixB.empty()) {
            const bool onA = !pairing.affixA.empty();
            pair.by = PairedBy::Affix;
            const bool onBoth = onA && !pairing.affixB.empty();
            pair.reason = "prefix '" + (onA ? pairing.affixA : pairing.affixB) + "' of "
                + (onBoth    ? "both sides"
                       : onA ? "A"
                             : "B")
                + " taken off";
            if (!pairing.otherAffix.empty()) {
                pair.ambiguous = true;
                pair.reason += "; prefix '" + pairing.otherAffix + "' would pair as many";
            }
        } else {
            pair.by = PairedBy::Rename;
            pair.reason = "'" + nameA + "' and '" + nameB + "' by a rename rule";
        }
        if (pair.ambiguous)
            pair.reason += std::string(pair.reason.empty() ? "" : "; ")
                + "several items of a side bear this name, so who met whom is a guess";
    }
}

/// That a file holds an empty container and nothing else is how its format says that it is empty.
void classEmptyFiles(std::vector<ValuePair> &pairs, const Catalog &a, const Catalog &b)
{
    for (ValuePair &pair : pairs) {
        if (pair.a && pair.b)
            continue;
        const ValueRef &value = pair.a ? a.values[*pair.a] : b.values[*pair.b];
        if (value.path.keys.empty() && value.value.type == ValueType::Empty)
            pair.stateClass = StateClass::Container;
    }
}

/// Two files with one array each and no name for it: the arrays meet whatever the files are called.
bool pairOnlyOnes(const Catalog &a, const Catalog &b, std::vector<TensorPair> &pairs)
{
    const bool unnamed = a.tensors.size() == 1 && b.tensors.size() == 1
        && a.tensors[0].path.keys.empty() && b.tensors[0].path.keys.empty();
    if (!unnamed || (pairs.size() == 1 && pairs[0].a && pairs[0].b))
        return false;
    TensorPair pair;
    pair.a = pair.b = 0;
    pair.name = a.tensors[0].name;
    pair.stateClass = a.tensors[0].stateClass;
    pair.by = PairedBy::OnlyOne;
    pair.reason = "each side is one array without a name";
    pairs = {pair};
    return true;
}

template <class Pair>
void select(std::vector<Pair> &pairs, const PairingOptions &options)
{
    std::erase_if(pairs,
                  [&](const Pair &pair) { return !selected(pair.name, pair.stateClass, options); });
}

/// A glob that matches nothing is likely misspelt: what it was to choose or leave out is not so.
std::vector<std::string> idleGlobs(const Pairing &pairing, const PairingOptions &options)
{
    std::vector<std::string> idle;
    for (const auto *globs : {&options.include, &options.exclude}) {
        for (const std::string &glob : *globs) {
            const auto matches = [&](const auto &pair) { return globMatches(glob, pair.name); };
            if (std::none_of(pairing.tensors.begin(), pairing.tensors.end(), matches)
                && std::none_of(pairing.values.begin(), pairing.values.end(), matches))
                idle.push_back(glob);
        }
    }
    return idle;
}

/// Tensors that a scope leaves out because nothing tells what they are.
std::size_t unclassifiedOutOf(const PairingOptions &options, const std::vector<TensorPair> &pairs)
{
    if (!options.scope)
        return 0;
    return std::size_t(std::count_if(pairs.begin(), pairs.end(), [&](const TensorPair &pair) {
        return pair.stateClass == StateClass::Unknown
            && !selected(pair.name, pair.stateClass, options);
    }));
}

} // namespace

std::string_view toString(PairedBy by)
{
    switch (by) {
    case PairedBy::Exact: return "exact";
    case PairedBy::Name: return "name";
    case PairedBy::Rename: return "rename";
    case PairedBy::Affix: return "affix";
    case PairedBy::Table: return "table";
    case PairedBy::Parameter: return "parameter";
    case PairedBy::Assembled: return "assembled";
    case PairedBy::Content: return "content";
    case PairedBy::OnlyOne: return "only-one";
    case PairedBy::Unpaired: return "";
    }
    return "";
}

bool passesGlobs(std::string_view name, const PairingOptions &options)
{
    const auto matches = [&](const std::string &glob) { return globMatches(glob, name); };
    return (options.include.empty()
            || std::any_of(options.include.begin(), options.include.end(), matches))
        && std::none_of(options.exclude.begin(), options.exclude.end(), matches);
}

Pairing pairCatalogs(const Catalog &a, const Catalog &b, const PairingOptions &options)
{
    Pairing pairing;
    const StateNames states = options.strict ? StateNames() : stateNamesAcross(a, b);
    PairingSides tensors{candidatesOf(a.tensors, options, states.a),
                         candidatesOf(b.tensors, options, states.b)};
    PairingSides values;
    if (!options.tensorsOnly)
        values = {candidatesOf(a.values, options, {}), candidatesOf(b.values, options, {})};
    pairing.idleRenames = idleRules(a, b, options);
    if (!options.strict)
        takeOffAffix(tensors, values, pairing);
    const bool affix = !pairing.affixA.empty() || !pairing.affixB.empty();
    pairing.tensors =
        merge<TensorPair>(std::move(tensors.a), std::move(tensors.b), affix, options.strict);
    pairing.values =
        merge<ValuePair>(std::move(values.a), std::move(values.b), affix, options.strict);
    explain(pairing.tensors, a.tensors, b.tensors, pairing, states);
    explain(pairing.values, a.values, b.values, pairing, {});
    if (!options.strict)
        pairByMeaning(pairing.tensors, a, b);
    pairOnlyOnes(a, b, pairing.tensors);
    classEmptyFiles(pairing.values, a, b);
    pairing.unclassifiedLeftOut = unclassifiedOutOf(options, pairing.tensors);
    pairing.idleGlobs = idleGlobs(pairing, options);
    select(pairing.tensors, options);
    select(pairing.values, options);
    bool onA = false, onB = false, both = false;
    for (const TensorPair &pair : pairing.tensors) {
        if (isContext(pair.stateClass) && !options.scope)
            continue; // it decides nothing, this neither
        onA |= pair.a.has_value();
        onB |= pair.b.has_value();
        both |= pair.a && pair.b;
    }
    pairing.anyNameInCommon = both || !onA || !onB;
    return pairing;
}

} // namespace forkpoint
