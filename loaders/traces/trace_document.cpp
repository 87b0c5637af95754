// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/traces/trace_document.h"

#include "loaders/elements/running_digest.h"
#include "loaders/limits.h"

#include <array>

namespace forkpoint {

namespace {

constexpr std::size_t Sha256Digits = 64;

/// Where a process ran, and which one it was: unlike in any two runs.
constexpr std::array<std::string_view, 10> Placements = {
    "host",     "hostname", "node",       "local_rank",  "device",
    "gpu_uuid", "uuid",     "pci_bus_id", "device_uuid", "process_id"};

/// Settings of a collective that are no part of what it computes.
constexpr std::array<std::string_view, 6> CollectiveSettings = {
    "backend", "nccl_version", "nccl_environment", "group_options", "grad_enabled", "warn_only"};

TraceFact::Role roleOf(std::string_view name)
{
    return std::find(Placements.begin(), Placements.end(), name) == Placements.end()
        ? TraceFact::Role::Runtime
        : TraceFact::Role::Placement;
}

/// Texts such as a listing of the machine's links are long: what tells them apart is kept.
std::string shortened(std::string text)
{
    if (text.size() <= limits::PrintedText)
        return text;
    const std::string digest = sha256Hex(asBytes(text));
    text.resize(limits::PrintedText);
    return text + "... sha256 " + digest;
}

std::string layoutText(const Observation &tensor)
{
    std::string text = tensor.dtype + '[';
    if (tensor.shape) {
        for (const std::uint64_t dimension : *tensor.shape)
            text += std::to_string(dimension) + ',';
    }
    return text + ']';
}

} // namespace

TraceDocumentReader::TraceDocumentReader(const TraceFile &file, const TracePlace &from,
                                         std::string container)
    : TraceEntryReader(file, std::move(container), from.byte),
      m_fromStart(from.byte == 0)
{
}

Status TraceDocumentReader::takeHeader(const Entry &entry, const TracePlace &place)
{
    const auto document = JsonDocument::parse(entry.text);
    if (entry.tooLong || !document.ok()) {
        addProblem(place, "bad-entry",
                   "member '" + entry.key + "': "
                       + (entry.tooLong ? "is longer than " + std::to_string(limits::TraceLineBytes)
                                  + " bytes"
                                        : document.error().text));
        return {};
    }
    const JsonValue value = document->root();
    if (entry.key == "schema_version")
        addFact(TraceFact::Role::Schema, entry.key, canonicalText(value));
    else if (entry.key == "recipe_id")
        addFact(TraceFact::Role::Runtime, entry.key, canonicalText(value));
    else if (entry.key == "run_id")
        addFact(TraceFact::Role::Placement, entry.key, canonicalText(value));
    else if (entry.key == "rank" && integerOf(value))
        takeRank(*integerOf(value), place);
    else if (entry.key == "rank")
        addProblem(place, "bad-entry", "member 'rank': expected an integer");
    else if (entry.key == "context")
        takeContext(value);
    else if (entry.key == "context_after")
        m_contextAfter = canonicalText(value);
    else if (entry.key == "complete")
        m_isComplete = value.boolean() == true;
    else if (entry.key == "truncated" && value.boolean() != false)
        addProblem(place, "truncated", "the tool reached a limit and stopped recording");
    else if (entry.key == "capture_issues")
        for (const JsonValue &issue : value.children())
            addProblem(place, "capture-issue", "the tool says: " + shortened(canonicalText(issue)));
    else
        takeMember(entry.key, value, place);
    return {};
}

void TraceDocumentReader::takeContext(const JsonValue &context)
{
    m_context = canonicalText(context);
    for (const JsonValue &member : context.children()) {
        const TraceFact::Role role =
            member.key() == "world_size" ? TraceFact::Role::Parallel : roleOf(member.key());
        addFact(role, std::string(member.key()), shortened(canonicalText(member)));
    }
}

bool TraceDocumentReader::takeEntry(const Entry &entry, TraceRecord &record)
{
    return parse(entry, record.place, [&](const JsonFields &fields) {
        takeFields(entry.key, fields, record);
        return true;
    });
}

void TraceDocumentReader::atEnd(const TracePlace &place)
{
    if (!m_fromStart)
        return;
    if (!m_isComplete)
        addProblem(place, "not-complete",
                   "must say that it is complete: its process went on, or "
                   "ended early");
    if (m_contextAfter && *m_contextAfter != m_context)
        addProblem(place, "context-changed",
                   "its context after the run must be that before it: source or machine changed");
    checkEnd(place);
}

void TraceDocumentReader::takeSettings(const JsonFields &signature)
{
    for (const char *key : {"deterministic_algorithms", "backward_deterministic_algorithms"}) {
        if (const auto value = signature.find(key))
            addFact(TraceFact::Role::Runtime, key, canonicalText(*value));
    }
    for (const std::string key : {"runtime", "backward_runtime"}) {
        const auto settings = signature.objectIf(key);
        if (!settings)
            continue;
        for (const JsonValue &member : settings->members())
            addFact(TraceFact::Role::Runtime, key + '.' + std::string(member.key()),
                    shortened(canonicalText(member)));
    }
}

void TraceDocumentReader::takeSignature(const JsonFields &signature, TraceRecord &record)
{
    const std::string phase = signature.text("phase");
    if (phase != "forward" && phase != "forward_backward")
        signature.problem("phase", "expected 'forward' or 'forward_backward', got '" + phase + "'");
    record.name = signature.text("op_id");
    record.stage = phase == "forward" ? "forward" : "backward";
    record.role = RecordRole::Op;
    const std::string implementation = signature.text("implementation");
    record.key = record.name + '\x1f' + implementation + '\x1f' + phase;
    takeSettings(signature);
    const auto configuration = signature.objectIf("configuration");
    if (const auto collective =
            configuration ? configuration->objectIf("collective") : std::nullopt)
        return takeCollective(*collective, record);
    if (const auto value = signature.find("configuration"))
        record.key += '\x1f' + canonicalText(*value);
    if (!signature.has("inputs"))
        signature.problem("inputs", "expected a list, got nothing");
    JsonProblem trouble;
    for (const JsonValue &input : signature.arrayIf("inputs")) {
        if (record.inputs.size() == limits::TraceObservations) {
            addProblem(record.place, "limit",
                       "has more than " + std::to_string(limits::TraceObservations) + " tensors");
            break;
        }
        const JsonFields tensor(input, "inputs", trouble);
        record.inputs.push_back(
            takeTensor(tensor, std::to_string(record.inputs.size()), record.place));
        record.key += '\x1f' + layoutText(record.inputs.back());
    }
    if (trouble.error)
        signature.problem({}, trouble.error->place + ": " + trouble.error->text);
}

void TraceDocumentReader::takeCollective(const JsonFields &collective, TraceRecord &record)
{
    addFact(TraceFact::Role::Schema, "capture_schema",
            std::to_string(collective.count("capture_schema")));
    record.role = RecordRole::Collective;
    const std::string word = collective.text("case");
    record.name += '.' + word;
    for (const JsonValue &rank : collective.arrayIf("group_ranks"))
        record.group += (record.group.empty() ? "ranks " : ",") + canonicalText(rank);
    record.key += '\x1f' + word + '\x1f' + record.group;
    for (const std::string_view key : CollectiveSettings) {
        if (const auto value = collective.find(key))
            addFact(TraceFact::Role::Runtime, "collective." + std::string(key),
                    shortened(canonicalText(*value)));
    }
    if (const auto device = collective.find("device_uuid"))
        addFact(TraceFact::Role::Placement, "device_uuid", canonicalText(*device));
    record.inputs.push_back(takeTensor(collective.object("input"), "input", record.place));
    if (const auto gradient = collective.objectIf("gradient"))
        record.inputs.push_back(takeTensor(*gradient, "gradient", record.place));
}

Observation TraceDocumentReader::takeTensor(const JsonFields &tensor, const std::string &path,
                                            const TracePlace &place)
{
    Observation observation;
    observation.path = path;
    observation.dtype = dtypeWord(tensor.text("dtype"));
    observation.shape = shapeOf(tensor, "shape");
    if (!observation.shape)
        tensor.problem("shape", "expected a list of counts");
    for (const char *key : {"stride", "requires_grad", "storage_offset"}) {
        if (const auto value = tensor.find(key))
            observation.metadata.emplace_back(key, canonicalText(*value));
    }
    if (!tensor.has("sha256")) {
        observation.absence = Absence::Metadata;
        return observation;
    }
    bool wrong = false;
    const std::string digest = tensor.text("sha256");
    takeDigest(observation, DigestKind::Sha256, digest, Sha256Digits, wrong);
    if (wrong)
        addProblem(place, "bad-digest",
                   "a SHA-256 must have 64 hexadecimal digits, is '" + shortened(digest) + "'");
    return observation;
}

} // namespace forkpoint
