// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/value.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace forkpoint {

/// Gathers a long list of plain numbers into the one value that stands for it (see Value::digest).
class NumberFold
{
public:
    void addInteger(std::int64_t value) { m_numbers.push_back({std::uint64_t(value), false}); }
    void addReal(double value);
    /// Its data are the numbers as integers where all are whole, floats too: so a list of integers
    /// is found equal to one of floats by value. Nothing where a float is among integers that a float cannot hold: they would be rounded.
    std::optional<Value> value() const;

private:
    struct Number
    {
        std::uint64_t bits = 0;
        bool isReal = false;
    };
    std::vector<Number> m_numbers;
    bool m_anyReal = false;
};

} // namespace forkpoint
