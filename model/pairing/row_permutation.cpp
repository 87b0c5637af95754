// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/pairing/row_permutation.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

namespace forkpoint {

namespace {

constexpr std::size_t MostRows = 1u << 21; ///< that are sorted
constexpr std::uint64_t Piece = 4u << 20;  ///< bytes between two looks at whether to stop

/// Tells rows apart; equal rows have equal ones.
std::uint64_t hashOf(const std::byte *row, std::size_t bytes)
{
    // Odd constants of splitmix64: each step is a bijection of the state.
    std::uint64_t hash = 0x9e3779b97f4a7c15u ^ bytes;
    for (std::size_t at = 0; at < bytes; at += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, row + at, std::min<std::size_t>(8, bytes - at));
        hash = (hash ^ word) * 0xbf58476d1ce4e5b9u;
        hash = (hash ^ (hash >> 31)) * 0x94d049bb133111ebu;
        hash ^= hash >> 29;
    }
    return hash;
}

/// Calls visit(hash of the row, row) in order. False where the search ended.
template <class Visit>
bool forEachRow(ByteView data, std::size_t rowBytes, LayoutSearch &search, Visit visit)
{
    std::uint64_t owed = 0;
    for (Index row = 0; row < data.size() / rowBytes; ++row) {
        owed += rowBytes;
        if (owed >= Piece && !search.spend(std::exchange(owed, 0)))
            return false;
        visit(hashOf(data.data() + row * rowBytes, rowBytes), row);
    }
    return search.spend(owed);
}

/// The same for any order of the rows.
struct RowSums
{
    std::uint64_t sum = 0, mixed = 0;
    void add(std::uint64_t hash)
    {
        sum += hash;
        mixed ^= hash * hash;
    }
    bool operator==(const RowSums &) const = default;
};

using HashedRow = std::pair<std::uint64_t, Index>;

/// By hash, then in order; nothing where the search ended.
std::optional<std::vector<HashedRow>> sortedRows(ByteView data, std::size_t rowBytes,
                                                 LayoutSearch &search)
{
    std::vector<HashedRow> rows;
    rows.reserve(data.size() / rowBytes);
    if (!forEachRow(data, rowBytes, search,
                    [&](std::uint64_t hash, Index row) { rows.emplace_back(hash, row); }))
        return std::nullopt;
    std::sort(rows.begin(), rows.end());
    return rows;
}

/// The most rows that always stand together, in order and at a multiple of their number.
Index blockOf(const std::vector<Index> &map)
{
    const Index size = map.size();
    Index block = size;
    for (Index i = 1; i < size; ++i) {
        if (map[i] != map[i - 1] + 1)
            block = std::gcd(block, i);
    }
    for (Index i = 0; i < size; i += std::max<Index>(1, block))
        block = std::gcd(block, map[i]);
    return std::max<Index>(1, block);
}

/// The shortest part after which the map goes on in the same way.
Index periodOf(const std::vector<Index> &map)
{
    const Index size = map.size();
    for (Index period = 1; period < size; ++period) {
        if (size % period != 0)
            continue;
        bool repeats = true;
        for (Index i = 0; i < size && repeats; ++i)
            repeats = map[i] == map[i % period] + i / period * period && map[i % period] < period;
        if (repeats)
            return period;
    }
    return size;
}

bool isRegrouped(const std::vector<Index> &map, Index outer, Index inner)
{
    for (Index i = 0; i < map.size(); ++i) {
        if (map[i] != (i % outer) * inner + i / outer)
            return false;
    }
    return true;
}

/// By group the queries, then a key and a value, out of all queries, all keys, all values.
std::vector<Index> groupedMap(Index groups, Index queries)
{
    std::vector<Index> map;
    for (Index group = 0; group < groups; ++group) {
        for (Index query = 0; query < queries; ++query)
            map.push_back(group * queries + query);
        map.push_back(groups * queries + group);
        map.push_back(groups * queries + groups + group);
    }
    return map;
}

std::vector<Index> inverse(const std::vector<Index> &map)
{
    std::vector<Index> result(map.size());
    for (Index i = 0; i < map.size(); ++i)
        result[map[i]] = i;
    return result;
}

/// The map of blocks of one period.
std::vector<Index> blockMap(const std::vector<Index> &map, Index period, Index block)
{
    std::vector<Index> blocks;
    for (Index i = 0; i < period; i += block)
        blocks.push_back(map[i] / block);
    return blocks;
}

} // namespace

PermutationSearch rowPermutation(ByteView a, ByteView b, std::size_t rowBytes, LayoutSearch &search)
{
    if (rowBytes == 0 || a.size() != b.size() || a.size() % rowBytes != 0)
        return {};
    RowSums sumsA, sumsB;
    if (!forEachRow(a, rowBytes, search, [&](std::uint64_t hash, Index) { sumsA.add(hash); })
        || !forEachRow(b, rowBytes, search, [&](std::uint64_t hash, Index) { sumsB.add(hash); }))
        return {{}, true};
    if (sumsA != sumsB)
        return {};
    if (a.size() / rowBytes > MostRows)
        return {{}, true};
    const auto ofA = sortedRows(a, rowBytes, search);
    const auto ofB = ofA ? sortedRows(b, rowBytes, search) : std::nullopt;
    if (!ofB || !search.spend(a.size()))
        return {{}, true};
    std::vector<Index> map(ofA->size());
    for (std::size_t i = 0; i < map.size(); ++i) {
        const Index inA = (*ofA)[i].second, inB = (*ofB)[i].second;
        if (std::memcmp(a.data() + inA * rowBytes, b.data() + inB * rowBytes, rowBytes) != 0)
            return {};
        map[inB] = inA;
    }
    return {std::move(map), false};
}

std::vector<std::byte> transposed(ByteView matrix, Index rows, Index columns,
                                  std::size_t elementBytes)
{
    std::vector<std::byte> result(matrix.size());
    for (Index row = 0; row < rows; ++row) {
        for (Index column = 0; column < columns; ++column)
            std::memcpy(result.data() + (column * rows + row) * elementBytes,
                        matrix.data() + (row * columns + column) * elementBytes, elementBytes);
    }
    return result;
}

PermutationForm formOf(const std::vector<Index> &map)
{
    using Kind = PermutationForm::Kind;
    PermutationForm form;
    form.period = periodOf(map);
    if (map.empty() || form.period == 1) {
        form.kind = Kind::Identity;
        return form;
    }
    const std::vector<Index> part(map.begin(), map.begin() + std::ptrdiff_t(form.period));
    form.block = blockOf(part);
    const std::vector<Index> blocks = blockMap(map, form.period, form.block);
    const Index count = blocks.size();
    for (Index outer = 2; outer <= count / 2; ++outer) {
        if (count % outer == 0 && isRegrouped(blocks, outer, count / outer)) {
            form.kind = Kind::Regrouped;
            form.outer = outer;
            form.inner = count / outer;
            return form;
        }
    }
    constexpr Index MostHeads = 1u << 14; // each try is a walk over all of them
    for (Index groups = 2; groups <= count / 3 && count <= MostHeads; ++groups) {
        if (count % groups != 0)
            continue;
        const Index queries = count / groups - 2;
        const std::vector<Index> grouped = groupedMap(groups, queries);
        if (blocks != grouped && blocks != inverse(grouped))
            continue;
        form.kind = blocks == grouped ? Kind::Grouped : Kind::Ungrouped;
        form.outer = groups;
        form.inner = queries;
        return form;
    }
    return form;
}

std::string rowRuns(const std::vector<Index> &map, std::size_t most)
{
    std::string text;
    std::size_t runs = 0;
    for (std::size_t i = 0; i < map.size();) {
        std::size_t end = i + 1;
        while (end < map.size() && map[end] == map[end - 1] + 1)
            ++end;
        if (runs++ == most)
            return text + ", ...";
        text += (text.empty() ? "" : ", ") + std::to_string(map[i]);
        if (end - i > 1)
            text += "-" + std::to_string(map[end - 1]);
        i = end;
    }
    return text;
}

} // namespace forkpoint
