// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/traces/lone_records.h"

#include <algorithm>

namespace forkpoint {

namespace {

/// Stages and micro-batches that are told apart; of more the micro-batch is not.
constexpr std::size_t MostSums = 100'000;

} // namespace

/// Where there is no room for another one: that of the stage alone.
LoneRecords::Key LoneRecords::keyIn(const Sums &sums, Key key)
{
    if (sums.size() >= MostSums && !sums.contains(key))
        std::get<2>(key).reset();
    return key;
}

void LoneRecords::add(Sums &sums, const Key &key, const Sum &sum)
{
    const auto [place, isNew] = sums.try_emplace(keyIn(sums, key), sum);
    Sum &known = place->second;
    if (isNew)
        return;
    known.count += sum.count;
    known.isPlaced = known.isPlaced && sum.isPlaced;
    if (sum.ordinal >= known.ordinal)
        return;
    known.first = sum.first;
    known.role = sum.role;
    known.ordinal = sum.ordinal;
}

void LoneRecords::meet(std::uint64_t ordinal)
{
    m_hasMet = true;
    if (ordinal <= m_lastPair)
        return;
    m_lastPair = ordinal;
    for (auto &[key, sum] : m_behind)
        add(m_before, key, sum);
    m_behind.clear();
}

void LoneRecords::add(const TraceRecord &record, bool isA, std::uint64_t ordinal)
{
    Sums &sums = m_hasMet && ordinal < m_lastPair ? m_before : m_behind;
    const Key key = keyIn(sums, {isA, record.stage, record.microBatch});
    const auto known = sums.find(key);
    if (known != sums.end() && known->second.ordinal <= ordinal) {
        ++known->second.count;
        known->second.isPlaced = known->second.isPlaced && record.isPlaced;
        return;
    }
    Sum sum{nameOf(record), record.role, ordinal, 1, isA, false, record.isPlaced};
    (isA ? sum.first.placeA : sum.first.placeB) = record.place;
    add(sums, key, sum);
}

std::vector<LoneRecords::Sum> LoneRecords::sums() const
{
    std::vector<Sum> all;
    for (const Sums *sums : {&m_before, &m_behind}) {
        for (const auto &[key, sum] : *sums) {
            all.push_back(sum);
            all.back().isBehind = sums == &m_behind;
        }
    }
    return all;
}

bool LoneRecords::hasBehind(bool isA) const
{
    return std::any_of(m_behind.begin(), m_behind.end(),
                       [&](const auto &each) { return each.second.isA == isA; });
}

} // namespace forkpoint
