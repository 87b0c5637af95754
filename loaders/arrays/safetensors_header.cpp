// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/arrays/safetensors_header.h"

#include "loaders/limits.h"
#include "loaders/text/json_members.h"
#include "model/key_path.h"
#include "model/pairing/repeated_names.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace forkpoint {

namespace {

constexpr std::uint64_t LengthBytes = 8;
constexpr std::string_view JsonSpace = " \t\r\n";

using Entry = SafetensorsEntry;

/// The steps in the order in which a header can be wrong.
class HeaderReader
{
public:
    explicit HeaderReader(const ByteSource &source) : m_source(source) {}

    Result<SafetensorsHeader> read()
    {
        FP_CHECK(readHeader());
        FP_CHECK(checkCover());
        return std::move(m_header);
    }

private:
    Error bad(std::string place, std::string text, ErrorCode code = ErrorCode::Malformed) const
    {
        return {code, m_source.name(), std::move(place), std::move(text)};
    }
    Error badEntry(const Entry &entry, std::string text,
                   ErrorCode code = ErrorCode::Malformed) const
    {
        return bad("tensor '" + escapeInvalidUtf8(entry.name) + "'", std::move(text), code);
    }

    Status readHeader()
    {
        const std::uint64_t size = m_source.size();
        if (size < LengthBytes) {
            return bad({},
                       "must begin with 8 bytes of header length, file has " + std::to_string(size),
                       ErrorCode::Truncated);
        }
        FP_TRY(const auto length, readAll(m_source, 0, LengthBytes, LengthBytes));
        const auto header = loadLittle<std::uint64_t>(length.data());
        if (header > limits::SafetensorsHeaderBytes) {
            return bad("byte 0",
                       "header may have at most " + std::to_string(limits::SafetensorsHeaderBytes)
                           + " bytes, announces " + std::to_string(header),
                       ErrorCode::Limit);
        }
        if (header > size - LengthBytes) {
            return bad("byte 0",
                       "header ends at byte " + std::to_string(LengthBytes + header) + ", file has "
                           + std::to_string(size),
                       ErrorCode::Truncated);
        }
        m_header.dataBegin = LengthBytes + header;
        FP_TRY(const auto bytes,
               readAll(m_source, LengthBytes, header, limits::SafetensorsHeaderBytes));
        if (readPlainEntries(asText(bytes)))
            return {};
        m_header.entries.clear();
        m_header.notes.clear();
        m_header.extraMembers.clear();
        return readEntries(asText(bytes));
    }

    /// Without a tree of the header, which would be larger than what is kept of it. False where the
    /// header is not plain, or wrong.
    bool readPlainEntries(std::string_view header)
    {
        JsonMembers members(header);
        JsonMembers::Step step = members.next();
        for (; step == JsonMembers::Step::Member; step = members.next()) {
            if (!readMember(members.key(), members.value()).ok())
                return false;
        }
        return step == JsonMembers::Step::End && namesAreDistinct();
    }

    bool namesAreDistinct() const
    {
        const auto nameOf = [](const Entry &entry) { return std::string_view(entry.name); };
        return m_metadataMembers <= 1 && !mayRepeatNames(m_header.entries, nameOf);
    }

    Status readEntries(std::string_view header)
    {
        const auto document = JsonDocument::parse(header);
        if (!document.ok())
            return Error(document.error()).inFile(m_source.name()).atPlace("header");
        const JsonValue root = document->root();
        if (!root.isObject())
            return bad("header", "must be an object, is " + std::string(root.kindName()));
        m_header.entries.reserve(root.childCount());
        for (const JsonValue &member : root.each())
            FP_CHECK(readMember(member.key(), member));
        return {};
    }

    Status readMember(std::string_view key, const JsonValue &member)
    {
        if (key != SafetensorsMetadataKey)
            return readEntry(key, member);
        ++m_metadataMembers;
        if (!member.isObject()) {
            return bad(std::string(SafetensorsMetadataKey),
                       "must be an object, is " + std::string(member.kindName()));
        }
        if (member.find("dtype") && member.find("data_offsets"))
            return bad(std::string(SafetensorsMetadataKey), "must hold texts, is a tensor");
        for (const JsonValue &note : member.each()) {
            const bool isText = note.kind() == JsonValue::Kind::Text;
            m_header.notes.push_back(
                {std::string(note.key()),
                 isText ? std::optional<std::string>(*note.text()) : std::nullopt,
                 note.kindName()});
        }
        return {};
    }

    Status readEntry(std::string_view name, const JsonValue &member)
    {
        Entry entry;
        entry.name = name;
        if (!member.isObject())
            return badEntry(entry, "must be an object, is " + std::string(member.kindName()));
        std::optional<JsonValue> dtype, shape, offsets;
        for (const JsonValue &field : member.each()) {
            if (field.key() == "dtype")
                dtype = field;
            else if (field.key() == "shape")
                shape = field;
            else if (field.key() == "data_offsets")
                offsets = field;
            else
                m_header.extraMembers.push_back(entry.name + "." + std::string(field.key()));
        }
        if (!dtype || !shape || !offsets) {
            return badEntry(entry,
                            std::string("lacks ")
                                + (!dtype       ? "dtype"
                                       : !shape ? "shape"
                                                : "data_offsets"));
        }
        if (dtype->kind() != JsonValue::Kind::Text)
            return badEntry(entry, "dtype must be text, is " + std::string(dtype->kindName()));
        entry.code = numberOf(*dtype->text());
        FP_CHECK(readShape(*shape, entry));
        FP_CHECK(readOffsets(*offsets, entry));
        m_header.entries.push_back(std::move(entry));
        return {};
    }

    /// There are few element types, and the last one is the likeliest.
    std::size_t numberOf(std::string_view code)
    {
        auto &codes = m_header.codes;
        if (m_lastCode < codes.size() && codes[m_lastCode] == code)
            return m_lastCode;
        const auto [known, isNew] = m_codes.try_emplace(std::string(code), codes.size());
        if (isNew)
            codes.emplace_back(code);
        return m_lastCode = known->second;
    }

    Status readShape(const JsonValue &shape, Entry &entry) const
    {
        if (!shape.isArray())
            return badEntry(entry, "shape must be a list, is " + std::string(shape.kindName()));
        if (shape.childCount() > limits::Rank) {
            return badEntry(entry,
                            "may have at most " + std::to_string(limits::Rank) + " dimensions, has "
                                + std::to_string(shape.childCount()),
                            ErrorCode::Limit);
        }
        entry.shape.dims.reserve(shape.childCount());
        for (const JsonValue &dimension : shape.each()) {
            const auto size = dimension.unsignedInteger();
            if (!size) {
                return badEntry(entry,
                                "a dimension must be an integer from 0 to 2^64 - 1, is "
                                    + std::string(dimension.kindName()));
            }
            entry.shape.dims.push_back(*size);
        }
        return {};
    }

    Status readOffsets(const JsonValue &offsets, Entry &entry) const
    {
        if (!offsets.isArray() || offsets.childCount() != 2)
            return badEntry(entry, "data_offsets must be a list of two integers");
        std::uint64_t *next = &entry.begin;
        for (const JsonValue &offset : offsets.each()) {
            if (!offset.unsignedInteger()) {
                return badEntry(entry,
                                "an offset must be an integer from 0 to 2^64 - 1, is "
                                    + std::string(offset.kindName()));
            }
            *std::exchange(next, &entry.end) = *offset.unsignedInteger();
        }
        if (entry.end >= entry.begin)
            return {};
        return badEntry(entry,
                        "begins at " + std::to_string(entry.begin) + " and ends before, at "
                            + std::to_string(entry.end));
    }

    /// No hole, no overlap, nothing behind: the ranges cover the data exactly.
    Status checkCover()
    {
        std::vector<const Entry *> sorted;
        sorted.reserve(m_header.entries.size());
        for (const Entry &entry : m_header.entries)
            sorted.push_back(&entry);
        const auto isBefore = [](const Entry *a, const Entry *b) {
            return std::pair(a->begin, a->end) < std::pair(b->begin, b->end);
        };
        if (!std::is_sorted(sorted.begin(), sorted.end(), isBefore)) // as most are
            std::stable_sort(sorted.begin(), sorted.end(), isBefore);
        std::uint64_t end = 0;
        for (const Entry *entry : sorted) {
            FP_CHECK(checkBegin(*entry, end));
            end = entry->end;
        }
        const std::uint64_t there = m_source.size() - m_header.dataBegin;
        if (end < there) {
            return bad("byte " + std::to_string(m_header.dataBegin + end),
                       "must end with its last tensor, has " + std::to_string(there - end)
                           + " bytes more that no tensor covers");
        }
        if (end > there) {
            m_header.truncated = bad({},
                                     "data needs " + std::to_string(end) + " bytes, file has "
                                         + std::to_string(there) + " of them",
                                     ErrorCode::Truncated);
        }
        return {};
    }

    Status checkBegin(const Entry &entry, std::uint64_t end) const
    {
        if (entry.begin == end)
            return {};
        const std::string numbers =
            "must begin at " + std::to_string(end) + ", begins at " + std::to_string(entry.begin);
        if (entry.begin < end)
            return badEntry(entry, numbers + ": its bytes belong to another tensor too");
        return badEntry(entry, numbers + ": the bytes between belong to no tensor");
    }

    const ByteSource &m_source;
    SafetensorsHeader m_header;
    std::unordered_map<std::string, std::size_t> m_codes;
    std::size_t m_lastCode = 0, m_metadataMembers = 0;
};

} // namespace

Result<SafetensorsHeader> readSafetensorsHeader(const ByteSource &source)
{
    return HeaderReader(source).read();
}

bool looksLikeSafetensors(ByteView head)
{
    if (head.size() < LengthBytes)
        return false;
    const std::string_view text = asText(head.subspan(LengthBytes));
    const std::size_t first = text.find_first_not_of(JsonSpace);
    return first != std::string_view::npos && text[first] == '{';
}

} // namespace forkpoint
