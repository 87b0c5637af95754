// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/compare/value_comparison.h"

#include "model/folded_numbers.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace forkpoint {

namespace {

std::optional<double> asNumber(const Value &value)
{
    if (const auto *d = std::get_if<double>(&value.data))
        return *d;
    if (value.type != ValueType::Int)
        return std::nullopt;
    // Only integers that a double holds exactly can equal a float by value.
    constexpr std::int64_t Exact = std::int64_t(1) << 53;
    const auto *i = std::get_if<std::int64_t>(&value.data);
    if (i && *i >= -Exact && *i <= Exact)
        return double(*i);
    return std::nullopt;
}

/// Distance of two finite numbers in the ordered-integer mapping: +0 and -0 are 0 apart.
std::uint64_t ulpDistance(double a, double b)
{
    const auto magnitude = [](double x) { return std::bit_cast<std::uint64_t>(std::fabs(x)); };
    if (std::signbit(a) != std::signbit(b))
        return magnitude(a) + magnitude(b);
    return std::max(magnitude(a), magnitude(b)) - std::min(magnitude(a), magnitude(b));
}

bool isSequence(const Value &value)
{
    const auto *text = std::get_if<std::string>(&value.data);
    return value.type == ValueType::Empty && text && (*text == "[]" || *text == "()");
}

bool equalByValue(const Value &a, const Value &b)
{
    if (isSequence(a) && isSequence(b))
        return true; // list or tuple is the writer's choice
    if (a.type == ValueType::Numbers && b.type == ValueType::Numbers) {
        const std::string_view whole = foldedAsIntegers(a);
        return !whole.empty() && a.count == b.count && whole == foldedAsIntegers(b);
    }
    if (a.type == b.type)
        return false; // identicalTo has decided
    const auto left = asNumber(a), right = asNumber(b);
    return left && right && *left == *right;
}

bool within(const Value &a, const Value &b, const Tolerance &tolerance)
{
    if (!tolerance.asked() || !toleranceApplies(a, b))
        return false;
    const auto left = asNumber(a), right = asNumber(b);
    if (!std::isfinite(*left) || !std::isfinite(*right))
        return std::isnan(*left) && std::isnan(*right);
    if (tolerance.maxUlp && ulpDistance(*left, *right) <= *tolerance.maxUlp)
        return true;
    if (!tolerance.rtol && !tolerance.atol)
        return false;
    const double bound = tolerance.atol.value_or(0.0)
        + tolerance.rtol.value_or(0.0) * std::max(std::fabs(*left), std::fabs(*right));
    return std::fabs(*left - *right) <= bound;
}

} // namespace

bool toleranceApplies(const Value &a, const Value &b)
{
    const bool anyFloat = a.type == ValueType::Float || b.type == ValueType::Float;
    return anyFloat && asNumber(a) && asNumber(b);
}

std::vector<ValueRow> compareValues(const Catalog &a, const Catalog &b,
                                    const std::vector<ValuePair> &pairs, const RankStates &ranks,
                                    bool strictValues, const Tolerance &tolerance)
{
    std::vector<ValueRow> rows;
    rows.reserve(pairs.size());
    for (const ValuePair &pair : pairs) {
        ValueRow row;
        row.name = pair.name;
        row.a = pair.a;
        row.b = pair.b;
        row.stateClass = pair.stateClass;
        row.pairedBy = pair.by;
        row.ambiguous = pair.ambiguous;
        if (pair.a)
            row.valueA = a.values[*pair.a].value;
        if (pair.b)
            row.valueB = b.values[*pair.b].value;
        if (!row.valueB) {
            row.status = ItemStatus::OnlyInA;
        } else if (!row.valueA) {
            row.status = ItemStatus::OnlyInB;
        } else if (row.valueA->identicalTo(*row.valueB)
                   || (!strictValues && equalByValue(*row.valueA, *row.valueB))) {
            row.status = ItemStatus::Identical;
        } else {
            row.status = ItemStatus::Different;
            row.withinTolerance = within(*row.valueA, *row.valueB, tolerance);
        }
        if (row.status != ItemStatus::Identical)
            row.reason = ranks.whyNothing(pair.a ? &a.values[*pair.a] : nullptr,
                                          pair.b ? &b.values[*pair.b] : nullptr);
        if (!row.reason.empty()) {
            row.status = ItemStatus::NotCompared;
            row.notComparable = true;
            row.withinTolerance = false;
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

} // namespace forkpoint
