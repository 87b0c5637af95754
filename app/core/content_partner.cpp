// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/content_partner.h"

#include "model/format.h"
#include "model/pairing/content_join.h"

#include <algorithm>

namespace forkpoint {

namespace {

struct Held
{
    std::shared_ptr<const TensorSource> source;
    TensorIndex index = 0;

    const TensorRef &ref() const { return source->catalog().tensors[index]; }
};

/// Compares tensors byte by byte, up to so many bytes in all.
class ByteSearch
{
public:
    ByteSearch(std::uint64_t budget, std::stop_token stop)
        : m_budget(budget),
          m_left(budget),
          m_stop(std::move(stop))
    {
    }

    Result<bool> hasSameBytes(const Held &x, const Held &y)
    {
        const TensorRef &left = x.ref(), &right = y.ref();
        if (right.unreadable || left.dtype != right.dtype || left.shape != right.shape)
            return false;
        if (m_left == 0)
            return Error{ErrorCode::Limit,
                         {},
                         {},
                         "whom it meets by content was not found within " + byteSize(m_budget)};
        const auto next = nextDifference({x.source, y.source, x.index, y.index}, 0, false, m_stop);
        if (!next && next.error().code == ErrorCode::Cancelled)
            return next.error();
        // What cannot be read is not known to be equal; a difference ends the piece that holds it.
        std::uint64_t read = left.bytes;
        if (next && *next)
            read = std::min(read, **next * (left.dtype.positionBits() / 8) + PieceBytes);
        m_left -= std::min(m_left, std::max<std::uint64_t>(2 * read, 1));
        return next.ok() && !next->has_value();
    }

private:
    static constexpr std::uint64_t PieceBytes = 1u << 20; ///< what one reading takes in

    std::uint64_t m_budget, m_left;
    std::stop_token m_stop;
};

} // namespace

Result<std::optional<TensorPairRef>> partnerByContent(const std::shared_ptr<const TensorSource> &a,
                                                      const std::shared_ptr<const TensorSource> &b,
                                                      const Pairing &pairing, std::size_t row,
                                                      const RankStates &ranks, std::uint64_t budget,
                                                      std::stop_token stop)
{
    const auto held = [&](const TensorPair &pair) {
        return pair.a ? Held{a, *pair.a} : Held{b, *pair.b};
    };
    const bool isA = pairing.tensors[row].a.has_value();
    const Held own = held(pairing.tensors[row]);
    std::optional<Held> partner;
    if (own.ref().unreadable || own.ref().elements < FewestJoinedElements)
        return std::optional<TensorPairRef>();
    ByteSearch search(budget, std::move(stop));
    for (std::size_t i = 0; i < pairing.tensors.size(); ++i) {
        const TensorPair &pair = pairing.tensors[i];
        if (i == row || (pair.a && pair.b))
            continue;
        const Held other = held(pair);
        const TensorRef *ofA = pair.a ? &other.ref() : nullptr;
        const TensorRef *ofB = pair.a ? nullptr : &other.ref();
        if (!ranks.whyNothing(ofA, ofB).empty())
            continue;
        FP_TRY(const bool isSame, search.hasSameBytes(own, other));
        if (!isSame)
            continue;
        if (partner || pair.a.has_value() == isA)
            return std::optional<TensorPairRef>(); // of several none is meant
        partner = other;
    }
    if (!partner)
        return std::optional<TensorPairRef>();
    const Held &other = *partner;
    return std::optional(isA ? TensorPairRef{a, b, own.index, other.index}
                             : TensorPairRef{a, b, other.index, own.index});
}

} // namespace forkpoint
