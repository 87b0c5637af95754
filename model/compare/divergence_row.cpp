// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/compare/divergence_row.h"

#include <algorithm>
#include <string_view>

namespace forkpoint {

namespace {

/// Takes `key` and the dot behind it off the front of a path.
bool takeKey(std::string_view &path, std::string_view key)
{
    if (!path.starts_with(key))
        return false;
    if (path.size() == key.size())
        path = {};
    else if (path[key.size()] == '.')
        path.remove_prefix(key.size() + 1);
    else
        return false;
    return true;
}

bool isKeptOf(std::string_view path, const FirstDivergence &first)
{
    if (first.rank)
        takeKey(path, "rank_" + std::to_string(*first.rank)); // only where there are several
    if (!takeKey(path, first.stage))
        return false;
    if (first.microBatch && !takeKey(path, "micro_batch_" + std::to_string(*first.microBatch)))
        return false;
    if (!takeKey(path, first.name))
        return false;
    return first.call.value_or(0) > 0 ? takeKey(path, "call_" + std::to_string(*first.call))
                                      : !path.starts_with("call_");
}

/// A gradient that a trace recorded bears the name of its weight, and is not the weight.
bool isCalledSo(const TensorRow &row, const FirstDivergence &first)
{
    return row.name == first.name
        && (first.stage.empty() || first.stage == "restored" || stageOf(row) == first.stage);
}

} // namespace

const TensorRow *rowOfDivergence(const std::vector<TensorRow> &rows, const FirstDivergence &first)
{
    if (first.name.empty())
        return nullptr;
    auto found = std::find_if(rows.begin(), rows.end(),
                              [&](const TensorRow &row) { return isCalledSo(row, first); });
    if (found == rows.end() && !first.stage.empty()) {
        const auto isDifferingPart = [&](const TensorRow &row) {
            return row.status != ItemStatus::Identical && isKeptOf(row.name, first);
        };
        found = std::find_if(rows.begin(), rows.end(), isDifferingPart);
        if (found == rows.end()) // of a record of several tensors the one that differs leads
            found = std::find_if(rows.begin(), rows.end(),
                                 [&](const TensorRow &row) { return isKeptOf(row.name, first); });
    }
    return found == rows.end() ? nullptr : &*found;
}

} // namespace forkpoint
