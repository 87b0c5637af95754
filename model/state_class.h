// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/result.h"

namespace forkpoint {

/// What an item is to a training run. State decides the outcome of a comparison, context never does.
enum class StateClass : std::uint8_t {
    Weights,
    Optimizer,
    Scheduler,
    Counter,
    Rng,
    Data,
    Scaler, // state
    Recipe,
    Topology,
    Container,
    Bookkeeping, // context
    Unknown,     // treated as state
};

std::string_view toString(StateClass stateClass);
std::optional<StateClass> stateClassByName(std::string_view name);
bool isContext(StateClass stateClass);
/// All classes in display order.
const std::vector<StateClass> &allStateClasses();

/// One row of the rule table: the first row whose pattern matches a name decides.
struct StateClassRule
{
    std::string pattern; ///< glob over the dotted name: * any text, ? one character
    bool tensorsOnly = false;
    bool valuesOnly = false;
    StateClass stateClass = StateClass::Unknown;
    std::string reason;            ///< shown to the user
    std::uint64_t neededBytes = 0; ///< kinds of bytes that a matching name has, a bit each
};

/// An ordered rule table. Text form (resources/rules/state_classes.txt), one rule a line:
/// "class  [tensor|value|any]  pattern  reason ..."; '#' begins a comment line.
class StateClassRules
{
public:
    static const StateClassRules &builtin();
    static Result<StateClassRules> parse(std::string_view text);

    /// The deciding rule, or nullptr where none matches (class Unknown).
    const StateClassRule *match(std::string_view name, bool isTensor) const;
    StateClass classify(std::string_view name, bool isTensor) const;

private:
    std::vector<StateClassRule> m_rules;
};

/// Case-sensitive glob: * matches any text (dots too), ? one byte. Linear in the product of lengths.
bool globMatches(std::string_view pattern, std::string_view text);

} // namespace forkpoint
