// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/comparison.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace forkpoint {

using Row = std::uint32_t;

/// The names of a result, laid out once for searching and for natural order.
struct NameIndex
{
    std::string lower;                        ///< all names in lower case, each ended by a NUL
    std::vector<std::size_t> begins;          ///< of each name in `lower`, and the end
    std::vector<Row> natural;                 ///< rows in natural order
    std::array<std::size_t, 256> frequency{}; ///< of each byte in `lower`
};

/// The rows of one result as a table orders and filters them. prepare() is called once, on whatever
/// thread arranges the rows; afterwards nothing changes any more and any thread may look.
class RowSource
{
public:
    virtual ~RowSource() = default;

    virtual std::size_t size() const = 0;
    virtual std::string_view name(std::size_t row) const = 0;
    virtual bool finished() const = 0;
    virtual void prepare() = 0;
    /// One key a row: rows sort by rising key, equal ones by natural order of their names. Empty
    /// for the column of names.
    virtual std::vector<std::uint64_t> keys(int column) const = 0;

    /// What filters look at, packed: status, class, and the notes of the user.
    using Mark = std::uint16_t;
    static constexpr Mark PinnedMark = 128, ExpectedMark = 256;
    static constexpr std::size_t Marks = 512;
    static Mark markOf(ItemStatus status, StateClass stateClass, bool pinned, bool expected)
    {
        return Mark(Mark(status) | Mark(stateClass) << 3 | (pinned ? PinnedMark : 0)
                    | (expected ? ExpectedMark : 0));
    }
    static ItemStatus statusOf(Mark mark) { return ItemStatus(mark & 7); }
    static StateClass classOf(Mark mark) { return StateClass(mark >> 3 & 15); }
    const std::vector<Mark> &marks() const { return m_marks; }

    /// The same names in the same order.
    bool sameNames(const RowSource &other) const;

protected:
    std::vector<Mark> m_marks; ///< filled by prepare()
};

std::shared_ptr<const NameIndex> indexNames(const RowSource &rows);

/// Orders doubles by unsigned comparison; NaN after everything.
std::uint64_t sortKey(double value);

} // namespace forkpoint
