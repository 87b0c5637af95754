// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/traces/trace_walk.h"

#include "model/format.h"
#include "model/traces/trace_stage.h"

#include <algorithm>

namespace forkpoint {

namespace {

/// Records of each side that are aligned at once, then, where nothing in them meets, looked through.
constexpr std::size_t Window = 256;
constexpr std::size_t FarWindow = 16'384;
/// Equal tokens in a row that a far meeting needs.
constexpr std::size_t FarRun = 4;
/// Bytes of these records on each side: a far window of records of 4 KiB.
constexpr std::size_t MostAheadBytes = std::size_t(64) << 20;
/// Records that wait for a late partner, on each side, and their bytes.
constexpr std::size_t MostWaiting = 65'536;
constexpr std::size_t MostWaitingBytes = std::size_t(128) << 20;

std::size_t bytesOf(const std::vector<std::pair<std::string, std::string>> &pairs)
{
    std::size_t bytes = 0;
    for (const auto &[name, value] : pairs)
        bytes += sizeof(pairs[0]) + name.capacity() + value.capacity();
    return bytes;
}

std::size_t bytesOf(const std::vector<Observation> &observations)
{
    std::size_t bytes = 0;
    for (const Observation &each : observations) {
        bytes += sizeof each + each.path.capacity() + each.dtype.capacity() + each.digest.capacity()
            + each.payload.capacity() + bytesOf(each.metadata) + bytesOf(each.statistics)
            + (each.shape ? each.shape->capacity() * sizeof(std::uint64_t) : 0);
    }
    return bytes;
}

/// What a record takes in memory, nearly.
std::size_t bytesOf(const TraceRecord &record)
{
    return sizeof record + record.stage.capacity() + record.name.capacity() + record.key.capacity()
        + record.group.capacity() + record.scope.capacity() + record.caller.capacity()
        + bytesOf(record.inputs) + bytesOf(record.outputs) + bytesOf(record.fields);
}

bool sameLayouts(const std::vector<Observation> &a, const std::vector<Observation> &b)
{
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const Observation &left, const Observation &right) {
                          return left.dtype == right.dtype && left.shape == right.shape;
                      });
}

bool sameToken(const TraceRecord &a, const TraceRecord &b)
{
    return a.key == b.key && a.scope == b.scope && sameLayouts(a.inputs, b.inputs)
        && sameLayouts(a.outputs, b.outputs);
}

bool sameTokens(const std::vector<AlignItem> &a, const std::vector<AlignItem> &b)
{
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const AlignItem &x, const AlignItem &y) { return x.token == y.token; });
}

} // namespace

bool TraceWalk::Event::reordered() const
{
    const bool isItem = a && (a->role == RecordRole::Tensor || a->role == RecordRole::Values)
        && stateClassOfStage(a->stage) != StateClass::Unknown;
    return moved && !isItem && a->isPlaced && b->isPlaced;
}

Status TraceWalk::fill(Side &side, std::size_t count)
{
    while (!side.ended && side.ahead.size() < count) {
        if (side.aheadBytes >= MostAheadBytes) {
            m_isNarrow = m_isNarrow || side.ahead.size() < Window;
            return {};
        }
        FP_CHECK(read(side));
        if (!side.ended)
            push(side, side.found.take());
    }
    return {};
}

void TraceWalk::push(Side &side, TraceRecord record)
{
    const std::size_t bytes = bytesOf(record);
    side.aheadBytes += bytes;
    side.ahead.push_back({std::move(record), bytes});
}

Status TraceWalk::read(Side &side)
{
    FP_TRY(const bool isFound,
           side.reader ? side.reader->next(side.found) : side.feed.next(side.found));
    side.ended = !isFound;
    return {};
}

/// The next record of both, if they are of one form and nothing needs to be looked into: false
/// where the way of all others is to be gone.
Result<bool> TraceWalk::advanceFormed()
{
    if (!m_a.ahead.empty() || !m_b.ahead.empty() || m_a.ended || m_b.ended)
        return false;
    FP_CHECK(read(m_a));
    FP_CHECK(read(m_b));
    const FormedRecord &a = m_a.found.formed, &b = m_b.found.formed;
    if (!m_a.ended && !m_b.ended && a.form && b.form && a.form->isLike(*b.form)
        && (m_differed || a.digests == b.digests)) {
        const std::int64_t shift = slipOf(a.form->keyHash);
        if (std::int64_t(b.call) - std::int64_t(a.call) == shift) {
            ++m_pairs;
            if (m_visitFormed) {
                m_visitFormed({a, b, m_ordinal++, shift != 0});
                return true;
            }
            const TraceRecord madeA = toRecord(a), madeB = toRecord(b);
            m_visit({&madeA, &madeB, m_ordinal++, false, false, shift != 0});
            return true;
        }
    }
    for (Side *side : {&m_a, &m_b}) {
        if (!side->ended)
            push(*side, side->found.take());
    }
    return false;
}

TraceRecord TraceWalk::take(Side &side)
{
    TraceRecord record = std::move(side.ahead.front().record);
    side.aheadBytes -= side.ahead.front().bytes;
    side.ahead.pop_front();
    return record;
}

std::vector<AlignItem> TraceWalk::itemsOf(Side &side, std::size_t most)
{
    std::vector<AlignItem> items;
    for (std::size_t i = 0; i < std::min(most, side.ahead.size()); ++i) {
        Ahead &ahead = side.ahead[i];
        if (!ahead.item)
            ahead.item = alignItemOf(ahead.record);
        items.push_back(*ahead.item);
    }
    return items;
}

std::vector<std::string> TraceWalk::limits() const
{
    std::vector<std::string> said;
    if (m_isNarrow)
        said.push_back("its records are so large that less than " + grouped(Window)
                       + " fit into the " + grouped(MostAheadBytes)
                       + " bytes in which a partner is looked for: what moved further counts as a "
                         "record of each side");
    if (m_isFlushed)
        said.push_back(
            "more than " + grouped(MostWaiting) + " records, or " + grouped(MostWaitingBytes)
            + " bytes of them, wait for a partner: what moved further counts as a record "
              "of each side");
    return said;
}

bool TraceWalk::meets(const TraceRecord &a, const TraceRecord &b) const
{
    if (!sameToken(a, b))
        return false;
    const std::int64_t shift = m_slips.empty() ? 0 : slipOf(hashOfKey(a.key));
    return std::int64_t(b.call) - std::int64_t(a.call) == shift;
}

/// What calls of that key are known to be shifted by.
std::int64_t TraceWalk::slipOf(std::uint64_t keyHash) const
{
    if (m_slips.empty())
        return 0;
    const auto slip = m_slips.find(identityWith(keyHash, 0));
    return slip == m_slips.end() ? 0 : slip->second;
}

/// At the first difference: whether it comes of a record more or less of the same kind, which an
/// alignment by contents shows.
Result<bool> TraceWalk::isInserted()
{
    FP_CHECK(fill(m_a, Window));
    FP_CHECK(fill(m_b, Window));
    const auto a = itemsOf(m_a, Window), b = itemsOf(m_b, Window);
    return !sameTokens(a, b);
}

void TraceWalk::pair(TraceRecord a, TraceRecord b)
{
    const std::int64_t shift = std::int64_t(b.call) - std::int64_t(a.call);
    const bool afterSlip = shift != 0;
    if (afterSlip || !m_slips.empty())
        m_slips[identityOf(a.key, 0)] = shift;
    ++m_pairs;
    m_visit({&a, &b, m_ordinal++, false, false, afterSlip});
}

/// A record without a partner here: one that waits on the other side, or it waits itself.
void TraceWalk::takeOneSided(Side &own, Side &other, bool isA)
{
    const std::size_t bytes = own.ahead.front().bytes;
    TraceRecord record = take(own);
    const std::uint64_t identity = identityOf(record);
    const std::uint64_t ordinal = m_ordinal++;
    const auto partner = other.waiting.find(identity);
    if (partner != other.waiting.end() && partner->second.record.key == record.key) {
        const TraceRecord &a = isA ? record : partner->second.record;
        const TraceRecord &b = isA ? partner->second.record : record;
        // Of another shape at the same place it did not move: nothing met between the two.
        const bool moved = m_pairs != partner->second.pairs || sameToken(a, b);
        m_visit({&a, &b, partner->second.ordinal, false, moved, false});
        other.waitingBytes -= partner->second.bytes;
        other.waiting.erase(partner);
        return;
    }
    m_visit({isA ? &record : nullptr, isA ? nullptr : &record, ordinal, true, false, false});
    if (own.waiting.size() >= MostWaiting || own.waitingBytes >= MostWaitingBytes
        || own.waiting.count(identity) > 0) {
        m_isFlushed = true;
        flush(own, isA);
    }
    own.waitingBytes += bytes;
    own.waiting.emplace(identity, Waiting{std::move(record), ordinal, bytes, m_pairs});
}

void TraceWalk::flush(Side &side, bool isA)
{
    std::vector<const Waiting *> rest;
    for (const auto &[identity, waiting] : side.waiting)
        rest.push_back(&waiting);
    std::sort(rest.begin(), rest.end(),
              [](const Waiting *x, const Waiting *y) { return x->ordinal < y->ordinal; });
    for (const Waiting *waiting : rest) {
        m_visit({isA ? &waiting->record : nullptr, isA ? nullptr : &waiting->record,
                 waiting->ordinal, false, false, false});
    }
    side.waiting.clear();
    side.waitingBytes = 0;
}

/// Aligns a window of both sides and takes it up to the last pair in it: what follows may meet
/// something that is not in the window yet.
Status TraceWalk::realign()
{
    FP_CHECK(fill(m_a, Window));
    FP_CHECK(fill(m_b, Window));
    std::vector<AlignStep> steps = alignWindows(itemsOf(m_a, Window), itemsOf(m_b, Window));
    const bool isAll =
        m_a.ended && m_b.ended && m_a.ahead.size() <= Window && m_b.ahead.size() <= Window;
    if (!isAll) {
        const auto last = std::find_if(steps.rbegin(), steps.rend(),
                                       [](const AlignStep &step) { return step.a && step.b; });
        if (last == steps.rend())
            return realignFar();
        steps.erase(last.base(), steps.end());
    }
    for (const AlignStep &step : steps) {
        if (!step.b) {
            takeOneSided(m_a, m_b, true);
        } else if (!step.a) {
            takeOneSided(m_b, m_a, false);
        } else {
            pair(take(m_a), take(m_b));
        }
    }
    return {};
}

/// Nothing in the window meets: the nearest place further on where a few records in a row do.
Status TraceWalk::realignFar()
{
    FP_CHECK(fill(m_a, FarWindow));
    FP_CHECK(fill(m_b, FarWindow));
    const auto a = itemsOf(m_a, FarWindow), b = itemsOf(m_b, FarWindow);
    std::unordered_map<std::uint64_t, std::size_t> firstInB;
    for (std::size_t j = b.size(); j-- > 0;)
        firstInB[b[j].token] = j;
    std::size_t skipA = a.size(), skipB = b.size();
    for (std::size_t i = 0; i < a.size(); ++i) {
        const auto found = firstInB.find(a[i].token);
        if (found == firstInB.end() || i + found->second >= skipA + skipB)
            continue;
        std::size_t run = 0;
        while (run < FarRun && i + run < a.size() && found->second + run < b.size()
               && a[i + run].token == b[found->second + run].token)
            ++run;
        const bool atEnd = i + run == a.size() && found->second + run == b.size();
        if (run == FarRun || (run > 0 && atEnd)) {
            skipA = i;
            skipB = found->second;
        }
    }
    for (std::size_t i = 0; i < skipA; ++i)
        takeOneSided(m_a, m_b, true);
    for (std::size_t j = 0; j < skipB; ++j)
        takeOneSided(m_b, m_a, false);
    return {};
}

Result<bool> TraceWalk::advance()
{
    FP_TRY(const bool isTaken, advanceFormed());
    if (isTaken)
        return true;
    FP_CHECK(fill(m_a, 1));
    FP_CHECK(fill(m_b, 1));
    if (m_a.ahead.empty() && m_b.ahead.empty()) {
        flush(m_a, true);
        flush(m_b, false);
        return false;
    }
    bool straight = !m_a.ahead.empty() && !m_b.ahead.empty()
        && meets(m_a.ahead.front().record, m_b.ahead.front().record);
    if (straight && !m_differed
        && compareRecords(m_a.ahead.front().record, m_b.ahead.front().record).all().evidence
            == Evidence::Different) {
        m_differed = true;
        FP_TRY(const bool inserted, isInserted());
        straight = !inserted;
    }
    if (!straight) {
        FP_CHECK(realign());
        return true;
    }
    pair(take(m_a), take(m_b));
    return true;
}

Status TraceWalk::run(const std::function<bool()> &stopped, Executor &executor)
{
    if (executor.threadCount() < 2 || (m_a.feed.isInMemory() && m_b.feed.isInMemory()))
        return run(stopped);
    FeedAhead reader(m_a.feed);
    m_a.reader = &reader;
    Status status;
    executor.forEachOnce(2, [&](std::size_t task) {
        if (task == 1)
            return reader.produce();
        const struct Stop // however the walk ends
        {
            FeedAhead &reader;
            ~Stop() { reader.stop(); }
        } stop{reader};
        status = run(stopped);
    });
    m_a.reader = nullptr;
    return status;
}

Status TraceWalk::run(const std::function<bool()> &stopped)
{
    for (;;) {
        if (stopped())
            return Error{ErrorCode::Cancelled, {}, {}, "cancelled"};
        FP_TRY(const bool more, advance());
        if (!more)
            return {};
    }
}

} // namespace forkpoint
