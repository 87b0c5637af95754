// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace forkpoint {

/// A value of the small part of Python that .npy headers are written in.
struct PythonLiteral
{
    enum class Kind : std::uint8_t { None, Bool, Integer, Text, Tuple, List, Dictionary };

    Kind kind = Kind::None;
    bool boolean = false;
    std::int64_t integer = 0;
    std::string text;
    std::vector<PythonLiteral> items; ///< of a tuple or list; the values of a dictionary
    std::vector<std::string> keys;    ///< of a dictionary, as many as items

    bool isSequence() const { return kind == Kind::Tuple || kind == Kind::List; }
    const PythonLiteral *find(std::string_view key) const;
    /// As Python would print it.
    std::string toString() const;
};

/// Parses one literal: None, True, False, integers of 64 bits (also "10L"), texts, tuples, lists,
/// dictionaries with text keys, no key twice; white space around it and nothing else. At most
/// `depth` levels. Nothing is ever evaluated. Errors carry the byte.
Result<PythonLiteral> parsePythonLiteral(std::string_view text, std::size_t depth);

} // namespace forkpoint
