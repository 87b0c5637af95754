// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/layout_findings.h"

#include "model/format.h"
#include "model/row_permutation.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

namespace forkpoint {

namespace {

constexpr std::uint64_t MostBytes = 32u << 20; ///< of one side of a pair, held in memory
constexpr std::size_t ShownRuns = 12;

std::string lowered(std::string text)
{
    std::transform(text.begin(), text.end(), text.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
    return text;
}

bool names(const std::string &name, std::initializer_list<std::string_view> words)
{
    const std::string lower = lowered(name);
    return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
        return lower.find(word) != std::string::npos;
    });
}

/// What a form usually is, where the name says of what.
std::string meaningOf(const std::string &name, const PermutationForm &form, Index rows)
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

std::string mapText(const std::vector<Index> &map, const PermutationForm &form,
                    std::string_view what)
{
    const bool repeats = form.period < map.size();
    const std::vector<Index> part(map.begin(),
                                  map.begin() + std::ptrdiff_t(repeats ? form.period : map.size()));
    return "B's " + std::string(what) + " are A's " + rowRuns(part, ShownRuns)
        + (repeats ? " in each group of " + std::to_string(form.period) : "");
}

class Look
{
public:
    Look(const CheckpointComparison &comparison, const TensorSource &a, const TensorSource &b,
         std::uint64_t budget, std::stop_token stop)
        : m_comparison(comparison),
          m_a(a),
          m_b(b),
          m_budget(budget),
          m_stop(std::move(stop))
    {
    }

    std::vector<Finding> take()
    {
        for (const TensorRow &row : m_comparison.tensors) {
            if (row.status == ItemStatus::Different && row.a && row.b && row.dtypeA == row.dtypeB
                && row.dtypeA.positionBits() % 8 == 0 && mayBePermuted(row))
                lookAt(row);
        }
        lookForStacks(true);
        lookForStacks(false);
        return std::move(m_findings);
    }

private:
    /// The same elements in another order have the same sums and counts.
    static bool mayBePermuted(const TensorRow &row)
    {
        if (row.shapeA != row.shapeB)
            return row.shapeA.rank() == row.shapeB.rank() && row.shapeA.rank() > 0;
        if (!row.stats || row.shapeA.rank() == 0 || row.stats->differentElements < 2)
            return false;
        const DiffStats &stats = *row.stats;
        if (stats.nanA != stats.nanB || stats.infA != stats.infB)
            return false;
        const auto a = stats.rmsA(), b = stats.rmsB();
        return a && b ? std::fabs(*a - *b) <= 1e-9 * std::max(*a, *b)
                      : a.has_value() == b.has_value();
    }

    std::optional<std::vector<std::byte>> read(const TensorSource &source, TensorIndex index)
    {
        const std::uint64_t bytes = source.catalog().tensors[index].bytes;
        if (bytes > MostBytes || bytes > m_budget || m_stop.stop_requested())
            return std::nullopt;
        m_budget -= bytes;
        std::vector<std::byte> data(std::size_t(bytes), std::byte(0));
        if (!source.read(index, 0, data))
            return std::nullopt;
        return data;
    }

    void add(std::string id, const TensorRow &row, std::string text)
    {
        m_findings.push_back({std::move(id),
                              Certainty::Is,
                              Severity::Note,
                              row.name + ": the same values in another layout: " + std::move(text),
                              {row.name}});
    }

    void lookAt(const TensorRow &row)
    {
        const std::size_t width = row.dtypeA.positionBits() / 8;
        const auto &dimsA = row.shapeA.dims, &dimsB = row.shapeB.dims;
        const bool crossed = dimsA.size() == 2 && dimsA[0] == dimsB[1] && dimsA[1] == dimsB[0];
        const bool padded = dimsA[0] != dimsB[0]
            && std::equal(dimsA.begin() + 1, dimsA.end(), dimsB.begin() + 1, dimsB.end());
        if (row.shapeA != row.shapeB && !crossed && !padded)
            return;
        const auto a = read(m_a, *row.a);
        if (!a || a->empty())
            return;
        const auto b = read(m_b, *row.b);
        if (!b || b->empty())
            return;
        if (crossed && transposed(*a, dimsA[0], dimsA[1], width) == *b)
            return add("same-values-transposed", row, "B is A transposed, bit for bit");
        if (padded)
            return lookAtPadding(row, *a, *b);
        if (row.shapeA != row.shapeB)
            return;
        if (const auto map = rowPermutation(*a, *b, std::size_t(a->size() / dimsA[0]))) {
            const PermutationForm form = formOf(*map);
            return add("same-rows-permuted", row,
                       meaningOf(row.name, form, map->size()) + "; "
                           + mapText(*map, form, row.shapeA.rank() == 1 ? "elements" : "rows"));
        }
        if (dimsA.size() != 2)
            return;
        const auto columnsA = transposed(*a, dimsA[0], dimsA[1], width);
        const auto columnsB = transposed(*b, dimsA[0], dimsA[1], width);
        if (const auto map = rowPermutation(columnsA, columnsB, std::size_t(dimsA[0] * width))) {
            const PermutationForm form = formOf(*map);
            add("same-columns-permuted", row,
                meaningOf({}, form, map->size()) + "; " + mapText(*map, form, "columns"));
        }
    }

    /// Rows beyond those of the other side: padding of a vocabulary to what the ranks divide.
    void lookAtPadding(const TensorRow &row, const std::vector<std::byte> &a,
                       const std::vector<std::byte> &b)
    {
        const std::size_t common = std::min(a.size(), b.size());
        if (common == 0 || std::memcmp(a.data(), b.data(), common) != 0)
            return;
        const bool longA = a.size() > b.size();
        const std::vector<std::byte> &longer = longA ? a : b;
        const bool zero = std::all_of(longer.begin() + std::ptrdiff_t(common), longer.end(),
                                      [](std::byte byte) { return byte == std::byte(0); });
        const Index rows = std::min(row.shapeA.dims[0], row.shapeB.dims[0]);
        const Index more = std::max(row.shapeA.dims[0], row.shapeB.dims[0]) - rows;
        m_findings.push_back({"padded-rows",
                              Certainty::Is,
                              Severity::Note,
                              row.name + ": the first " + counted(rows, "row is", "rows are")
                                  + " equal bit for bit; " + (longA ? "A" : "B") + " has "
                                  + counted(more, "row", "rows") + " more, "
                                  + (zero ? "all zero" : "not zero"),
                              {row.name}});
    }

    /// Tensors of one side that the other has as one, along a first axis of their own.
    void lookForStacks(bool stackInA)
    {
        const ItemStatus ofStack = stackInA ? ItemStatus::OnlyInA : ItemStatus::OnlyInB;
        const ItemStatus ofParts = stackInA ? ItemStatus::OnlyInB : ItemStatus::OnlyInA;
        std::map<std::pair<std::string, std::vector<Index>>, std::map<Index, const TensorRow *>>
            families;
        for (const TensorRow &row : m_comparison.tensors) {
            if (row.status != ofParts)
                continue;
            forEachNumber(row.name, [&](std::string family, Index number) {
                const Shape &shape = stackInA ? row.shapeB : row.shapeA;
                families[{std::move(family), shape.dims}].emplace(number, &row);
            });
        }
        for (const TensorRow &row : m_comparison.tensors) {
            const Shape &shape = stackInA ? row.shapeA : row.shapeB;
            if (row.status != ofStack || shape.rank() < 2 || shape.dims[0] < 2)
                continue;
            for (const auto &[key, members] : families) {
                if (members.size() == shape.dims[0] && isStackOf(shape, key.second)
                    && related(row.name, key.first) && lookAtStack(row, members, stackInA))
                    break;
            }
        }
    }

    template <class Visit>
    static void forEachNumber(const std::string &name, Visit visit)
    {
        for (std::size_t i = 0; i < name.size(); ++i) {
            const bool begins = name[i] >= '0' && name[i] <= '9' && (i == 0 || name[i - 1] == '.');
            std::size_t end = i;
            while (end < name.size() && name[end] >= '0' && name[end] <= '9')
                ++end;
            if (!begins || end - i > 6 || (end < name.size() && name[end] != '.'))
                continue;
            visit(name.substr(0, i) + "#" + name.substr(end), std::stoull(name.substr(i, end - i)));
        }
    }

    static bool isStackOf(const Shape &shape, const std::vector<Index> &part)
    {
        return std::equal(shape.dims.begin() + 1, shape.dims.end(), part.begin(), part.end());
    }

    /// The last words are alike: "experts.#.w1.weight" and "experts.w1".
    static bool related(const std::string &stack, const std::string &family)
    {
        std::string without = family;
        if (const auto at = without.find("#."); at != std::string::npos)
            without.erase(at, 2);
        return stack == without || stack.ends_with("." + without) || without.ends_with("." + stack)
            || without == stack + ".weight" || without.ends_with("." + stack + ".weight");
    }

    bool lookAtStack(const TensorRow &row, const std::map<Index, const TensorRow *> &members,
                     bool stackInA)
    {
        const TensorSource &source = stackInA ? m_a : m_b, &others = stackInA ? m_b : m_a;
        const auto stack = read(source, stackInA ? *row.a : *row.b);
        if (!stack || stack->empty())
            return false;
        const std::size_t part = stack->size() / members.size();
        std::size_t at = 0;
        for (const auto &[number, member] : members) {
            const auto data = read(others, stackInA ? *member->b : *member->a);
            if (!data || data->size() != part
                || std::memcmp(stack->data() + at, data->data(), part) != 0)
                return false;
            at += part;
        }
        Finding finding{"stacked",
                        Certainty::Is,
                        Severity::Note,
                        row.name + " of " + (stackInA ? "A" : "B") + " is "
                            + counted(members.size(), "tensor", "tensors") + " of "
                            + (stackInA ? "B" : "A")
                            + " stacked, bit for bit: " + members.begin()->second->name + " to "
                            + members.rbegin()->second->name,
                        {row.name}};
        for (const auto &[number, member] : members)
            finding.where.push_back(member->name);
        m_findings.push_back(std::move(finding));
        return true;
    }

    const CheckpointComparison &m_comparison;
    const TensorSource &m_a, &m_b;
    std::uint64_t m_budget;
    std::stop_token m_stop;
    std::vector<Finding> m_findings;
};

} // namespace

std::vector<Finding> layoutFindings(const CheckpointComparison &comparison, const TensorSource &a,
                                    const TensorSource &b, std::uint64_t budget,
                                    std::stop_token stop)
{
    return Look(comparison, a, b, budget, std::move(stop)).take();
}

} // namespace forkpoint
