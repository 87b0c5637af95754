// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/bytes.h"
#include "model/pairing/layout_search.h"
#include "model/shape.h"

#include <optional>
#include <string>
#include <vector>

namespace forkpoint {

/// What became of a search for a permutation.
struct PermutationSearch
{
    /// For each row of `b` the row of `a` that has its bytes, each row of `a` once. Nothing where
    /// the two are not the same rows in another order. Equal rows are taken in order.
    std::optional<std::vector<Index>> map;
    bool isLeftOut = false; ///< the search ended, or they are too many rows: not known
};

/// Linear in the bytes, but for sorting what are the same rows by all appearances.
PermutationSearch rowPermutation(ByteView a, ByteView b, std::size_t rowBytes,
                                 LayoutSearch &search);

/// All elements of a matrix of `rows` x `columns` elements, transposed.
std::vector<std::byte> transposed(ByteView matrix, Index rows, Index columns,
                                  std::size_t elementBytes);

/// How a permutation is built, as far as it has a simple form.
struct PermutationForm
{
    enum class Kind {
        Other,
        Identity,
        Regrouped, ///< blocks seen as [outer][inner] in A stand as [inner][outer] in B
        Grouped,   ///< grouped queries: A has all queries, keys, values; B has them by group
        Ungrouped, ///< the other way round
    };
    Kind kind = Kind::Other;
    Index period = 0;           ///< the map repeats every so many rows; all of them if it does not
    Index block = 1;            ///< rows that stay together
    Index outer = 0, inner = 0; ///< Regrouped; of grouped queries: groups, queries a group

    bool operator==(const PermutationForm &) const = default;
};

PermutationForm formOf(const std::vector<Index> &map);

/// "0-3, 16-19, 32-35, ...": the rows of A in B's order, at most `most` runs of them.
std::string rowRuns(const std::vector<Index> &map, std::size_t most);

} // namespace forkpoint
