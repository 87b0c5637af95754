// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/hdf5/lz_decoders.h"

#include "loaders/hdf5/chunk_codecs.h"

#include <algorithm>

namespace forkpoint {

namespace {

constexpr unsigned LastByte = 255; ///< a length goes on in the next byte

/// Input and output of a decoder; the first failure sticks, and reads yield 0 from then on.
class Lz
{
public:
    Lz(ByteView stored, std::size_t cap) : m_in(stored), m_cap(cap)
    {
        m_out.reserve(std::min(cap, stored.size() * 3));
    }

    bool atEnd() const { return m_at == m_in.size(); }
    bool failed() const { return m_error.has_value(); }
    std::size_t produced() const { return m_out.size(); }

    std::size_t byte() { return take(1); }
    /// A little-endian number of so many bytes.
    std::size_t take(std::size_t bytes)
    {
        if (failed() || bytes > m_in.size() - m_at) {
            fail(damaged("ends too early"));
            return 0;
        }
        std::size_t number = 0;
        for (std::size_t i = 0; i < bytes; ++i)
            number |= std::to_integer<std::size_t>(m_in[m_at++]) << (8 * i);
        return number;
    }
    /// Adds bytes to a length as long as they say that it goes on.
    std::size_t longer(std::size_t length)
    {
        std::size_t more = 0;
        do {
            more = byte();
            length += more;
        } while (more == LastByte);
        return length;
    }

    void literals(std::size_t count)
    {
        if (failed() || count > m_in.size() - m_at)
            return fail(damaged("literals end too early"));
        if (count > m_cap - m_out.size())
            return fail(overCap(m_cap));
        const auto from = m_in.begin() + std::ptrdiff_t(m_at);
        m_out.insert(m_out.end(), from, from + std::ptrdiff_t(count));
        m_at += count;
    }
    void copy(std::size_t distance, std::size_t length)
    {
        if (failed())
            return;
        if (distance == 0 || distance > m_out.size())
            return fail(damaged("a distance leads before the begin"));
        if (length > m_cap - m_out.size())
            return fail(overCap(m_cap));
        const std::size_t to = m_out.size();
        m_out.resize(to + length);
        std::byte *const out = m_out.data() + to;
        if (distance >= length) {
            std::copy_n(out - distance, length, out);
            return;
        }
        for (std::size_t i = 0; i < length; ++i) // overlaps: what was copied is copied again
            out[i] = *(out + i - distance);
    }

    void fail(Error error)
    {
        if (!m_error)
            m_error = std::move(error);
    }
    FilterResult finish()
    {
        if (m_error)
            return *std::move(m_error);
        return std::move(m_out);
    }

private:
    ByteView m_in;
    std::size_t m_at = 0;
    std::size_t m_cap;
    std::vector<std::byte> m_out;
    std::optional<Error> m_error;
};

} // namespace

/// A control byte below 32 announces that many literals and one more; others a length (3 bits, 7
/// meaning that a byte more follows) and a distance of 13 bits.
FilterResult decodeLzf(ByteView stored, std::size_t cap)
{
    Lz lz(stored, cap);
    while (!lz.failed() && !lz.atEnd()) {
        const std::size_t control = lz.byte();
        if (control < 32) {
            lz.literals(control + 1);
            continue;
        }
        std::size_t length = control >> 5;
        if (length == 7)
            length += lz.byte();
        const std::size_t distance = ((control & 0x1f) << 8) + lz.byte() + 1;
        lz.copy(distance, length + 2);
    }
    return lz.finish();
}

/// Sequences of a token (4 bits of literals, 4 of a match), literals, and a distance of 16 bits;
/// the last one has literals alone.
FilterResult decodeLz4Block(ByteView stored, std::size_t cap)
{
    constexpr std::size_t Long = 15, LeastMatch = 4;
    Lz lz(stored, cap);
    while (!lz.failed()) {
        const std::size_t token = lz.byte();
        const std::size_t literals = token >> 4;
        lz.literals(literals == Long ? lz.longer(literals) : literals);
        if (lz.failed() || lz.atEnd())
            break;
        const std::size_t distance = lz.take(2);
        const std::size_t match = token & 0xf;
        lz.copy(distance, (match == Long ? lz.longer(match) : match) + LeastMatch);
    }
    return lz.finish();
}

/// The decoded length as a varint; then elements whose two lowest bits are their kind.
FilterResult decodeSnappy(ByteView stored, std::size_t cap)
{
    Lz lz(stored, cap);
    std::size_t announced = 0, shift = 0, more = 0x80;
    for (; (more & 0x80) != 0 && shift < 35; shift += 7) {
        more = lz.byte();
        announced |= (more & 0x7f) << shift;
    }
    while (!lz.failed() && !lz.atEnd()) {
        const std::size_t tag = lz.byte(), high = tag >> 2;
        switch (tag & 3) {
        case 0: lz.literals(high < 60 ? high + 1 : lz.take(high - 59) + 1); break;
        case 1: {
            const std::size_t distance = (tag >> 5 << 8) + lz.byte();
            lz.copy(distance, (high & 7) + 4);
            break;
        }
        case 2: lz.copy(lz.take(2), high + 1); break;
        default: lz.copy(lz.take(4), high + 1);
        }
    }
    if (lz.produced() != announced)
        lz.fail(damaged("must decode to the length that it announces"));
    return lz.finish();
}

/// As LZF, but lengths go on over many bytes, and the largest distance means a far one.
FilterResult decodeBloscLz(ByteView stored, std::size_t cap)
{
    constexpr std::size_t Largest = 31u << 8, NearDistance = 8191;
    Lz lz(stored, cap);
    std::size_t control = lz.byte() & 0x1f;
    while (!lz.failed()) {
        if (control < 32) {
            lz.literals(control + 1);
        } else {
            std::size_t length = (control >> 5) - 1;
            if (length == 6)
                length = lz.longer(length);
            const std::size_t high = (control & 0x1f) << 8, low = lz.byte();
            std::size_t distance = high + low + 1;
            if (low == LastByte && high == Largest) {
                const std::size_t farHigh = lz.byte();
                distance = (farHigh << 8) + lz.byte() + NearDistance + 1;
            }
            lz.copy(distance, length + 3);
        }
        if (lz.atEnd())
            break;
        control = lz.byte();
    }
    return lz.finish();
}

} // namespace forkpoint
