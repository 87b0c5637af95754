// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/row_source.h"

#include "widgets/models/natural_order.h"
#include "widgets/models/row_filter.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace forkpoint {

bool RowSource::sameNames(const RowSource &other) const
{
    if (size() != other.size())
        return false;
    for (std::size_t row = 0; row < size(); ++row) {
        if (name(row) != other.name(row))
            return false;
    }
    return true;
}

std::shared_ptr<const NameIndex> indexNames(const RowSource &rows)
{
    auto index = std::make_shared<NameIndex>();
    const std::size_t count = rows.size();
    index->begins.reserve(count + 1);
    for (std::size_t row = 0; row < count; ++row) {
        index->begins.push_back(index->lower.size());
        appendLowerCase(index->lower, rows.name(row));
        index->lower += '\0';
    }
    index->begins.push_back(index->lower.size());
    index->natural.resize(count);
    std::iota(index->natural.begin(), index->natural.end(), Row(0));
    std::sort(index->natural.begin(), index->natural.end(),
              [&](Row a, Row b) { return naturalCompare(rows.name(a), rows.name(b)) < 0; });
    for (const char c : index->lower)
        ++index->frequency[std::uint8_t(c)];
    return index;
}

std::uint64_t sortKey(double value)
{
    constexpr std::uint64_t Sign = std::uint64_t(1) << 63;
    if (value != value)
        return ~std::uint64_t(0);
    const auto bits = std::bit_cast<std::uint64_t>(value == 0.0 ? 0.0 : value);
    return bits & Sign ? ~bits : bits | Sign;
}

} // namespace forkpoint
