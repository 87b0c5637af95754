// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>

namespace forkpoint {

/// Where in a step a stage stands by the chain: before the micro-batches (0), in one of them (1, and
/// which), or after them (2), and there by its causal place. No order of execution, which ranks do
/// not share: what is reduced over ranks stands behind.
using ChainPlace = std::tuple<int, std::int64_t, std::size_t>;

ChainPlace chainPlace(std::string_view stage, std::optional<std::int64_t> microBatch);

/// Between which places of its step a record stands: one and the same where its stage is in the chain.
struct StepSpan
{
    ChainPlace from{0, 0, 0}, to{3, 0, 0}; ///< anywhere

    bool operator==(const StepSpan &) const = default;
};

/// `last`: the place of the last record of the chain that its rank met before it in the same step.
StepSpan spanOf(std::string_view stage, std::optional<std::int64_t> microBatch,
                const std::optional<ChainPlace> &last);

/// Narrows what is open behind by a record that its rank met later. A later record of an earlier stage
/// shows that the chain does not tell this rank's order: then nothing is known.
void closeSpan(StepSpan &span, const ChainPlace &later);

enum class StepOrder : std::uint8_t {
    Before,
    Behind,
    Same,    ///< one place of the chain
    Unknown, ///< rule M8: there is no order over ranks but that of the chain
};

StepOrder orderOf(const StepSpan &x, const StepSpan &y);

} // namespace forkpoint
