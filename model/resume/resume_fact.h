// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>

namespace forkpoint {

/// Whether one checkpoint agrees with itself on a fact, and why. Nothing where there is nothing to
/// compare it with.
struct SelfCheck
{
    std::optional<bool> holds;
    std::string reason; ///< "scheduler 101, iteration 100"; "not read: 12 GB"
};

/// One line of what a resumed run needs: on both sides, or, of a checkpoint alone, on A.
struct ResumeFact
{
    std::string state; ///< "weights", "optimizer step", "generator", ...
    std::string name;  ///< of the item where it is one: "rng_state.cpu"
    std::string a, b;  ///< what it is, decoded where the bytes allow; empty where it is absent
    std::optional<bool> equal; ///< bit for bit; nothing where it was not compared
    std::string relation;      ///< how unlike ones are related: "B is 2 draws ahead"
    SelfCheck checkA, checkB;

    /// A checkpoint does not agree with itself.
    bool contradicts() const { return checkA.holds == false || checkB.holds == false; }
    /// What people look at first: the sides differ, or one contradicts itself.
    bool isTelling() const { return equal == false || contradicts(); }
};

} // namespace forkpoint
