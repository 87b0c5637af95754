// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/traces/mapping_fields.h"

#include "loaders/limits.h"
#include "loaders/traces/trace_lines.h"
#include "model/traces/trace_stage.h"

#include <algorithm>
#include <charconv>

namespace forkpoint {

namespace {

constexpr std::array<std::string_view, std::size_t(MappingField::Value) + 1> Names = {
    "step",   "rank",        "micro_batch", "stage", "name", "call",
    "digest", "digest_kind", "shape",       "dtype", "value"};

/// Digits of a digest in hexadecimal; 0: its text is the evidence.
struct Kind
{
    DigestKind kind;
    std::size_t digits;
};
constexpr std::array<Kind, 11> Kinds = {{{DigestKind::Sha256, 64},
                                         {DigestKind::Sha256Header, 64},
                                         {DigestKind::Fingerprint, 32},
                                         {DigestKind::Megatron128, 32},
                                         {DigestKind::Crc32, 8},
                                         {DigestKind::XorLanes, 16},
                                         {DigestKind::XorBytes, 16},
                                         {DigestKind::Sampled, 64},
                                         {DigestKind::Norm, 0},
                                         {DigestKind::Printed, 0},
                                         {DigestKind::Value, 0}}};

std::string inQuotes(std::string_view text)
{
    constexpr std::size_t Most = 80;
    return '\'' + std::string(text.substr(0, Most)) + (text.size() > Most ? "...'" : "'");
}

template <class Number>
bool parse(std::string_view text, Number &number)
{
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size();
}

/// "[2, 4]", "(2, 4)", "2x4", "torch.Size([2, 4])", "[]".
std::optional<std::vector<std::uint64_t>> parseShape(std::string_view text)
{
    constexpr std::string_view Prefix = "torch.Size", Between = "[]() ,x*";
    if (text.starts_with(Prefix))
        text.remove_prefix(Prefix.size());
    std::vector<std::uint64_t> shape;
    while (!text.empty()) {
        const std::size_t begin = text.find_first_not_of(Between);
        if (begin == std::string_view::npos)
            break;
        const std::size_t end = std::min(text.find_first_of(Between, begin), text.size());
        std::uint64_t dimension = 0;
        if (!parse(text.substr(begin, end - begin), dimension) || shape.size() == limits::Rank)
            return std::nullopt;
        shape.push_back(dimension);
        text.remove_prefix(end);
    }
    return shape;
}

std::string takeDigestOf(const MappedTexts &texts, Observation &observation)
{
    const auto &digest = texts[MappingField::Digest];
    const auto &value = texts[MappingField::Value];
    const auto &word = texts[MappingField::Kind];
    const DigestKind kind =
        word ? mappedDigestKind(*word).value_or(DigestKind::None) : DigestKind::None;
    if (word && kind == DigestKind::None)
        return "digest_kind: expected one of " + mappedDigestKinds() + ", got " + inQuotes(*word);
    if (digest) {
        const auto known = std::find_if(Kinds.begin(), Kinds.end(),
                                        [&](const Kind &each) { return each.kind == kind; });
        if (known == Kinds.end())
            return "digest_kind: expected a kind for the digest, got nothing";
        observation.kind = known->kind;
        std::string_view text = *digest;
        if (known->digits > 0 && text.starts_with("0x"))
            text.remove_prefix(2);
        const auto hex = known->digits > 0 ? hexDigest(text, known->digits) : std::string(text);
        if (!hex)
            return "digest: expected " + std::to_string(known->digits) + " hexadecimal digits for "
                + *word + ", got " + inQuotes(*digest);
        observation.digest = *hex;
        if (value)
            observation.statistics.emplace_back("value", *value);
    } else if (value) {
        // A decimal that a tool printed is an interval, unless the sheet says that all bits are there.
        observation.kind =
            kind == DigestKind::Value || kind == DigestKind::Norm ? kind : DigestKind::Printed;
        observation.digest = *value;
    } else {
        observation.absence = Absence::Metadata;
    }
    return {};
}

} // namespace

const std::vector<MappingField> &allMappingFields()
{
    static const std::vector<MappingField> all = [] {
        std::vector<MappingField> fields;
        for (std::size_t i = 0; i < Names.size(); ++i)
            fields.push_back(MappingField(i));
        return fields;
    }();
    return all;
}

std::string_view toString(MappingField field)
{
    return Names[std::size_t(field)];
}

std::optional<MappingField> mappingFieldByName(std::string_view name)
{
    const auto found = std::find(Names.begin(), Names.end(), name);
    return found == Names.end() ? std::nullopt : std::optional(MappingField(found - Names.begin()));
}

void MappedTexts::fillFrom(const MappedTexts &other)
{
    for (std::size_t i = 0; i < m_texts.size(); ++i) {
        if (!m_texts[i])
            m_texts[i] = other.m_texts[i];
    }
}

std::optional<DigestKind> mappedDigestKind(std::string_view word)
{
    const auto found = std::find_if(Kinds.begin(), Kinds.end(),
                                    [&](const Kind &each) { return toString(each.kind) == word; });
    return found == Kinds.end() ? std::nullopt : std::optional(found->kind);
}

std::string mappedDigestKinds()
{
    std::string words;
    for (const Kind &each : Kinds)
        words += (words.empty() ? "" : ", ") + std::string(toString(each.kind));
    return words;
}

std::string fillRecord(const MappedTexts &texts, TraceRecord &record,
                       std::optional<std::int64_t> &rank)
{
    for (const auto &[field, number] : {std::pair{MappingField::Iteration, &record.iteration},
                                        std::pair{MappingField::Rank, &rank},
                                        std::pair{MappingField::MicroBatch, &record.microBatch}}) {
        const auto &text = texts[field];
        if (text && !parse(*text, number->emplace()))
            return std::string(toString(field)) + ": expected an integer, got " + inQuotes(*text);
    }
    if (const auto &call = texts[MappingField::Call]) {
        record.callIsStated = true;
        if (!parse(*call, record.call))
            return "call: expected a count, got " + inQuotes(*call);
    }
    if (!texts[MappingField::Name] || texts[MappingField::Name]->empty())
        return "name: expected a text, got nothing";
    record.name = *texts[MappingField::Name];
    record.role = RecordRole::Tensor;
    record.stage = stageByWord(texts[MappingField::Stage].value_or(std::string()));
    record.key = (record.microBatch ? std::to_string(*record.microBatch) : std::string()) + '\x1f'
        + record.stage + '\x1f' + record.name;
    Observation observation;
    observation.dtype = dtypeWord(texts[MappingField::DType].value_or(std::string()));
    if (const auto &shape = texts[MappingField::Shape]) {
        observation.shape = parseShape(*shape);
        if (!observation.shape)
            return "shape: expected counts such as [2, 4], got " + inQuotes(*shape);
    }
    std::string problem = takeDigestOf(texts, observation);
    if (problem.empty())
        record.outputs.push_back(std::move(observation));
    return problem;
}

} // namespace forkpoint
