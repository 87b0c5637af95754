// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/compare/element_reader.h"

#include "model/compute_backend.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace forkpoint {

namespace {

/// Elements of one piece of a scan: whole bytes for every dtype, about 1 MiB.
Index pieceElements(const DType &dtype)
{
    return std::max<Index>(unitElements(dtype) / 8, 1);
}

Status checkPair(const TensorPairRef &pair)
{
    const TensorRef &a = pair.tensorA(), &b = pair.tensorB();
    if (a.dtype == b.dtype && a.shape == b.shape)
        return {};
    return Error{ErrorCode::Mismatch,
                 {},
                 "tensor '" + a.name + "'",
                 a.dtype.name + " " + a.shape.toString() + " against " + b.dtype.name + " "
                     + b.shape.toString() + " has no elements to set side by side"};
}

Error cancelled()
{
    return {ErrorCode::Cancelled, {}, {}, "cancelled"};
}

/// The elements [first, first + count) of both sides. With sub-byte types `first` is rounded down
/// to a whole byte.
struct Window
{
    Index first = 0;
    Index count = 0;
    std::vector<std::byte> a, b;
};

Result<Window> readWindow(const TensorPairRef &pair, Index first, Index count)
{
    const DType &dtype = pair.tensorA().dtype;
    Window window;
    if (dtype.bits % 8 != 0) { // eight elements are whole bytes, whatever the width
        count += first % 8;
        first -= first % 8;
    }
    window.first = first;
    window.count = count;
    const std::uint64_t begin = first * dtype.bits / 8;
    const std::uint64_t end =
        std::min((first * dtype.bits + count * dtype.bits + 7) / 8, pair.tensorA().bytes);
    window.a.resize(std::size_t(end - begin));
    window.b.resize(std::size_t(end - begin));
    FP_CHECK(pair.sourceA->read(pair.a, begin, window.a));
    FP_CHECK(pair.sourceB->read(pair.b, begin, window.b));
    return window;
}

ElementRow rowOf(const Window &window, const DType &dtype, Index index)
{
    const Index local = index - window.first;
    return makeElementRow(dtype, index, elementBits(dtype, window.a, local),
                          elementBits(dtype, window.b, local));
}

enum class Visits { Differing, All };

/// Calls visit(index) for every element of a window, or every differing one, rising; false stops.
template <class Visit>
bool forEach(Visits which, const Window &window, const DType &dtype, Visit visit)
{
    const auto same = [&](Index local) {
        if (dtype.bits % 8 != 0)
            return elementBits(dtype, window.a, local) == elementBits(dtype, window.b, local);
        const std::size_t width = dtype.bits / 8;
        return std::memcmp(window.a.data() + local * width, window.b.data() + local * width, width)
            == 0;
    };
    const bool all = which == Visits::All;
    if (!all && window.a == window.b)
        return true;
    for (Index local = 0; local < window.count; ++local) {
        if ((all || !same(local)) && !visit(window.first + local))
            return false;
    }
    return true;
}

/// Walks both tensors from element `from` on. visit(window, index) for all, or every difference.
template <class Visit>
Status scan(const TensorPairRef &pair, Visits which, Index from, std::stop_token stop,
            const std::function<void(const Progress &)> &progress, Visit visit)
{
    const DType &dtype = pair.tensorA().dtype;
    const Index total = pair.tensorA().elements, piece = pieceElements(dtype);
    Progress now{"reading elements", pair.tensorA().name, 0, 2 * pair.tensorA().bytes, 0, 0};
    for (Index first = from - from % 8; first < total; first += piece) {
        if (stop.stop_requested())
            return cancelled();
        FP_TRY(const Window window, readWindow(pair, first, std::min(piece, total - first)));
        const bool more = forEach(which, window, dtype, [&](Index index) {
            return index < from || visit(window, index);
        });
        now.bytesDone = 2
            * (std::uint64_t(double(first + window.count) / double(total)
                             * double(pair.tensorA().bytes)));
        if (progress)
            progress(now);
        if (!more)
            break;
    }
    return {};
}

/// |b - a| of one part: a float64, or of integers the exact number.
struct Magnitude
{
    double real = -1.0; ///< opaque, or a side that is not finite: after every number
    std::uint64_t integer = 0;

    auto operator<=>(const Magnitude &) const = default;
};

Magnitude partMagnitude(const Scalar &a, const Scalar &b)
{
    if (const auto *x = std::get_if<double>(&a)) {
        const double y = std::get<double>(b);
        return std::isfinite(*x) && std::isfinite(y) ? Magnitude{std::fabs(y - *x), 0}
                                                     : Magnitude{};
    }
    if (const auto *x = std::get_if<bool>(&a))
        return {0.0, *x != std::get<bool>(b) ? 1u : 0u};
    if (const auto *x = std::get_if<std::int64_t>(&a)) {
        const std::int64_t y = std::get<std::int64_t>(b);
        return {0.0, std::uint64_t(std::max(*x, y)) - std::uint64_t(std::min(*x, y))};
    }
    if (const auto *x = std::get_if<std::uint64_t>(&a)) {
        const std::uint64_t y = std::get<std::uint64_t>(b);
        return {0.0, std::max(*x, y) - std::min(*x, y)};
    }
    return {};
}

struct Ranked
{
    Magnitude magnitude;
    ElementRow row;
};

/// Larger first, then lower index.
bool ranksBefore(const Ranked &left, const Ranked &right)
{
    if (left.magnitude != right.magnitude)
        return left.magnitude > right.magnitude;
    return left.row.index < right.row.index;
}

Result<ElementPage> readByIndex(const TensorPairRef &pair, const ElementQuery &query)
{
    const TensorRef &tensor = pair.tensorA();
    ElementPage page;
    page.complete =
        query.offset >= tensor.elements || query.count >= tensor.elements - query.offset;
    if (query.offset >= tensor.elements)
        return page;
    const Index count = std::min<Index>(query.count, tensor.elements - query.offset);
    const Index piece = pieceElements(tensor.dtype);
    for (Index done = 0; done < count; done += piece) {
        const Index first = query.offset + done, size = std::min(piece, count - done);
        FP_TRY(const Window window, readWindow(pair, first, size));
        for (Index i = first; i < first + size; ++i)
            page.rows.push_back(rowOf(window, tensor.dtype, i));
    }
    return page;
}

/// By index: the differing elements, or all of them, that the filter accepts.
Result<ElementPage> readAccepted(const TensorPairRef &pair, const ElementQuery &query,
                                 std::stop_token stop,
                                 const std::function<void(const Progress &)> &progress)
{
    const DType &dtype = pair.tensorA().dtype;
    ElementPage page;
    const Visits which = query.order == ElementOrder::ByIndex ? Visits::All : Visits::Differing;
    FP_CHECK(scan(pair, which, 0, stop, progress, [&](const Window &window, Index index) {
        if (query.filter.part && !query.filter.part->accepts(index))
            return true; // before anything is decoded
        const bool wanted =
            page.differentElements >= query.offset && page.rows.size() < query.count;
        if (!wanted && !query.filter.range) {
            ++page.differentElements;
            return true;
        }
        ElementRow row = rowOf(window, dtype, index);
        if (!query.filter.accepts(row))
            return true;
        ++page.differentElements;
        if (wanted)
            page.rows.push_back(std::move(row));
        return true;
    }));
    page.complete = query.offset >= page.differentElements
        || page.rows.size() == page.differentElements - query.offset;
    return page;
}

Result<ElementPage> readLargest(const TensorPairRef &pair, const ElementQuery &query,
                                std::stop_token stop,
                                const std::function<void(const Progress &)> &progress)
{
    const DType &dtype = pair.tensorA().dtype;
    const std::size_t keep =
        std::size_t(std::min<Index>(MaxElementRows, query.offset) + query.count);
    std::vector<Ranked> heap; // its front is the row that ranks last
    ElementPage page;
    FP_CHECK(
        scan(pair, Visits::Differing, 0, stop, progress, [&](const Window &window, Index index) {
            if (query.filter.part && !query.filter.part->accepts(index))
                return true;
            Ranked ranked{{}, rowOf(window, dtype, index)};
            if (!query.filter.accepts(ranked.row))
                return true;
            ++page.differentElements;
            const ElementValue &a = ranked.row.a, &b = ranked.row.b;
            ranked.magnitude =
                std::max(partMagnitude(a.real, b.real), partMagnitude(a.imaginary, b.imaginary));
            if (heap.size() == keep) {
                if (keep == 0 || !ranksBefore(ranked, heap.front()))
                    return true;
                std::pop_heap(heap.begin(), heap.end(), ranksBefore);
                heap.pop_back();
            }
            heap.push_back(std::move(ranked));
            std::push_heap(heap.begin(), heap.end(), ranksBefore);
            return true;
        }));
    std::sort_heap(heap.begin(), heap.end(), ranksBefore);
    for (std::size_t i = std::size_t(std::min<Index>(query.offset, heap.size())); i < heap.size();
         ++i)
        page.rows.push_back(std::move(heap[i].row));
    page.complete = query.offset >= page.differentElements
        || page.rows.size() == page.differentElements - query.offset;
    return page;
}

} // namespace

Result<ElementPage> readElements(const TensorPairRef &pair, const ElementQuery &query,
                                 std::stop_token stop,
                                 const std::function<void(const Progress &)> &progress)
{
    FP_CHECK(checkPair(pair));
    if (query.count > MaxElementRows)
        return Error{ErrorCode::Limit,
                     {},
                     {},
                     "at most " + std::to_string(MaxElementRows) + " rows at a time"};
    switch (query.order) {
    case ElementOrder::ByIndex:
        if (query.filter.isEmpty())
            return readByIndex(pair, query);
        [[fallthrough]];
    case ElementOrder::Differing: return readAccepted(pair, query, stop, progress);
    case ElementOrder::Largest: break;
    }
    if (query.offset > MaxElementRows)
        return Error{ErrorCode::Limit,
                     {},
                     {},
                     "largest first reaches " + std::to_string(MaxElementRows) + " rows deep"};
    return readLargest(pair, query, stop, progress);
}

Result<std::optional<Index>> nextDifference(const TensorPairRef &pair, Index from, bool backward,
                                            std::stop_token stop)
{
    FP_CHECK(checkPair(pair));
    std::optional<Index> found;
    if (!backward) {
        FP_CHECK(scan(pair, Visits::Differing, from, stop, {}, [&](const Window &, Index index) {
            found = index;
            return false;
        }));
        return found;
    }
    const DType &dtype = pair.tensorA().dtype;
    const Index piece = pieceElements(dtype);
    Index end = std::min(from, pair.tensorA().elements);
    while (end > 0 && !found) {
        if (stop.stop_requested())
            return cancelled();
        const Index first = end > piece ? end - piece : 0;
        FP_TRY(const Window window, readWindow(pair, first, end - first));
        forEach(Visits::Differing, window, dtype, [&](Index index) {
            if (index < end)
                found = index;
            return true;
        });
        end = first;
    }
    return found;
}

} // namespace forkpoint
