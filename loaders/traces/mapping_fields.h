// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/traces/trace_record.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace forkpoint {

/// What a mapping sheet (resources/docs/mapping.md) can find in a line.
enum class MappingField : std::uint8_t {
    Iteration, ///< spelled "step"
    Rank,
    MicroBatch,
    Stage,
    Name,
    Call,
    Digest,
    Kind, ///< of the digest
    Shape,
    DType,
    Value,
};

const std::vector<MappingField> &allMappingFields();
std::string_view toString(MappingField field); ///< as sheets spell it: "micro_batch"
std::optional<MappingField> mappingFieldByName(std::string_view name);

/// Texts by field; nothing where a line does not have it.
class MappedTexts
{
public:
    std::optional<std::string> &operator[](MappingField field)
    {
        return m_texts[std::size_t(field)];
    }
    const std::optional<std::string> &operator[](MappingField field) const
    {
        return m_texts[std::size_t(field)];
    }
    /// Takes from `other` what is not known yet.
    void fillFrom(const MappedTexts &other);

private:
    std::array<std::optional<std::string>, std::size_t(MappingField::Value) + 1> m_texts;
};

/// The kind of digest of that word (as toString of DigestKind spells it); nothing for others.
std::optional<DigestKind> mappedDigestKind(std::string_view word);
/// All these words, for errors.
std::string mappedDigestKinds();

/// A record from the texts of a line; `record` keeps its place. Returns what is wrong with a text, as
/// "step: expected an integer, got 'x'", or nothing.
std::string fillRecord(const MappedTexts &texts, TraceRecord &record,
                       std::optional<std::int64_t> &rank);

} // namespace forkpoint
