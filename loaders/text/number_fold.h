// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/value.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace forkpoint {

/// Gathers a long list of plain numbers into the one value that stands for it (see Value::digest
/// and FoldedNumbers).
class NumberFold
{
public:
    void addInteger(std::int64_t value);
    void addReal(double value);
    /// Nothing where a float is among integers that a float cannot hold: they would be rounded.
    std::optional<Value> value() const;

private:
    struct Number
    {
        std::uint64_t bits = 0;
        bool isReal = false;
    };

    std::string kinds() const;

    std::vector<Number> m_numbers;
    bool m_anyReal = false;
    bool m_anyInteger = false;
};

} // namespace forkpoint
