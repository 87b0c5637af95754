// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/hdf5/hdf5_protocol.h"

#include "loaders/storage/byte_cursor.h"

#include <algorithm>
#include <bit>
#include <type_traits>

namespace forkpoint {

namespace {

/// One description of each message serves both directions: a Writer appends what a Reader takes.
class Writer
{
public:
    explicit Writer(std::vector<std::byte> &bytes) : m_bytes(bytes) {}

    template <class T>
        requires std::is_unsigned_v<T>
    void number(const T &value)
    {
        for (std::size_t i = 0; i < sizeof(T); ++i)
            m_bytes.push_back(std::byte(std::uint64_t(value) >> (8 * i)));
    }
    void raw(ByteView bytes) { m_bytes.insert(m_bytes.end(), bytes.begin(), bytes.end()); }
    template <class T, class Each>
    void list(const std::vector<T> &items, std::size_t, Each each)
    {
        number(std::uint32_t(items.size()));
        for (const T &item : items)
            each(item);
    }
    void check(bool) {}

private:
    std::vector<std::byte> &m_bytes;
};

class Reader
{
public:
    explicit Reader(ByteView bytes) : m_cursor(bytes) {}

    template <class T>
        requires std::is_unsigned_v<T>
    void number(T &value)
    {
        const auto read = m_cursor.little<T>();
        m_sound = m_sound && read.has_value();
        value = m_sound ? *read : T(0);
    }
    void raw(MutableByteView bytes)
    {
        const auto taken = m_cursor.take(bytes.size());
        m_sound = m_sound && taken.has_value();
        if (m_sound)
            std::copy(taken->begin(), taken->end(), bytes.begin());
    }
    /// Nothing is allocated for items that the payload cannot hold.
    template <class T, class Each>
    void list(std::vector<T> &items, std::size_t leastBytes, Each each)
    {
        std::uint32_t count = 0;
        number(count);
        check(count <= m_cursor.left() / leastBytes);
        items.resize(m_sound ? count : 0);
        for (T &item : items)
            each(item);
    }
    void check(bool holds) { m_sound = m_sound && holds; }
    bool complete() const { return m_sound && m_cursor.left() == 0; }

private:
    ByteCursor m_cursor;
    bool m_sound = true;
};

template <class Codec, class Flag>
void flag(Codec &codec, Flag &value)
{
    auto byte = std::uint8_t(value);
    codec.number(byte);
    codec.check(byte <= 1);
    if constexpr (!std::is_const_v<Flag>)
        value = byte == 1;
}

template <class Codec, class Enum, class Last>
void choice(Codec &codec, Enum &value, Last last)
{
    auto byte = std::uint8_t(value);
    codec.number(byte);
    codec.check(byte <= std::uint8_t(last));
    if constexpr (!std::is_const_v<Enum>)
        value = Enum(byte <= std::uint8_t(last) ? byte : 0);
}

template <class Codec, class Text>
void text(Codec &codec, Text &value)
{
    if constexpr (std::is_const_v<Text>) {
        codec.number(std::uint32_t(value.size()));
        codec.raw(asBytes(value));
    } else {
        std::vector<std::byte> bytes;
        codec.list(bytes, 1, [&](std::byte &byte) { codec.raw({&byte, 1}); });
        value = asText(bytes);
    }
}

template <class Codec, class Bytes>
void blob(Codec &codec, Bytes &value)
{
    codec.list(value, 1, [&](auto &byte) { codec.raw({&byte, 1}); });
}

template <class Codec, class Texts>
void texts(Codec &codec, Texts &values)
{
    codec.list(values, 4, [&](auto &value) { text(codec, value); });
}

template <class Codec, class Numbers>
void numbers(Codec &codec, Numbers &values, std::size_t bytes)
{
    codec.list(values, bytes, [&](auto &value) { codec.number(value); });
}

template <class Codec, class Scalar>
void scalar(Codec &codec, Scalar &value)
{
    choice(codec, value.kind, Hdf5Scalar::Kind::Opaque);
    codec.number(value.size);
    flag(codec, value.bigEndian);
    codec.number(value.precision);
    codec.number(value.bitOffset);
    codec.number(value.signPosition);
    codec.number(value.exponentPosition);
    codec.number(value.exponentBits);
    codec.number(value.mantissaPosition);
    codec.number(value.mantissaBits);
    codec.number(value.bias);
    flag(codec, value.impliedBit);
    text(codec, value.name);
}

template <class Codec, class Field>
void field(Codec &codec, Field &value)
{
    texts(codec, value.path);
    codec.number(value.offset);
    codec.list(value.loops, 16, [&](auto &loop) {
        codec.number(loop.count);
        codec.number(loop.stride);
    });
    scalar(codec, value.scalar);
}

template <class Codec, class Filters>
void filterList(Codec &codec, Filters &values)
{
    codec.list(values, 8, [&](auto &filter) {
        codec.number(filter.id);
        numbers(codec, filter.parameters, 4);
    });
}

template <class Codec, class Optional, class Each>
void optional(Codec &codec, Optional &value, Each each)
{
    bool isThere = value.has_value();
    flag(codec, isThere);
    if constexpr (!std::is_const_v<Optional>) {
        if (isThere)
            value.emplace();
    }
    if (isThere)
        each(*value);
}

/// Steps that overlap, or go nowhere, are none.
template <class Codec, class Selection>
void selection(Codec &codec, Selection &value)
{
    choice(codec, value.kind, Hdf5Selection::Kind::All);
    codec.list(value.grid, 33, [&](auto &steps) {
        codec.number(steps.start);
        codec.number(steps.stride);
        codec.number(steps.count);
        codec.number(steps.block);
        flag(codec, steps.isUnlimited);
        const bool isOne = !steps.isUnlimited && steps.count <= 1;
        codec.check(isOne || (steps.block > 0 && steps.stride >= steps.block));
    });
    codec.list(value.blocks, 8, [&](auto &block) {
        numbers(codec, block.begin, 8);
        numbers(codec, block.end, 8);
    });
}

template <class Codec, class Dataset>
void dataset(Codec &codec, Dataset &value)
{
    texts(codec, value.path);
    codec.number(value.object);
    numbers(codec, value.dims, 8);
    codec.number(value.elementSize);
    codec.list(value.fields, 60, [&](auto &each) { field(codec, each); });
    text(codec, value.declaredType);
    blob(codec, value.fill);
    text(codec, value.valueType);
    optional(codec, value.fillText, [&](auto &each) { text(codec, each); });
    choice(codec, value.layout, Hdf5Dataset::Layout::Virtual);
    codec.number(value.offset);
    codec.number(value.length);
    blob(codec, value.bytes);
    numbers(codec, value.chunkDims, 8);
    filterList(codec, value.filters);
    codec.list(value.mappings, 26, [&](auto &mapping) {
        text(codec, mapping.file);
        text(codec, mapping.dataset);
        selection(codec, mapping.own);
        selection(codec, mapping.source);
    });
    choice(codec, value.problemCode, ErrorCode::Usage);
    text(codec, value.problem);
}

template <class Codec, class Chunk>
void chunk(Codec &codec, Chunk &value)
{
    codec.number(value.number);
    codec.number(value.offset);
    codec.number(value.size);
    codec.number(value.mask);
}

template <class Codec, class Chunks>
void chunkList(Codec &codec, Chunks &values)
{
    codec.list(values, 24, [&](auto &each) { chunk(codec, each); });
}

template <class Codec, class Decode>
void decode(Codec &codec, Decode &value)
{
    filterList(codec, value.filters);
    chunk(codec, value.chunk);
    codec.number(value.bytes);
    codec.check(value.bytes <= Hdf5FrameBytes && value.chunk.size <= 2 * Hdf5FrameBytes);
}

template <class Codec, class Problem>
void problem(Codec &codec, Problem &value)
{
    choice(codec, value.severity, Severity::Error);
    choice(codec, value.code, ErrorCode::Usage);
    texts(codec, value.path);
    flag(codec, value.isDataset);
    flag(codec, value.isPartial);
    text(codec, value.text);
}

/// Signed integers, floats and truth values travel as unsigned numbers.
template <class Codec, class Items>
void elements(Codec &codec, Items &items)
{
    using Item = typename std::remove_const_t<Items>::value_type;
    std::vector<std::uint64_t> bits;
    if constexpr (std::is_const_v<Items>) {
        for (const Item item : items)
            if constexpr (std::is_same_v<Item, double>)
                bits.push_back(std::bit_cast<std::uint64_t>(item));
            else
                bits.push_back(std::uint64_t(item));
    }
    numbers(codec, bits, 8);
    if constexpr (!std::is_const_v<Items>) {
        for (const std::uint64_t each : bits)
            if constexpr (std::is_same_v<Item, double>)
                items.push_back(std::bit_cast<double>(each));
            else
                items.push_back(Item(each));
    }
}

template <class Codec, class Data>
void valueData(Codec &codec, Data &data)
{
    std::visit(
        [&](auto &alternative) {
            using T = std::remove_cvref_t<decltype(alternative)>;
            if constexpr (std::is_same_v<T, Hdf5Value::Link>)
                text(codec, alternative.target);
            else if constexpr (std::is_same_v<T, Hdf5Value::Opaque>) {
                text(codec, alternative.text);
                blob(codec, alternative.bytes);
            } else if constexpr (std::is_same_v<T, std::vector<std::string>>)
                texts(codec, alternative);
            else if constexpr (!std::is_same_v<T, Hdf5Value::Nothing>)
                elements(codec, alternative);
        },
        data);
}

/// The alternative of that number, empty.
template <std::size_t Number = 0>
void select(decltype(Hdf5Value::data) &data, std::size_t number)
{
    if constexpr (Number < std::variant_size_v<decltype(Hdf5Value::data)>) {
        if (Number == number)
            data.emplace<Number>();
        else
            select<Number + 1>(data, number);
    }
}

template <class Codec, class ValueType>
void value(Codec &codec, ValueType &item)
{
    texts(codec, item.path);
    optional(codec, item.elements, [&](auto &elements) {
        numbers(codec, elements.dims, 8);
        text(codec, elements.type);
    });
    flag(codec, item.isList);
    auto kind = std::uint8_t(item.data.index());
    codec.number(kind);
    codec.check(kind < std::variant_size_v<decltype(Hdf5Value::data)>);
    if constexpr (!std::is_const_v<ValueType>)
        select(item.data, kind);
    valueData(codec, item.data);
}

template <class Write>
std::vector<std::byte> frame(Hdf5Message kind, Write write)
{
    std::vector<std::byte> bytes;
    Writer writer(bytes);
    writer.number(std::uint32_t(0)); // the length, once it is known
    writer.number(std::uint8_t(kind));
    write(writer);
    const std::uint64_t length = bytes.size() - Hdf5FrameHeader;
    for (std::size_t i = 0; i < sizeof(std::uint32_t); ++i)
        bytes[i] = std::byte(length >> (8 * i));
    return bytes;
}

template <class T, class Read>
Result<T> parse(ByteView payload, std::string_view what, Read read)
{
    T parsed;
    Reader reader(payload);
    read(reader, parsed);
    if (reader.complete())
        return parsed;
    return Error{ErrorCode::Malformed,
                 {},
                 {},
                 "a message of the worker must be a " + std::string(what) + ", is not"};
}

} // namespace

std::vector<std::byte> hdf5Frame(Hdf5Message kind, ByteView payload)
{
    return frame(kind, [&](Writer &writer) { writer.raw(payload); });
}

std::vector<std::byte> hdf5Frame(const Hdf5Open &message)
{
    return frame(Hdf5Message::Open, [&](Writer &writer) {
        writer.number(message.version);
        writer.number(message.fileBytes);
        writer.number(message.memoryBytes);
        writer.number(message.cpuSeconds);
    });
}

std::vector<std::byte> hdf5Frame(const Hdf5Read &message)
{
    return frame(Hdf5Message::Read, [&](Writer &writer) {
        writer.number(message.offset);
        writer.number(message.size);
    });
}

std::vector<std::byte> hdf5Frame(const Hdf5Decode &message)
{
    return frame(Hdf5Message::Decode, [&](Writer &writer) { decode(writer, message); });
}

std::vector<std::byte> hdf5Frame(const Hdf5Dataset &message)
{
    return frame(Hdf5Message::Dataset, [&](Writer &writer) { dataset(writer, message); });
}

std::vector<std::byte> hdf5Frame(const std::vector<Hdf5Chunk> &chunks)
{
    return frame(Hdf5Message::Chunks, [&](Writer &writer) { chunkList(writer, chunks); });
}

std::vector<std::byte> hdf5Frame(const Hdf5Value &message)
{
    return frame(Hdf5Message::Value, [&](Writer &writer) { value(writer, message); });
}

std::vector<std::byte> hdf5Frame(const Hdf5Problem &message)
{
    return frame(Hdf5Message::Problem, [&](Writer &writer) { problem(writer, message); });
}

Result<Hdf5FrameHead> parseHdf5FrameHead(ByteView bytes)
{
    FP_TRY(const auto head, (parse<Hdf5FrameHead>(bytes, "frame", [](Reader &reader, auto &parsed) {
               std::uint8_t kind = 0;
               reader.number(parsed.size);
               reader.number(kind);
               reader.check(parsed.size <= Hdf5FrameBytes);
               parsed.kind = Hdf5Message(kind);
           })));
    return head;
}

Result<Hdf5Open> parseHdf5Open(ByteView payload)
{
    return parse<Hdf5Open>(payload, "request to open", [](Reader &reader, Hdf5Open &parsed) {
        reader.number(parsed.version);
        reader.number(parsed.fileBytes);
        reader.number(parsed.memoryBytes);
        reader.number(parsed.cpuSeconds);
    });
}

Result<Hdf5Read> parseHdf5Read(ByteView payload)
{
    return parse<Hdf5Read>(payload, "request to read", [](Reader &reader, Hdf5Read &parsed) {
        reader.number(parsed.offset);
        reader.number(parsed.size);
        reader.check(parsed.size <= Hdf5ReadBytes);
    });
}

Result<Hdf5Decode> parseHdf5Decode(ByteView payload)
{
    return parse<Hdf5Decode>(payload, "request to decode",
                             [](Reader &reader, auto &parsed) { decode(reader, parsed); });
}

Result<Hdf5Dataset> parseHdf5Dataset(ByteView payload)
{
    return parse<Hdf5Dataset>(payload, "dataset",
                              [](Reader &reader, auto &parsed) { dataset(reader, parsed); });
}

Result<std::vector<Hdf5Chunk>> parseHdf5Chunks(ByteView payload)
{
    return parse<std::vector<Hdf5Chunk>>(
        payload, "list of chunks", [](Reader &reader, auto &parsed) { chunkList(reader, parsed); });
}

Result<Hdf5Value> parseHdf5Value(ByteView payload)
{
    return parse<Hdf5Value>(payload, "value",
                            [](Reader &reader, auto &parsed) { value(reader, parsed); });
}

Result<Hdf5Problem> parseHdf5Problem(ByteView payload)
{
    return parse<Hdf5Problem>(payload, "problem",
                              [](Reader &reader, auto &parsed) { problem(reader, parsed); });
}

} // namespace forkpoint
