// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/metrics/proto_reader.h"

namespace forkpoint {

std::optional<std::uint64_t> ProtoReader::varint()
{
    std::uint64_t value = 0;
    std::size_t at = m_position;
    for (unsigned shift = 0; shift < 64 && at < m_bytes.size(); shift += 7) {
        const std::uint64_t byte = std::uint64_t(m_bytes[at++]);
        const bool overflows = shift == 63 && byte > 1;
        if (overflows)
            return std::nullopt;
        value |= (byte & 0x7f) << shift;
        if (byte < 0x80) {
            m_position = at;
            return value;
        }
    }
    return std::nullopt;
}

std::optional<ProtoField> ProtoReader::fail(std::size_t position)
{
    m_malformed = true;
    m_position = position;
    return std::nullopt;
}

std::optional<ProtoField> ProtoReader::next()
{
    if (m_malformed || atEnd())
        return std::nullopt;
    const std::size_t begin = m_position;
    const auto key = varint();
    if (!key || *key >> 3 == 0 || *key >> 3 > 0x1fffffff)
        return fail(begin);
    ProtoField field;
    field.number = std::uint32_t(*key >> 3);
    field.wire = ProtoField::Wire(*key & 7);
    std::uint64_t length = 0;
    switch (field.wire) {
    case ProtoField::Wire::Varint: {
        const auto value = varint();
        if (!value)
            return fail(begin);
        field.value = *value;
        return field;
    }
    case ProtoField::Wire::Fixed64: length = 8; break;
    case ProtoField::Wire::Fixed32: length = 4; break;
    case ProtoField::Wire::Bytes: {
        const auto declared = varint();
        if (!declared)
            return fail(begin);
        length = *declared;
        break;
    }
    default: return fail(begin);
    }
    if (length > m_bytes.size() - m_position)
        return fail(begin);
    const ByteView bytes = m_bytes.subspan(m_position, std::size_t(length));
    m_position += std::size_t(length);
    if (field.wire == ProtoField::Wire::Bytes)
        field.bytes = bytes;
    else if (field.wire == ProtoField::Wire::Fixed64)
        field.value = loadLittle<std::uint64_t>(bytes.data());
    else
        field.value = loadLittle<std::uint32_t>(bytes.data());
    return field;
}

} // namespace forkpoint
