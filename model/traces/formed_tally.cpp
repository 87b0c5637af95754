// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/traces/formed_tally.h"

#include "model/traces/trace_rules.h"

#include <algorithm>

namespace forkpoint {

namespace {

/// Digests that have a bit each.
constexpr std::size_t MostDigests = 64;

std::uint64_t differingOf(const FormedRecord &a, const FormedRecord &b)
{
    if (a.digests == b.digests)
        return 0;
    std::uint64_t differing = 0;
    for (std::size_t i = 0; i < a.form->digests.size(); ++i) {
        const RecordForm::Digest &own = a.form->digests[i];
        if (a.digests.substr(own.begin, own.size) != b.digests.substr(own.begin, own.size))
            differing |= std::uint64_t(1) << i;
    }
    return differing;
}

} // namespace

FormedTally::Known &FormedTally::knownOf(const RecordForm &form)
{
    const auto [place, isNew] = m_forms.try_emplace(&form);
    Known &known = place->second;
    if (isNew) {
        const RecordRole role = form.record.role;
        known.isCountable =
            (role == RecordRole::Op || role == RecordRole::Tensor || role == RecordRole::Kernel)
            && form.digests.size() <= MostDigests;
        known.isArtifact = isArtifact(form.record);
        known.mayBeTooEarly = mayBeTooEarly(form.record);
    }
    return known;
}

FormedTally::Kind *FormedTally::kindOf(Known &known, std::uint64_t differing,
                                       const TraceWalk::FormedEvent &event)
{
    const auto found = std::find_if(known.kinds.begin(), known.kinds.end(),
                                    [&](const Kind &kind) { return kind.differing == differing; });
    if (found != known.kinds.end())
        return &*found;
    if (known.kinds.size() == MostKinds)
        return nullptr;
    Kind kind{differing, {&event.a.form->record, {}, 0, 0}};
    kind.sum.one = evidenceOf(toRecord(event.a), toRecord(event.b)).all();
    known.kinds.push_back(std::move(kind));
    return &known.kinds.back();
}

FormedTally::Use FormedTally::take(const TraceWalk::FormedEvent &event, bool mayDiffer)
{
    Known &known = knownOf(*event.a.form);
    if (!known.isCountable)
        return Use::Made;
    const std::uint64_t differing = differingOf(event.a, event.b);
    if (differing != 0 && (!mayDiffer || known.mayBeTooEarly))
        return Use::Made;
    Kind *const kind = kindOf(known, differing, event);
    if (!kind)
        return Use::Made;
    if (kind->sum.pairs + kind->sum.artifacts == 0)
        m_touched.emplace_back(&known, std::size_t(kind - known.kinds.data()));
    ++(known.isArtifact ? kind->sum.artifacts : kind->sum.pairs);
    if (known.isArtifact)
        return Use::Artifact;
    if (kind->sum.one.evidence == Evidence::Equal)
        m_lastEqual = {event.a.form, event.a.iteration, event.a.call};
    return Use::Counted;
}

std::vector<FormedTally::Sum> FormedTally::sums()
{
    std::vector<Sum> found;
    for (const auto &[known, kind] : m_touched) {
        Sum &sum = known->kinds[kind].sum;
        found.push_back(sum);
        sum.pairs = sum.artifacts = 0;
    }
    m_touched.clear();
    return found;
}

} // namespace forkpoint
