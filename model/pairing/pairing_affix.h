// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/pairing/pairing.h"

#include <cstddef>
#include <string>
#include <vector>

namespace forkpoint {

/// One item of a catalogue on its way to a partner.
struct PairingCandidate
{
    std::size_t index = 0;
    std::string name; ///< logical: renamed, without an affix
    const KeyPath *path = nullptr;
    StateClass stateClass = StateClass::Unknown;
    bool ownName = true; ///< neither renamed nor without an affix: goes first among equal names
};

struct PairingSides
{
    std::vector<PairingCandidate> a, b;
};

/// Makes names of the two sides meet by a common prefix of one of them ("module."), where that pairs
/// more tensors than the plain names do: takes it off tensors and values, and says so in affixA, affixB
/// and otherAffix of the pairing.
void takeOffAffix(PairingSides &tensors, PairingSides &values, Pairing &pairing);

} // namespace forkpoint
