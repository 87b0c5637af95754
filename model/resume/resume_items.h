// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/comparison.h"
#include "model/resume/resume_rules.h"
#include "model/tensor_source.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace forkpoint {

/// A tensor or a value of a pair, or of one checkpoint, which then is A.
struct ResumeItem
{
    std::string_view name; ///< of the comparison or the catalogue, which outlive it
    StateClass stateClass = StateClass::Unknown;
    bool isTensor = false;
    std::optional<std::size_t> a, b; ///< into the catalogues' tensors or values
    std::optional<bool> equal;       ///< bit for bit; nothing where one is missing or was not read
};

/// One side of the table.
struct ResumeSide
{
    const TensorSource *source = nullptr; ///< null: there is no such side
    bool isA = true;

    const TensorRef *tensor(const ResumeItem &item) const;
    const ValueRef *value(const ResumeItem &item) const;
    /// A number, or a tensor of one element. Reads it.
    std::optional<double> number(const ResumeItem &item) const;
};

/// `complete`: both catalogues are, so that what is on one side only is missing on the other.
std::vector<ResumeItem> itemsOf(const CheckpointComparison &comparison, bool complete);
std::vector<ResumeItem> itemsOf(const Catalog &catalog);

/// Whether all items are equal; nothing where that was not seen of some, and none differs.
std::optional<bool> allEqual(const std::vector<const ResumeItem *> &items);

/// An integer without a point, else the shortest text.
std::string numberText(double number);

} // namespace forkpoint
