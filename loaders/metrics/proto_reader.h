// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/bytes.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace forkpoint {

/// One field of a protocol buffer message.
struct ProtoField
{
    enum class Wire : std::uint8_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

    std::uint32_t number = 0;
    Wire wire = Wire::Varint;
    std::uint64_t value = 0; ///< of Varint, Fixed64 and Fixed32
    ByteView bytes;          ///< of Bytes: a text, a message, or packed numbers

    std::string_view text() const { return asText(bytes); }
    bool isBytes(std::uint32_t wanted) const { return number == wanted && wire == Wire::Bytes; }
};

/// Walks the fields of one message in memory. Nothing is allocated, and nothing outside of the
/// message is read; an unknown field is a field like any other. Groups, which proto3 does not have,
/// are refused.
class ProtoReader
{
public:
    explicit ProtoReader(ByteView message) : m_bytes(message) {}

    /// The next field; nothing at the end, or where the message is malformed.
    std::optional<ProtoField> next();
    bool malformed() const { return m_malformed; }
    std::size_t position() const { return m_position; } ///< of the end, or of what is malformed

    /// A varint of at most 64 bits, at m_position: also for packed numbers.
    std::optional<std::uint64_t> varint();
    bool atEnd() const { return m_position == m_bytes.size(); }

private:
    std::optional<ProtoField> fail(std::size_t position);

    ByteView m_bytes;
    std::size_t m_position = 0;
    bool m_malformed = false;
};

} // namespace forkpoint
