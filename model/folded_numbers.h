// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/value.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace forkpoint {

/// What Value::data keeps of a long list of numbers, which is one value: two lines of text, then the
/// integers as bytes of int64, little-endian, where they are kept.
struct FoldedNumbers
{
    /// "int" or "float", or of a mixed list the SHA-256 (hex) of one letter a number, i or f. The
    /// digest of the list alone does not tell 1.0 from the integer 4607182418800017408.
    std::string kinds;
    /// SHA-256 (hex) of all as int64, little-endian, where all are whole; else empty. By it lists of
    /// integers and of floats are equal by value, however long.
    std::string asIntegers;

    std::string toData(std::string_view integers = {}) const;
};

/// The first line of the data of such a list; empty for any other value.
std::string_view foldedKinds(const Value &value);
/// The second line of the data of such a list; empty for any other value.
std::string_view foldedAsIntegers(const Value &value);
/// Both lines, each with its line feed; empty for any other value.
std::string_view foldedFacts(const Value &value);
/// The members of a list that are kept; empty for any other value, and where they are not kept.
std::vector<std::int64_t> foldedIntegers(const Value &value);

} // namespace forkpoint
