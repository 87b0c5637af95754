// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/traces/packed_segments.h"

#include "loaders/limits.h"

#include <algorithm>
#include <array>
#include <atomic>

namespace forkpoint {

namespace {

/// What the segments of all traces take that are open.
std::atomic<std::size_t> g_taken = 0;

/// A record: this byte, its form, the size of its line, what the byte says is not usual, and its digests,
/// two digits a byte. Numbers have seven bits a byte, the lowest first.
enum Usual : std::uint8_t {
    Follows = 1,      ///< on the next line, one byte behind the last one
    NextSequence = 2, ///< one more than the last one
    SameCall = 4,     ///< that of its form
};

void append(std::string &bytes, std::uint64_t number)
{
    for (; number >= 0x80; number >>= 7)
        bytes += char(0x80 | (number & 0x7f));
    bytes += char(number);
}

std::uint64_t numberAt(const char *&at)
{
    std::uint64_t number = 0;
    for (int shift = 0;; shift += 7) {
        const auto byte = std::uint8_t(*at++);
        number |= std::uint64_t(byte & 0x7f) << shift;
        if (byte < 0x80)
            return number;
    }
}

std::uint8_t valueOf(char digit)
{
    return std::uint8_t(digit <= '9' ? digit - '0' : digit - 'a' + 10);
}

/// What a segment takes beside its bytes.
constexpr std::size_t SegmentBytes = 128;

/// The last byte of an odd number of digits has one.
void appendDigits(std::string &bytes, std::string_view digits)
{
    std::size_t i = 0;
    for (; i + 1 < digits.size(); i += 2)
        bytes += char(valueOf(digits[i]) << 4 | valueOf(digits[i + 1]));
    if (i < digits.size())
        bytes += char(valueOf(digits[i]) << 4);
}

/// Both digits of a byte.
constexpr std::array<std::array<char, 2>, 256> Digits = [] {
    constexpr std::string_view Hex = "0123456789abcdef";
    std::array<std::array<char, 2>, 256> table{};
    for (std::size_t i = 0; i < table.size(); ++i)
        table[i] = {Hex[i >> 4], Hex[i & 15]};
    return table;
}();

std::size_t digitsOf(const RecordForm &form)
{
    return form.digests.empty() ? 0 : form.digests.back().begin + form.digests.back().size;
}

} // namespace

/// Reads what add() wrote: nothing of a file decides where a record ends.
class PackedSegments::Cursor final : public FormedCursor
{
public:
    Cursor(const std::vector<Known> &forms, std::string_view bytes, const TracePlace &begin,
           std::optional<std::int64_t> iteration)
        : m_forms(forms),
          m_at(bytes.data()),
          m_end(bytes.data() + bytes.size()),
          m_place(begin),
          m_iteration(iteration)
    {
        m_place.size = 0; // nothing comes before the first one
    }

    Result<bool> nextFormed(FormedRecord &into) override
    {
        if (m_at == m_end)
            return false;
        const auto usual = std::uint8_t(*m_at++);
        const RecordForm &form = *m_forms[std::size_t(numberAt(m_at))].form;
        const std::uint64_t size = numberAt(m_at);
        const bool follows = (usual & Follows) != 0;
        m_place.byte += m_place.size + (follows ? 1 : numberAt(m_at));
        m_place.line += follows ? 1 : numberAt(m_at);
        m_place.size = size;
        into.sequence = form.record.sequence;
        if (into.sequence)
            into.sequence = m_sequence += (usual & NextSequence) != 0 ? 1 : numberAt(m_at);
        into.call = form.record.call + ((usual & SameCall) != 0 ? 0 : numberAt(m_at));
        into.form = &form;
        into.place = m_place;
        into.iteration = m_iteration;
        into.digests = takeDigits(digitsOf(form));
        return true;
    }

private:
    std::string_view takeDigits(std::size_t count)
    {
        const std::size_t bytes = (count + 1) / 2;
        if (m_digits.size() < 2 * bytes)
            m_digits.resize(2 * bytes);
        char *to = m_digits.data();
        for (std::size_t i = 0; i < bytes; ++i, to += 2)
            std::copy_n(Digits[std::uint8_t(m_at[i])].data(), 2, to);
        m_at += bytes;
        return {m_digits.data(), count};
    }

    const std::vector<Known> &m_forms;
    const char *m_at, *m_end;
    TracePlace m_place; ///< of the last record
    std::uint64_t m_sequence = 0;
    std::optional<std::int64_t> m_iteration;
    std::string m_digits;
};

PackedSegments::~PackedSegments()
{
    g_taken -= m_taken;
}

std::size_t PackedSegments::numberOf(const RecordForm &form)
{
    if (m_last < m_forms.size()) {
        const std::size_t next = m_forms[m_last].next;
        if (m_forms[next].form == &form)
            return m_last = next;
    }
    const auto [known, isNew] = m_numbers.emplace(&form, m_forms.size());
    if (isNew)
        m_forms.push_back({&form, 0});
    m_forms[m_last].next = known->second;
    return m_last = known->second;
}

void PackedSegments::add(const FormedRecord &record)
{
    if (m_isSpoilt || m_isFull)
        return;
    const RecordForm &form = *record.form;
    if (m_bytes.empty()) {
        m_place = record.place;
        m_place.size = 0;
        m_sequence = 0;
    }
    const std::uint64_t gap = record.place.byte - m_place.byte - m_place.size;
    const std::uint64_t lines = record.place.line - m_place.line;
    const std::uint64_t step = record.sequence.value_or(0) - m_sequence;
    const std::uint64_t shift = record.call - form.record.call;
    m_bytes += char((gap == 1 && lines == 1 ? Follows : 0) | (step == 1 ? NextSequence : 0)
                    | (shift == 0 ? SameCall : 0));
    append(m_bytes, numberOf(form));
    append(m_bytes, record.place.size);
    if (gap != 1 || lines != 1) {
        append(m_bytes, gap);
        append(m_bytes, lines);
    }
    if (record.sequence && step != 1)
        append(m_bytes, step);
    if (shift != 0)
        append(m_bytes, shift);
    appendDigits(m_bytes, record.digests);
    m_place = record.place;
    m_sequence = record.sequence.value_or(m_sequence);
    m_isFull = g_taken + m_bytes.size() > limits::TracePackedBytes;
}

void PackedSegments::endSegment(const TracePlace &begin)
{
    if (!m_isSpoilt && !m_isFull && !m_bytes.empty()) {
        const std::size_t bytes = m_bytes.size() + SegmentBytes;
        if (g_taken.fetch_add(bytes) + bytes > limits::TracePackedBytes) {
            g_taken -= bytes;
            m_isFull = true;
        } else {
            m_taken += bytes;
            m_segments.emplace(std::pair(begin.file, begin.byte), m_bytes); // without room to grow
        }
    }
    m_bytes.clear();
    m_isSpoilt = false;
}

void PackedSegments::finish()
{
    std::string().swap(m_bytes);
    std::unordered_map<const RecordForm *, std::size_t>().swap(m_numbers);
}

std::unique_ptr<FormedCursor> PackedSegments::open(const TracePlace &begin,
                                                   std::optional<std::int64_t> iteration) const
{
    const auto known = m_segments.find({begin.file, begin.byte});
    if (known == m_segments.end())
        return nullptr;
    return std::make_unique<Cursor>(m_forms, known->second, begin, iteration);
}

} // namespace forkpoint
