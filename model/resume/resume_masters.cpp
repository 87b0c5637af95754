// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/resume/resume_masters.h"

#include "model/format.h"
#include "model/pairing/rounded_copy.h"

#include <algorithm>

namespace forkpoint {

namespace {

struct MasterAndWeight
{
    TensorIndex master = 0, weight = 0;
};

/// By the first rule whose weight is there in the same shape and of no wider type.
std::optional<MasterAndWeight> weightOf(const ResumeSide &side, TensorIndex index)
{
    const Catalog &catalog = side.source->catalog();
    const TensorRef &master = catalog.tensors[index];
    for (const ResumeRule *rule : ResumeRules::builtin().matches(ResumeRole::Master, master.name)) {
        const auto parts = rule->match(master.name);
        const auto found = catalog.findTensor(fillParts(rule->rest, *parts));
        if (!found)
            continue;
        const TensorRef &weight = catalog.tensors[*found];
        const bool whole = weight.dtype.isFloating() && weight.dtype.bits % 8 == 0
            && master.dtype.isFloating() && master.dtype.bits % 8 == 0;
        if (whole && weight.shape == master.shape && weight.dtype.bits <= master.dtype.bits
            && !weight.unreadable && !master.unreadable)
            return MasterAndWeight{index, *found};
    }
    return std::nullopt;
}

} // namespace

SelfCheck checkMasters(const std::vector<const ResumeItem *> &masters, const ResumeSide &side,
                       std::uint64_t budget, std::stop_token stop)
{
    std::uint64_t equal = 0, unlike = 0, unread = 0, paired = 0;
    std::string first, type;
    for (const ResumeItem *item : masters) {
        if (!side.tensor(*item))
            continue;
        const auto pair = weightOf(side, side.isA ? *item->a : *item->b);
        if (!pair)
            continue;
        ++paired;
        const Catalog &catalog = side.source->catalog();
        const TensorRef &master = catalog.tensors[pair->master];
        const TensorRef &weight = catalog.tensors[pair->weight];
        const std::uint64_t bytes = master.bytes + weight.bytes;
        type = weight.dtype.name;
        if (bytes > budget || stop.stop_requested()) {
            ++unread;
            continue;
        }
        budget -= bytes;
        const auto rounded = isRoundedCopy({side.source, pair->master}, {side.source, pair->weight},
                                           {0, master.elements}, stop);
        if (!rounded)
            ++unread;
        else if (*rounded)
            ++equal;
        else if (++unlike == 1)
            first = master.name;
    }
    SelfCheck check;
    if (paired == 0)
        return check;
    if (unlike > 0) {
        check.holds = false;
        check.reason = counted(unlike, "master is", "masters are")
            + " not the weight when rounded to " + type + ", first " + first;
    } else if (unread == 0) {
        check.holds = true;
        check.reason = "the weights are " + counted(equal, "master", "masters") + " rounded to "
            + type + ", ties to even";
    } else {
        check.reason = counted(unread, "master was", "masters were") + " not read; "
            + counted(equal, "is", "are") + " the weight when rounded to " + type;
    }
    return check;
}

} // namespace forkpoint
