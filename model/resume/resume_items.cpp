// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/resume/resume_items.h"

#include "model/element.h"
#include "model/format.h"

#include <cmath>

namespace forkpoint {

namespace {

std::optional<double> asDouble(const Scalar &scalar)
{
    if (const auto *real = std::get_if<double>(&scalar))
        return *real;
    if (const auto *integer = std::get_if<std::int64_t>(&scalar))
        return double(*integer);
    if (const auto *number = std::get_if<std::uint64_t>(&scalar))
        return double(*number);
    return std::nullopt;
}

/// Of a part that is missing nothing is known, and nor is whether it would be equal.
std::optional<bool> equalityOf(ItemStatus status, bool complete)
{
    switch (status) {
    case ItemStatus::Identical: return true;
    case ItemStatus::Different: return false;
    case ItemStatus::OnlyInA:
    case ItemStatus::OnlyInB: return complete ? std::optional(false) : std::nullopt;
    case ItemStatus::NotCompared: break;
    }
    return std::nullopt;
}

template <class Row>
ResumeItem itemOf(const Row &row, bool isTensor, bool complete)
{
    return {row.name, row.stateClass, isTensor, row.a, row.b, equalityOf(row.status, complete)};
}

} // namespace

const TensorRef *ResumeSide::tensor(const ResumeItem &item) const
{
    const auto index = isA ? item.a : item.b;
    return source && item.isTensor && index ? &source->catalog().tensors[*index] : nullptr;
}

const ValueRef *ResumeSide::value(const ResumeItem &item) const
{
    const auto index = isA ? item.a : item.b;
    return source && !item.isTensor && index ? &source->catalog().values[*index] : nullptr;
}

std::optional<double> ResumeSide::number(const ResumeItem &item) const
{
    if (const ValueRef *found = value(item)) {
        if (const auto *real = std::get_if<double>(&found->value.data))
            return *real;
        if (const auto *integer = std::get_if<std::int64_t>(&found->value.data))
            return double(*integer);
        return std::nullopt;
    }
    const TensorRef *found = tensor(item);
    if (!found || found->elements != 1 || found->bytes == 0 || found->bytes > 16
        || found->unreadable)
        return std::nullopt;
    std::vector<std::byte> bytes(std::size_t(found->bytes));
    if (!source->read(isA ? *item.a : *item.b, 0, bytes))
        return std::nullopt;
    return asDouble(decodeElement(found->dtype, bytes, 0).real);
}

std::vector<ResumeItem> itemsOf(const CheckpointComparison &comparison, bool complete)
{
    std::vector<ResumeItem> items;
    for (const TensorRow &row : comparison.tensors)
        items.push_back(itemOf(row, true, complete));
    for (const ValueRow &row : comparison.values)
        items.push_back(itemOf(row, false, complete));
    return items;
}

std::vector<ResumeItem> itemsOf(const Catalog &catalog)
{
    std::vector<ResumeItem> items;
    for (std::size_t i = 0; i < catalog.tensors.size(); ++i)
        items.push_back({catalog.tensors[i].name, catalog.tensors[i].stateClass, true, i, {}, {}});
    for (std::size_t i = 0; i < catalog.values.size(); ++i)
        items.push_back({catalog.values[i].name, catalog.values[i].stateClass, false, i, {}, {}});
    return items;
}

std::optional<bool> allEqual(const std::vector<const ResumeItem *> &items)
{
    bool known = !items.empty();
    for (const ResumeItem *item : items) {
        if (item->equal == false)
            return false;
        known = known && item->equal.has_value();
    }
    return known ? std::optional(true) : std::nullopt;
}

std::string numberText(double number)
{
    constexpr double Exact = 9007199254740992.0;
    if (std::fabs(number) < Exact && number == std::floor(number))
        return std::to_string(std::int64_t(number));
    return shortest(number);
}

} // namespace forkpoint
