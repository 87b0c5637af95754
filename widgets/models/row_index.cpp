// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/row_index.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <iterator>

namespace forkpoint {

namespace {

/// A row with the 32 bits of its key that tell most, so that a pass moves eight bytes a row.
struct KeyedRow
{
    std::uint32_t key;
    Row row;
};

/// Stable, least significant digits first; digits that all keys share cost one look.
void radixSort(std::vector<KeyedRow> &rows)
{
    constexpr int DigitBits = 11;
    constexpr std::size_t Digits = std::size_t(1) << DigitBits;
    std::vector<KeyedRow> other(rows.size());
    for (int shift = 0; shift < 32; shift += DigitBits) {
        const auto digit = [shift](std::uint32_t key) {
            return std::size_t(key >> shift) & (Digits - 1);
        };
        std::array<std::uint32_t, Digits> ends{};
        for (const KeyedRow &row : rows)
            ++ends[digit(row.key)];
        if (rows.empty() || ends[digit(rows.front().key)] == rows.size())
            continue;
        std::uint32_t begin = 0;
        for (std::uint32_t &end : ends)
            begin += std::exchange(end, begin);
        for (const KeyedRow &row : rows)
            other[ends[digit(row.key)]++] = row;
        rows.swap(other);
    }
}

/// Orders, within stretches of equal upper bits, by the whole key.
template <class KeyOf>
void sortRest(std::vector<KeyedRow> &rows, KeyOf keyOf)
{
    for (auto begin = rows.begin(); begin != rows.end();) {
        const auto end = std::find_if(begin, rows.end(),
                                      [&](const KeyedRow &row) { return row.key != begin->key; });
        const auto less = [&](const KeyedRow &a, const KeyedRow &b) {
            return keyOf(a.row) < keyOf(b.row);
        };
        if (end - begin > 1 && !std::is_sorted(begin, end, less))
            std::stable_sort(begin, end, less);
        begin = end;
    }
}

/// Counts, a row, how many of the words occur in its name.
class WordMatches
{
public:
    WordMatches(const NameIndex &names, const std::vector<std::string> &words)
        : m_found(names.natural.size(), 0),
          m_wanted(std::uint8_t(std::min<std::size_t>(words.size(), 255)))
    {
        for (std::uint8_t word = 0; word < m_wanted; ++word)
            search(names, words[word], word);
    }

    bool all(Row row) const { return m_found[row] == m_wanted; }

private:
    void search(const NameIndex &names, const std::string &word, std::uint8_t before)
    {
        // The byte of the word that is rarest in the names is looked for; the rest is compared.
        const auto rarest = std::min_element(word.begin(), word.end(), [&](char a, char b) {
            return names.frequency[std::uint8_t(a)] < names.frequency[std::uint8_t(b)];
        });
        const auto anchor = std::size_t(rarest - word.begin());
        const std::string &text = names.lower;
        std::size_t row = 0;
        for (std::size_t at = anchor; at < text.size();) {
            const void *const hit = std::memchr(text.data() + at, *rarest, text.size() - at);
            if (!hit)
                return;
            at = std::size_t(static_cast<const char *>(hit) - text.data());
            const bool found = text.compare(at - anchor, word.size(), word) == 0;
            ++at;
            if (!found)
                continue;
            const std::size_t begin = at - 1 - anchor;
            while (names.begins[row + 1] <= begin)
                ++row;
            if (m_found[row] == before)
                ++m_found[row];
            at = names.begins[row + 1] + anchor;
        }
    }

    std::vector<std::uint8_t> m_found;
    std::uint8_t m_wanted;
};

} // namespace

RowIndex::RowIndex() : m_order(std::make_shared<const std::vector<Row>>()), m_visible(m_order) {}

RowIndex::RowIndex(std::shared_ptr<const NameIndex> names)
    : m_names(std::move(names)),
      m_order(natural()),
      m_visible(m_order)
{
}

void RowIndex::sort(const std::vector<std::uint64_t> &keys, bool descending)
{
    if (!m_names)
        return;
    const std::vector<Row> &rows = m_names->natural;
    if (!keys.empty() && !rows.empty())
        m_order = sortedByKeys(keys, descending);
    else if (descending)
        m_order = std::make_shared<const std::vector<Row>>(rows.rbegin(), rows.rend());
    else
        m_order = natural();
    showAccepted();
}

RowIndex::Rows RowIndex::sortedByKeys(const std::vector<std::uint64_t> &keys, bool descending) const
{
    const auto [least, most] = std::minmax_element(keys.begin(), keys.end());
    const int bits = int(std::bit_width(*most - *least)), shift = std::max(0, bits - 32);
    const auto keyOf = [&, low = *least, high = *most](Row row) {
        return descending ? high - keys[row] : keys[row] - low;
    };
    std::vector<KeyedRow> keyed;
    keyed.reserve(m_names->natural.size());
    for (const Row row : m_names->natural)
        keyed.push_back({std::uint32_t(keyOf(row) >> shift), row});
    radixSort(keyed);
    if (shift > 0)
        sortRest(keyed, keyOf);
    auto sorted = std::make_shared<std::vector<Row>>(keyed.size());
    std::transform(keyed.begin(), keyed.end(), sorted->begin(),
                   [](const KeyedRow &row) { return row.row; });
    return sorted;
}

void RowIndex::filter(const RowSource &rows, const RowFilter &filter)
{
    if (!m_names)
        return;
    std::array<bool, RowSource::Marks> accepted{};
    for (std::size_t mark = 0; mark < accepted.size(); ++mark)
        accepted[mark] = filter.acceptsMark(RowSource::Mark(mark), rows.finished());
    const WordMatches matches(*m_names, filter.words());
    const std::vector<RowSource::Mark> &marks = rows.marks();
    auto each = std::make_shared<std::vector<std::uint8_t>>(total());
    std::size_t count = 0;
    for (std::size_t row = 0; row < each->size(); ++row) {
        const bool shown = accepted[marks[row]] && matches.all(Row(row));
        (*each)[row] = shown ? 1 : 0;
        count += shown ? 1 : 0;
    }
    m_accepted = count < total() ? std::move(each) : nullptr;
    showAccepted();
}

void RowIndex::showAccepted()
{
    if (!m_accepted) {
        m_visible = m_order;
        return;
    }
    auto visible = std::make_shared<std::vector<Row>>();
    visible->reserve(std::size_t(std::count(m_accepted->begin(), m_accepted->end(), 1)));
    std::copy_if(m_order->begin(), m_order->end(), std::back_inserter(*visible),
                 [&](Row row) { return (*m_accepted)[row] != 0; });
    m_visible = std::move(visible);
}

int RowIndex::positionOf(std::size_t row) const
{
    const auto found = std::find(m_visible->begin(), m_visible->end(), Row(row));
    return found == m_visible->end() ? -1 : int(found - m_visible->begin());
}

} // namespace forkpoint
