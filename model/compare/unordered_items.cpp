// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/compare/unordered_items.h"

#include "model/compare/deciding_row.h"
#include "model/format.h"
#include "model/traces/trace_stage.h"

#include <algorithm>
#include <vector>

namespace forkpoint {

std::string unorderedBeside(const CheckpointComparison &comparison, const FirstDivergence &first)
{
    constexpr std::size_t Shown = 8;
    const auto isFirst = [&](const TensorRow &row) { return row.name == first.name; };
    const auto shown = std::find_if(comparison.tensors.begin(), comparison.tensors.end(), isFirst);
    if (shown != comparison.tensors.end() && shown->executionOrder != NoOrder)
        return {};
    std::vector<std::string> names;
    std::uint64_t count = 0;
    for (const TensorRow &row : comparison.tensors) {
        if (isFirst(row) || !decides(row) || isInChain(stageOf(row)))
            continue;
        ++count;
        if (names.size() < Shown)
            names.push_back(row.name);
    }
    if (count == 0)
        return {};
    std::string text = " Whether it is the first is not known: of "
        + counted(count, "more tensor that differs or has no partner",
                  "more tensors that differ or have no partner")
        + " neither order nor stage is recorded: ";
    for (std::size_t i = 0; i < names.size(); ++i)
        text += (i > 0 ? ", " : "") + names[i];
    return text + (count > names.size() ? " and " + grouped(count - names.size()) + " more" : "")
        + ".";
}

} // namespace forkpoint
