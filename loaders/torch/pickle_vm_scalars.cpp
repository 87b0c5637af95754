// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers and strings of the pickle machine.
#include "loaders/torch/pickle_machine.h"
#include "loaders/torch/pickle_text.h"

namespace forkpoint {

// --- numbers ------------------------------------------------------------------------------------

Status PickleMachine::bigInteger(std::string_view bytes)
{
    // Trim what only repeats the sign, so that every value has one form.
    while (bytes.size() > 1) {
        const auto last = std::uint8_t(bytes.back()),
                   before = std::uint8_t(bytes[bytes.size() - 2]);
        const bool redundant = (last == 0 && before < 0x80) || (last == 0xff && before >= 0x80);
        if (!redundant)
            break;
        bytes.remove_suffix(1);
    }
    if (bytes.size() > sizeof(std::int64_t))
        return pushSlice(PickleKind::BigInt, bytes, false);
    std::uint64_t value = !bytes.empty() && std::uint8_t(bytes.back()) >= 0x80 ? ~0ull : 0;
    for (std::size_t i = bytes.size(); i-- > 0;)
        value = value << 8 | std::uint8_t(bytes[i]);
    return pushInteger(std::int64_t(value));
}

Status PickleMachine::integerLine(bool isLong)
{
    FP_TRY(std::string_view text, line());
    if (!isLong && (text == "00" || text == "01")) {
        PickleNode node;
        node.kind = PickleKind::Bool;
        node.integer = text == "01";
        return push(node);
    }
    if (isLong && !text.empty() && text.back() == 'L')
        text.remove_suffix(1);
    auto digits = pickle::normalDecimal(text);
    if (!digits)
        return malformed("an integer of other characters than digits");
    if (const auto value = pickle::toInt64(*digits))
        return pushInteger(*value);
    return pushOwned(PickleKind::BigInt, std::move(*digits), true);
}

Status PickleMachine::stepNumber(char opcode)
{
    PickleNode node;
    switch (opcode) {
    case 'N': return push(node);
    case '\x88':
    case '\x89':
        node.kind = PickleKind::Bool;
        node.integer = opcode == '\x88';
        return push(node);
    case 'I':
    case 'L': return integerLine(opcode == 'L');
    case 'J': {
        FP_TRY(const std::int32_t value, number<std::int32_t>());
        return pushInteger(value);
    }
    case 'K': {
        FP_TRY(const std::uint8_t value, number<std::uint8_t>());
        return pushInteger(value);
    }
    case 'M': {
        FP_TRY(const std::uint16_t value, number<std::uint16_t>());
        return pushInteger(value);
    }
    case '\x8a': {
        FP_TRY(const std::string_view bytes, counted<std::uint8_t>());
        return bigInteger(bytes);
    }
    case '\x8b': {
        FP_TRY(const std::string_view bytes, counted<std::int32_t>());
        return bigInteger(bytes);
    }
    case 'F': {
        FP_TRY(const std::string_view text, line());
        const auto value = pickle::toDouble(text);
        if (!value)
            return malformed("a float that is none");
        node.kind = PickleKind::Float;
        node.real = *value;
        return push(node);
    }
    default: { // 'G'
        FP_TRY(const std::string_view bytes, take(8));
        node.kind = PickleKind::Float;
        node.real = loadBig<double>(asBytes(bytes).data());
        return push(node);
    }
    }
}

// --- strings ------------------------------------------------------------------------------------

Status PickleMachine::stepText(char opcode)
{
    std::string_view text;
    switch (opcode) {
    case 'S': {
        FP_TRY(const std::string_view literal, line());
        auto value = pickle::unquote(literal);
        if (!value)
            return malformed("a string without its quotes or with a bad escape");
        return pushOwned(PickleKind::Text, std::move(*value), true);
    }
    case 'V': {
        FP_TRY(const std::string_view escaped, line());
        auto value = pickle::fromRawUnicodeEscape(escaped);
        if (!value)
            return malformed("a unicode string with a bad escape");
        return pushOwned(PickleKind::Text, std::move(*value), false);
    }
    case 'T': {
        FP_TRY(text, counted<std::int32_t>());
        return pushSlice(PickleKind::Text, text, true);
    }
    case 'U': {
        FP_TRY(text, counted<std::uint8_t>());
        return pushSlice(PickleKind::Text, text, true);
    }
    case 'B': {
        FP_TRY(text, counted<std::uint32_t>());
        return pushSlice(PickleKind::Bytes, text, false);
    }
    case 'C': {
        FP_TRY(text, counted<std::uint8_t>());
        return pushSlice(PickleKind::Bytes, text, false);
    }
    case '\x8e': {
        FP_TRY(text, counted<std::uint64_t>());
        return pushSlice(PickleKind::Bytes, text, false);
    }
    case '\x96': {
        FP_TRY(text, counted<std::uint64_t>());
        return pushSlice(PickleKind::Bytes, text, true);
    }
    case 'X': {
        FP_TRY(text, counted<std::uint32_t>());
        break;
    }
    case '\x8c': {
        FP_TRY(text, counted<std::uint8_t>());
        break;
    }
    default: { // '\x8d'
        FP_TRY(text, counted<std::uint64_t>());
        break;
    }
    }
    if (!pickle::isUtf8(text))
        return malformed("a string that is not UTF-8");
    return pushSlice(PickleKind::Text, text, false);
}

} // namespace forkpoint
