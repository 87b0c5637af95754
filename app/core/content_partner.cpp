// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/content_partner.h"

#include "model/content_join.h"

namespace forkpoint {

namespace {

struct Held
{
    std::shared_ptr<const TensorSource> source;
    TensorIndex index = 0;

    const TensorRef &ref() const { return source->catalog().tensors[index]; }
};

bool hasSameBytes(const Held &x, const Held &y)
{
    const TensorRef &left = x.ref(), &right = y.ref();
    if (right.unreadable || left.dtype != right.dtype || left.shape != right.shape)
        return false;
    const auto next = nextDifference({x.source, y.source, x.index, y.index}, 0, false, {});
    return next.ok() && !next->has_value();
}

} // namespace

std::optional<TensorPairRef> partnerByContent(const std::shared_ptr<const TensorSource> &a,
                                              const std::shared_ptr<const TensorSource> &b,
                                              const Pairing &pairing, std::size_t row)
{
    const auto held = [&](const TensorPair &pair) {
        return pair.a ? Held{a, *pair.a} : Held{b, *pair.b};
    };
    const bool isA = pairing.tensors[row].a.has_value();
    const Held own = held(pairing.tensors[row]);
    if (own.ref().unreadable || own.ref().elements < FewestJoinedElements)
        return std::nullopt;
    std::optional<Held> partner;
    for (std::size_t i = 0; i < pairing.tensors.size(); ++i) {
        const TensorPair &pair = pairing.tensors[i];
        if (i == row || (pair.a && pair.b) || !hasSameBytes(own, held(pair)))
            continue;
        if (partner || pair.a.has_value() == isA)
            return std::nullopt; // of several none is meant
        partner = held(pair);
    }
    if (!partner)
        return std::nullopt;
    const Held &other = *partner;
    return isA ? TensorPairRef{a, b, own.index, other.index}
               : TensorPairRef{a, b, other.index, own.index};
}

} // namespace forkpoint
