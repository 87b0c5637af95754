// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/catalog.h"
#include "model/result.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace forkpoint {

/// By which rule two items met.
enum class PairedBy {
    Exact,     ///< the same path
    Name,      ///< the same name of unlike paths: one file nests what the other writes with dots
    Rename,    ///< the same name after a rename rule of the user
    Affix,     ///< the same name after a common prefix was taken off one side or both
    Table,     ///< what the two names say is one thing in the words of two frameworks
    Parameter, ///< state of the same parameter, which the two optimizers number unlike
    Assembled, ///< the parts of ranks, put together by a rule, against the whole
    Content,   ///< unpaired on both sides, equal dtype, shape and bytes, unique on both
    OnlyOne,   ///< each side has exactly one tensor without a name of its own
    Unpaired,  ///< on one side only
};

std::string_view toString(PairedBy by); // "exact", ...; Unpaired has none

/// s/old/new/: replaces the first occurrence of a literal text in a name; ^ and $ at the ends of
/// `old` anchor it.
struct RenameRule
{
    std::string from, to;
    bool atStart = false, atEnd = false;

    static Result<RenameRule> parse(std::string_view text); ///< any separator after the s
    std::string apply(std::string_view name) const;
    std::string toString() const; ///< as parse() reads it, with / where that does not occur
};

struct PairingOptions
{
    bool strict = false;              ///< exact paths and rename rules only
    bool raw = false;                 ///< each side's tensors as its files list them
    std::vector<RenameRule> renames;  ///< applied to the names of both sides, in order
    std::vector<std::string> include; ///< globs over logical names; empty: everything
    std::vector<std::string> exclude;
    std::optional<std::vector<StateClass>> scope; ///< classes; nothing: every class
    bool tensorsOnly = false;
};

template <class Position>
struct ItemPair
{
    std::optional<Position> a, b;
    std::string name; ///< the logical name
    StateClass stateClass = StateClass::Unknown;
    PairedBy by = PairedBy::Unpaired;
    std::string reason;     ///< for people: "prefix 'module.' of B taken off"
    bool ambiguous = false; ///< several of one side bear the name: who met whom is a guess
};

using TensorPair = ItemPair<TensorIndex>;
using ValuePair = ItemPair<std::size_t>;

/// Who meets whom. Sorted by logical name; nothing that include, exclude or scope leaves out.
struct Pairing
{
    std::vector<TensorPair> tensors;
    std::vector<ValuePair> values;
    std::string affixA, affixB;           ///< what was taken off each side's names, usually empty
    std::string otherAffix;               ///< another prefix that would have paired as many
    std::vector<std::string> idleRenames; ///< rules that changed no name of either side
    std::vector<std::string> idleGlobs;   ///< of include and exclude: those that match no name
    std::size_t unclassifiedLeftOut = 0;  ///< tensors of no known class that the scope leaves out
    bool anyNameInCommon = false;         ///< of the tensors in scope (true when a side has none)
};

/// Whether --include and --exclude let a name through.
bool passesGlobs(std::string_view name, const PairingOptions &options);

Pairing pairCatalogs(const Catalog &a, const Catalog &b, const PairingOptions &options);

} // namespace forkpoint
