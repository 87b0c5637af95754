// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/traces/trace_msprobe.h"

#include "loaders/limits.h"
#include "loaders/text/json_fields.h"
#include "loaders/traces/trace_entries.h"
#include "loaders/traces/trace_lines.h"
#include "loaders/traces/trace_path.h"
#include "loaders/traces/trace_payload.h"

#include <algorithm>

namespace forkpoint {

namespace {

constexpr std::size_t CrcDigits = 8;
constexpr std::size_t XorDigits = 16;
constexpr std::string_view PayloadFolder = "dump_tensor_data/";

std::string stageOfName(std::string_view name)
{
    if (name.find(".parameters_grad") != std::string_view::npos)
        return "grad";
    return name.find(".backward") != std::string_view::npos ? "backward" : "forward";
}

class DumpReader final : public TraceEntryReader
{
public:
    DumpReader(const TraceFile &file, const TracePlace &from)
        : TraceEntryReader(file, "data", from.byte),
          m_folder(file.name.substr(0, file.name.rfind('/') + 1))
    {
        const PathNumbers numbers = numbersInPath(file);
        m_step = numbers.step;
        m_coordinate.rank = numbers.rank;
    }

private:
    Status takeHeader(const Entry &entry, const TracePlace &) override
    {
        if (entry.key == "task" || entry.key == "level" || entry.key == "framework")
            addFact(TraceFact::Role::Schema, entry.key, entry.text);
        return {};
    }

    bool takeEntry(const Entry &entry, TraceRecord &record) override
    {
        const auto document =
            JsonDocument::parse(entry.text, RepeatedKeys::Refuse, NonFinite::Take);
        if (!document.ok() || !document->root().isObject()) {
            addProblem(record.place, "bad-entry",
                       document.ok() ? "must be an object" : document.error().text);
            return false;
        }
        record.name = record.key = entry.key;
        record.iteration = m_step;
        record.role = RecordRole::Op;
        record.stage = stageOfName(record.name);
        for (const JsonValue &part : document->root().children())
            takePart(part, record);
        return true;
    }

    void takePart(const JsonValue &part, TraceRecord &record)
    {
        const std::string_view key = part.key();
        const bool isGradient = record.stage == "grad";
        if (key == "output")
            takeAll(part, "output", record.outputs, record.place);
        else if (key == "input_args" || key == "input")
            takeAll(part, "input", record.inputs, record.place);
        else if (key == "input_kwargs" || key == "parameters")
            takeAll(part, std::string(key), record.inputs, record.place);
        else if (isGradient)
            takeAll(part, std::string(key), record.outputs, record.place);
    }

    /// Tensors and values in nested lists and mappings; the list here stands for recursion.
    void takeAll(const JsonValue &root, const std::string &path,
                 std::vector<Observation> &observations, const TracePlace &place)
    {
        std::vector<std::pair<JsonValue, std::string>> open{{root, path}};
        while (!open.empty()) {
            const auto [node, name] = open.back();
            open.pop_back();
            if (observations.size() >= limits::TraceObservations) {
                addProblem(place, "limit",
                           "has more than " + std::to_string(limits::TraceObservations)
                               + " tensors");
                return;
            }
            if (node.isObject() && node.find("type")) {
                observations.push_back(takeObservation(node, place));
                observations.back().path = name;
                continue;
            }
            std::vector<std::pair<JsonValue, std::string>> below;
            std::size_t index = 0;
            for (const JsonValue &child : node.children()) {
                const std::string key =
                    node.isObject() ? std::string(child.key()) : std::to_string(index++);
                below.emplace_back(child, name + "." + key);
            }
            open.insert(open.end(), below.rbegin(), below.rend());
        }
    }

    Observation takeObservation(const JsonValue &value, const TracePlace &place)
    {
        JsonProblem trouble;
        const JsonFields fields(value, {}, trouble);
        Observation observation;
        const std::string type = fields.textOr("type");
        if (!fields.has("dtype") || !fields.has("shape")) { // a scalar, a slice, a process group
            observation.kind = DigestKind::Value;
            const auto scalar = fields.find("value");
            observation.digest = type + " " + (scalar ? canonicalText(*scalar) : std::string());
            return observation;
        }
        observation.dtype = dtypeWord(fields.textOr("dtype"));
        observation.shape = shapeOf(fields, "shape");
        for (const char *key : {"requires_grad", "placements", "device_mesh"}) {
            if (const auto found = fields.find(key))
                observation.metadata.emplace_back(key, canonicalText(*found));
        }
        takeDigestOf(fields, observation, place);
        if (trouble.error)
            addProblem(place, "bad-entry", trouble.error->place + " " + trouble.error->text);
        return observation;
    }

    /// The same key holds CRC-32 beside statistics, and the tool's XOR without them.
    void takeDigestOf(const JsonFields &fields, Observation &observation, const TracePlace &place)
    {
        const auto digest = fields.find("md5");
        const std::string payload = textOrNull(fields, "data_name");
        if (!payload.empty() && takePayload(payload, observation, place))
            return;
        if (!digest || digest->kind() == JsonValue::Kind::Null) {
            takeStatistics(fields, observation);
            return;
        }
        bool wrong = false;
        if (digest->kind() != JsonValue::Kind::Text) { // of a tensor without dimensions: its value
            observation.kind = DigestKind::Value;
            observation.digest = canonicalText(*digest);
        } else if (const std::string text(*digest->text()); text.starts_with("0x")) {
            takeDigest(observation, DigestKind::XorBytes, text.substr(2), XorDigits, wrong);
        } else {
            takeDigest(observation, DigestKind::Crc32, text, CrcDigits, wrong);
        }
        if (wrong)
            addProblem(place, "bad-digest", "a digest has the wrong number of digits");
    }

    static void takeStatistics(const JsonFields &fields, Observation &observation)
    {
        for (const char *key : {"Max", "Min", "Mean", "Norm"}) {
            const auto value = fields.find(key);
            if (!value || value->kind() == JsonValue::Kind::Null)
                continue;
            observation.digest += (observation.digest.empty() ? "" : ", ") + std::string(key) + " "
                + (value->kind() == JsonValue::Kind::Text ? std::string(*value->text())
                                                          : canonicalText(*value));
        }
        observation.kind = DigestKind::Norm;
        if (observation.digest.empty())
            observation.absence = Absence::Null;
    }

    bool takePayload(const std::string &name, Observation &observation, const TracePlace &place)
    {
        const std::string relative = m_folder + std::string(PayloadFolder) + name;
        auto payload = observePayload(file(), relative, {});
        if (!payload.ok()) {
            addProblem(place, "no-payload", payload.error().message());
            return false;
        }
        payload->metadata = std::move(observation.metadata);
        observation = std::move(payload).value();
        return true;
    }

    std::string m_folder; ///< of the file, with its slash
    std::optional<std::int64_t> m_step;
};

class Msprobe final : public TraceDialect
{
public:
    std::string_view name() const override { return "msprobe"; }
    std::string_view description() const override
    {
        return "msprobe dumps: statistics, CRC-32, XOR or whole tensors";
    }
    Confidence probe(const TraceFile &, std::string_view head) const override
    {
        const bool isDump = head.find("\"dump_data_dir\"") != std::string_view::npos
            && head.find("\"task\"") != std::string_view::npos
            && head.find("\"level\"") != std::string_view::npos;
        return isDump ? Confidence::Yes : Confidence::No;
    }
    Result<std::unique_ptr<TraceReader>> open(const TraceFile &file,
                                              const TracePlace &from) const override
    {
        return std::unique_ptr<TraceReader>(std::make_unique<DumpReader>(file, from));
    }
};

} // namespace

const TraceDialect &msprobeDialect()
{
    static const Msprobe dialect;
    return dialect;
}

} // namespace forkpoint
