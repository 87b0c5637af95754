// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/traces/trace_alignment.h"

#include <algorithm>
#include <string_view>

namespace forkpoint {

namespace {

/// FNV-1a: the same on every machine.
class Hash
{
public:
    Hash() = default;
    explicit Hash(std::uint64_t begun) : m_value(begun) {}
    void add(std::string_view text)
    {
        for (const char c : text)
            byte(std::uint8_t(c));
        byte(0xff); // ends a text, so that "ab","c" is not "a","bc"
    }
    void add(std::uint64_t number)
    {
        for (int shift = 0; shift < 64; shift += 8)
            byte(std::uint8_t(number >> shift));
    }
    std::uint64_t value() const { return m_value; }

private:
    void byte(std::uint8_t b) { m_value = (m_value ^ b) * 0x100000001b3u; }

    std::uint64_t m_value = 0xcbf29ce484222325u;
};

void addLayouts(Hash &hash, const std::vector<Observation> &observations)
{
    hash.add(std::uint64_t(observations.size()));
    for (const Observation &observation : observations) {
        hash.add(observation.dtype);
        if (!observation.shape)
            continue;
        for (const std::uint64_t dimension : *observation.shape)
            hash.add(dimension);
    }
}

void addDigests(Hash &hash, const std::vector<Observation> &observations)
{
    for (const Observation &observation : observations)
        hash.add(observation.digest);
}

// An equal content outweighs any number of equal tokens that a window can hold.
constexpr std::int64_t TokenScore = 1;
constexpr std::int64_t ContentScore = 1 << 12;

std::int64_t scoreOf(const AlignItem &a, const AlignItem &b)
{
    if (a.token != b.token)
        return 0;
    return a.content == b.content ? ContentScore : TokenScore;
}

} // namespace

std::uint64_t identityOf(const TraceRecord &record)
{
    return identityOf(record.key, record.call);
}

std::uint64_t identityOf(const std::string &key, std::uint64_t call)
{
    return identityWith(hashOfKey(key), call);
}

std::uint64_t hashOfKey(std::string_view key)
{
    Hash hash;
    hash.add(key);
    return hash.value();
}

std::uint64_t identityWith(std::uint64_t keyHash, std::uint64_t call)
{
    Hash hash(keyHash);
    hash.add(call);
    return hash.value();
}

AlignItem alignItemOf(const TraceRecord &record)
{
    Hash hash;
    hash.add(record.key);
    hash.add(record.scope);
    addLayouts(hash, record.inputs);
    addLayouts(hash, record.outputs);
    AlignItem item;
    item.token = hash.value();
    addDigests(hash, record.inputs);
    addDigests(hash, record.outputs);
    for (const auto &[name, value] : record.fields) {
        hash.add(name);
        hash.add(value);
    }
    item.content = hash.value();
    return item;
}

std::vector<AlignStep> alignWindows(std::span<const AlignItem> a, std::span<const AlignItem> b)
{
    // best[i][j]: of the rests that begin at i and j.
    const std::size_t width = b.size() + 1;
    std::vector<std::int64_t> best((a.size() + 1) * width, 0);
    const auto at = [&](std::size_t i, std::size_t j) -> std::int64_t & {
        return best[i * width + j];
    };
    for (std::size_t i = a.size(); i-- > 0;) {
        for (std::size_t j = b.size(); j-- > 0;) {
            const std::int64_t score = scoreOf(a[i], b[j]);
            at(i, j) = std::max(at(i + 1, j), at(i, j + 1));
            if (score > 0)
                at(i, j) = std::max(at(i, j), score + at(i + 1, j + 1));
        }
    }
    std::vector<AlignStep> steps;
    std::size_t i = 0, j = 0;
    while (i < a.size() && j < b.size()) {
        const std::int64_t score = scoreOf(a[i], b[j]);
        if (score > 0 && at(i, j) == score + at(i + 1, j + 1))
            steps.push_back({i++, j++});
        else if (at(i, j) == at(i + 1, j))
            steps.push_back({i++, {}});
        else
            steps.push_back({{}, j++});
    }
    while (i < a.size())
        steps.push_back({i++, {}});
    while (j < b.size())
        steps.push_back({{}, j++});
    return steps;
}

} // namespace forkpoint
