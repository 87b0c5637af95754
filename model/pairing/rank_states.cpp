// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/pairing/rank_states.h"

#include "model/resume/resume_rules.h"

#include <algorithm>

namespace forkpoint {

namespace {

constexpr const char *OfOneRank =
    "the state of one rank, and the two sides were written by unlike ranks";

/// How torch names a rank's part of a DTensor, and beside it how that was cut.
constexpr std::string_view LocalPart = "._local_tensor", Spec = "._spec";

/// Other classes have no state of ranks that a name alone tells; and they are the most tensors.
bool mayNameRank(const TensorRef &tensor)
{
    return tensor.stateClass == StateClass::Rng || tensor.stateClass == StateClass::Data;
}

/// By its name; without axes where the name has no rank.
template <class Item>
OwnerCoordinate namedRank(const Item &item)
{
    OwnerCoordinate rank = ResumeRules::builtin().ranksOf(item.name);
    std::sort(rank.axes.begin(), rank.axes.end()); // formats name the axes in unlike orders
    return rank;
}

/// Whether the name says so; a run of one process has generators of no rank.
template <class Item>
bool isNamedRanks(const Item &item)
{
    return item.stateClass == StateClass::Rng || !namedRank(item).axes.empty();
}

template <class Item>
void addNamed(const Item &item, std::set<OwnerCoordinate> &named)
{
    OwnerCoordinate rank = namedRank(item);
    if (!rank.axes.empty() || item.stateClass == StateClass::Rng)
        named.insert(std::move(rank));
}

/// What a value is called without its rank; empty where its name has none.
std::string_view partOf(const ValueRef &value)
{
    const std::size_t size = ResumeRules::builtin().withoutRanks(value.name).size();
    return size < value.name.size() ? std::string_view(value.name).substr(value.name.size() - size)
                                    : std::string_view();
}

/// All that wrote parts, of whatever tensor.
std::set<OwnerCoordinate> ranksOf(const Catalog &catalog)
{
    return {catalog.owners.begin(), catalog.owners.end()};
}

/// Whether a name is one of those DTensors, or says how it was cut.
bool isOfLocal(std::string_view name, const std::set<std::string_view> &locals)
{
    return !locals.empty() && locals.contains(name.substr(0, name.find(Spec)));
}

} // namespace

RankStates::RankStates(const Catalog &a, const Catalog &b, bool strict)
    : m_a(sideOf(a)),
      m_b(sideOf(b)),
      m_forms(a, b)
{
    m_isStrict = strict;
    // The same ranks may hold something alike here, which then is of no rank, and not there.
    m_unlikeOwners = m_a.owners != m_b.owners && ranksOf(a) != ranksOf(b);
    // A side that names no rank says nothing of how many there were.
    m_unlikeNames = !m_a.named.empty() && !m_b.named.empty() && m_a.named != m_b.named;
    if (m_unlikeOwners) {
        addOwnedParts(a, m_a);
        addOwnedParts(b, m_b);
    }
    if (m_unlikeOwners || m_a.named != m_b.named) {
        addNamedParts(a, m_a);
        addNamedParts(b, m_b);
    }
}

RankStates::Side RankStates::sideOf(const Catalog &catalog)
{
    Side side;
    for (const TensorRef &tensor : catalog.tensors) {
        if (tensor.owner < catalog.owners.size())
            side.owners.insert(catalog.owners[tensor.owner]);
        else if (mayNameRank(tensor))
            addNamed(tensor, side.named);
    }
    for (const ValueRef &value : catalog.values) {
        if (!isContext(value.stateClass)) // what a file says of itself is no rank's state
            addNamed(value, side.named);
    }
    return side;
}

/// The first keys are the rank's folder and the model in it.
void RankStates::addOwnedParts(const Catalog &catalog, Side &side)
{
    constexpr int MostKeys = 3;
    for (const TensorRef &tensor : catalog.tensors) {
        if (tensor.owner >= catalog.owners.size())
            continue;
        std::string_view name = tensor.name;
        if (name.ends_with(LocalPart)) {
            name.remove_suffix(LocalPart.size());
            side.locals.insert(name);
            side.parts.insert(name);
        }
        for (int keys = 0; keys < MostKeys && name.find('.') != name.npos; ++keys) {
            name.remove_prefix(name.find('.') + 1);
            side.parts.insert(name);
        }
    }
}

void RankStates::addNamedParts(const Catalog &catalog, Side &side)
{
    constexpr std::string_view Model = "model.";
    for (const ValueRef &value : catalog.values) {
        const std::string_view part = partOf(value);
        if (part.empty()) {
            side.wholes.insert(value.name);
            continue;
        }
        side.parts.insert(part);
        if (part.starts_with(Model))
            side.parts.insert(part.substr(Model.size()));
    }
}

bool RankStates::isOfRank(const TensorRef &tensor, const Side &side) const
{
    if (tensor.owner != NoOwner || isOfLocal(tensor.name, side.locals))
        return m_unlikeOwners;
    return m_unlikeNames && mayNameRank(tensor) && isNamedRanks(tensor);
}

bool RankStates::isOfRank(const ValueRef &value, const Side &side) const
{
    return isOfLocal(value.name, side.locals)
        || ((m_unlikeOwners || m_unlikeNames) && isNamedRanks(value));
}

template <class Item>
std::string RankStates::why(const Item *a, const Item *b) const
{
    if ((a && isOfRank(*a, m_a)) || (b && isOfRank(*b, m_b)))
        return OfOneRank;
    const auto inParts = [](const Item *one, const Item *other, const Side &others) {
        return one && !other && others.parts.contains(one->name);
    };
    if (inParts(a, b, m_b))
        return "B holds it in parts of ranks that no rule puts together";
    if (inParts(b, a, m_a))
        return "A holds it in parts of ranks that no rule puts together";
    return {};
}

std::string RankStates::whyNothing(const TensorRef *a, const TensorRef *b) const
{
    std::string reason = why(a, b);
    if (reason.empty() && !m_isStrict && (!a || !b) && (a || b))
        reason = m_forms.whyNoPartner(a ? *a : *b, a != nullptr);
    return reason;
}

std::string RankStates::whyNothing(const ValueRef *a, const ValueRef *b) const
{
    const auto isWhole = [](const ValueRef *one, const ValueRef *other, const Side &others) {
        const std::string_view part = one && !other ? partOf(*one) : std::string_view();
        return !part.empty() && others.wholes.contains(part);
    };
    return isWhole(a, b, m_b) || isWhole(b, a, m_a) ? OfOneRank : why(a, b);
}

} // namespace forkpoint
