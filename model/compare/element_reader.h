// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/element_filter.h"
#include "model/element.h"
#include "model/progress.h"
#include "model/result.h"
#include "model/tensor_source.h"

#include <functional>
#include <memory>
#include <stop_token>
#include <vector>

namespace forkpoint {

/// Two tensors of equal dtype and shape, one of each side.
struct TensorPairRef
{
    std::shared_ptr<const TensorSource> sourceA, sourceB;
    TensorIndex a = 0, b = 0;

    const TensorRef &tensorA() const { return sourceA->catalog().tensors[a]; }
    const TensorRef &tensorB() const { return sourceB->catalog().tensors[b]; }
};

/// After elements of a pair were read: whether its files are those that were opened. Where one is
/// not, what was read may be of two states of it, and is not shown.
inline Status holdersUnchanged(const TensorPairRef &pair)
{
    FP_CHECK(pair.sourceA->holdersUnchanged(pair.a));
    return pair.sourceB->holdersUnchanged(pair.b);
}

enum class ElementOrder {
    ByIndex,   ///< every element, by index: the window [offset, offset + count)
    Differing, ///< the differing ones, by index: the offset-th and what follows
    Largest,   ///< the differing ones, largest |b - a| first, then NaN and Inf pairs, ties by index
};

struct ElementQuery
{
    ElementOrder order = ElementOrder::Differing;
    Index offset = 0;
    std::size_t count = 100;   ///< at most MaxElementRows with Largest
    ElementFilter filter = {}; ///< offsets count the elements it accepts
};

constexpr std::size_t MaxElementRows = 1'000'000;

struct ElementPage
{
    std::vector<ElementRow> rows;
    /// In the whole tensor those that differ, or, with a filter, those of the order that it accepts.
    /// With order ByIndex and no filter unknown (0).
    Index differentElements = 0;
    bool complete = false; ///< nothing follows the last row
};

/// Reads the rows a query asks for: with order ByIndex and no filter only that window, else one pass
/// over both tensors in bounded memory. `progress` (may be empty) is called between blocks, on this thread.
Result<ElementPage> readElements(const TensorPairRef &pair, const ElementQuery &query,
                                 std::stop_token stop,
                                 const std::function<void(const Progress &)> &progress);

/// Index of the first differing element at or after `from` (before `from`, when backward), or
/// nothing.
Result<std::optional<Index>> nextDifference(const TensorPairRef &pair, Index from, bool backward,
                                            std::stop_token stop);

} // namespace forkpoint
