// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/pairing/permutation_text.h"

#include "model/format.h"
#include "model/text/text.h"

#include <algorithm>

namespace forkpoint {

namespace {

constexpr std::size_t ShownRuns = 12;

bool names(const std::string &name, std::initializer_list<std::string_view> words)
{
    const std::string lower = lowered(name);
    return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
        return lower.find(word) != std::string::npos;
    });
}

} // namespace

std::string permutationMeaning(const std::string &name, const PermutationForm &form, Index rows)
{
    using Kind = PermutationForm::Kind;
    const std::string blocks = counted(form.block, "row", "rows");
    switch (form.kind) {
    case Kind::Regrouped: break;
    case Kind::Grouped:
        return "queries, keys and values one after the other in A, by group of heads in B: "
            + counted(form.outer, "group", "groups") + " of "
            + counted(form.inner, "query", "queries") + ", heads of " + blocks;
    case Kind::Ungrouped:
        return "queries, keys and values by group of heads in A, one after the other in B: "
            + counted(form.outer, "group", "groups") + " of "
            + counted(form.inner, "query", "queries") + ", heads of " + blocks;
    case Kind::Identity:
    case Kind::Other: return "the same rows in another order";
    }
    const bool isWhole = form.period == rows;
    if (isWhole && names(name, {"qkv", "query_key_value", "c_attn", "wqkv"})
        && (form.outer == 3 || form.inner == 3)) {
        const bool blocksInA = form.outer == 3;
        return std::string("queries, keys and values ")
            + (blocksInA ? "in blocks in A, by head in B" : "by head in A, in blocks in B") + ": "
            + counted(blocksInA ? form.inner : form.outer, "head", "heads") + " of " + blocks;
    }
    if (isWhole && names(name, {"fc1", "gate_up", "gate_proj", "w1", "w13", "up_proj"})
        && (form.outer == 2 || form.inner == 2)) {
        const bool blocksInA = form.outer == 2;
        return std::string("gate and up ")
            + (blocksInA ? "one after the other in A, by shard in B"
                         : "by shard in A, one after the other in B")
            + ": " + counted(blocksInA ? form.inner : form.outer, "shard", "shards") + " of "
            + blocks + " each";
    }
    if (!isWhole && form.block == 1 && (form.outer == 2 || form.inner == 2)) {
        const std::string pairs = "pairs", halves = "halves";
        if (form.outer == form.inner)
            return "rotary embedding in pairs against halves, heads of "
                + counted(form.period, "row", "rows");
        return "rotary embedding in " + (form.outer == 2 ? halves : pairs) + " in A, in "
            + (form.outer == 2 ? pairs : halves) + " in B, heads of "
            + counted(form.period, "row", "rows");
    }
    return "blocks of " + blocks + " seen as [" + std::to_string(form.outer) + "]["
        + std::to_string(form.inner) + "] in A stand as [" + std::to_string(form.inner) + "]["
        + std::to_string(form.outer) + "] in B"
        + (isWhole ? "" : ", in each group of " + counted(form.period, "row", "rows"));
}

std::string permutationMapText(const std::vector<Index> &map, const PermutationForm &form,
                               std::string_view what)
{
    const bool repeats = form.period < map.size();
    const std::vector<Index> part(map.begin(),
                                  map.begin() + std::ptrdiff_t(repeats ? form.period : map.size()));
    return "B's " + std::string(what) + " are A's " + rowRuns(part, ShownRuns)
        + (repeats ? " in each group of " + std::to_string(form.period) : "");
}

} // namespace forkpoint
