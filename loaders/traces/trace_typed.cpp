// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/traces/trace_typed.h"

#include "loaders/traces/trace_lines.h"
#include "model/traces/trace_stage.h"

namespace forkpoint {

namespace {

constexpr std::size_t Sha256Digits = 64;
constexpr std::size_t Megatron128Digits = 32;

/// "forward/layers.0/microbatch2": the stage, and the micro-batch.
std::string stageOfTensor(std::string_view name)
{
    const std::string_view last = name.substr(name.rfind('/') + 1);
    if (name.starts_with("optimizer"))
        return last == "main_param" ? "weight" : "optimizer";
    if (last == "grad" || last == "main_grad")
        return "grad";
    return stageByWord(name.substr(0, name.find('/')));
}

std::optional<std::int64_t> microBatchOf(std::string_view name)
{
    constexpr std::string_view Word = "microbatch";
    const std::size_t at = name.rfind(Word);
    if (at == std::string_view::npos)
        return std::nullopt;
    const std::string_view digits = name.substr(at + Word.size());
    if (digits.empty() || digits.size() > 9
        || digits.find_first_not_of("0123456789") != std::string_view::npos)
        return std::nullopt;
    std::int64_t number = 0;
    for (const char digit : digits)
        number = number * 10 + (digit - '0');
    return number;
}

/// Members of a payload that are no values of the run.
bool isDescription(std::string_view key)
{
    for (const std::string_view known :
         {"inputs", "outputs", "in", "out", "id", "scope", "path", "shape", "dtype", "device",
          "layout", "numel", "requires_grad", "sha256", "digest", "device_digest", "checkpoint_id",
          "matches_forward"}) {
        if (key == known)
            return true;
    }
    return false;
}

class TypedReader final : public TraceJsonReader
{
public:
    using TraceJsonReader::TraceJsonReader;

private:
    bool isLineAlone() const override { return true; }

    Use takeObject(const JsonFields &fields, TraceRecord &record) override
    {
        if (!fields.has("sequence") && fields.has("host"))
            return takePlacement(fields);
        record.iteration = fields.integer("iteration");
        record.sequence = fields.count("sequence");
        record.name = fields.text("name");
        noteNumber(LineSlot::Kind::Iteration, fields, "iteration");
        noteNumber(LineSlot::Kind::Sequence, fields, "sequence");
        const std::string kind = fields.text("kind");
        addFact(TraceFact::Role::Schema, "schema_version",
                std::to_string(fields.integer("schema_version")));
        takeRank(fields.integer("rank"), record.place);
        const JsonFields payload = fields.object("payload");
        record.microBatch = microBatchOf(record.name);
        record.key = kind + '\x1f' + record.name;
        if (const auto checkpoint = payload.find("checkpoint_id"))
            record.key += '\x1f' + canonicalText(*checkpoint);
        takeKind(kind, payload, record);
        return Use::Record;
    }

    /// placement/rank_00000.json: kept out of the stream by its writer, and no record here.
    Use takePlacement(const JsonFields &fields)
    {
        m_coordinate.rank = integerOrNull(fields, "rank");
        for (const char *key : {"host", "local_rank", "device"}) {
            if (const auto value = fields.find(key))
                addFact(TraceFact::Role::Placement, key, canonicalText(*value));
        }
        return Use::Other;
    }

    void takeKind(const std::string &kind, const JsonFields &payload, TraceRecord &record)
    {
        if (kind == "runtime") {
            record.role = RecordRole::Runtime;
            for (const JsonValue &member : payload.members())
                addFact(TraceFact::Role::Runtime, member.key(), canonicalText(member));
            return;
        }
        if (kind == "phase") {
            record.role = RecordRole::Phase;
            if (record.name == "iteration.begin")
                record.role = RecordRole::IterationBegin;
            if (record.name == "iteration.end")
                record.role = RecordRole::IterationEnd;
            if (record.name == "iteration.error")
                record.role = RecordRole::Failure;
            if (record.name == "trace.truncated")
                record.role = RecordRole::Truncated;
        } else if (kind == "collective") {
            record.role = record.name.ends_with(".begin") ? RecordRole::CollectiveBegin
                                                          : RecordRole::CollectiveEnd;
            record.group = record.name.substr(0, record.name.rfind('.'));
            record.stage = record.name.starts_with("data_parallel.grad") ? "grad" : "collective";
        } else if (kind == "tensor") {
            record.role = RecordRole::Tensor;
            record.stage = stageOfTensor(record.name);
            addTensor(payload, record.place, record.outputs);
        } else if (kind == "op" || kind == "recompute") {
            record.role = RecordRole::Op;
            record.stage = kind == "op" ? "op" : "forward";
        } else if (kind == "optimizer") {
            record.role = RecordRole::Values;
            record.stage = "optimizer";
        } else {
            record.role = RecordRole::Values;
            record.stage = kind;
        }
        record.scope = textOrNull(payload, "scope");
        for (const char *key : {"inputs", "in"})
            takeTensors(payload, key, record.place, record.inputs);
        for (const char *key : {"outputs", "out"})
            takeTensors(payload, key, record.place, record.outputs);
        for (const JsonValue &member : payload.members()) {
            if (!isDescription(member.key()))
                record.fields.emplace_back(member.key(), canonicalText(member));
        }
    }

    Observation takeTensor(const JsonFields &tensor, const TracePlace &place) override
    {
        Observation observation;
        observation.path = textOrNull(tensor, "path");
        observation.dtype = dtypeWord(tensor.text("dtype"));
        observation.shape = shapeOf(tensor, "shape");
        observation.count = tensor.countIf("numel");
        for (const char *key : {"device", "layout", "requires_grad"}) {
            if (const auto value = tensor.find(key))
                observation.metadata.emplace_back(key, canonicalText(*value));
        }
        bool wrong = false;
        std::string digest = textOrNull(tensor, "sha256");
        if (!digest.empty()) {
            takeDigestOf(tensor, "sha256", DigestKind::Sha256, Sha256Digits, observation, wrong);
        } else {
            const char *const key = tensor.has("digest") ? "digest" : "device_digest";
            digest = textOrNull(tensor, key);
            if (digest.empty())
                observation.absence = Absence::Null;
            else
                takeDigestOf(tensor, key, DigestKind::Megatron128, Megatron128Digits, observation,
                             wrong);
        }
        if (wrong)
            addProblem(place, "bad-digest", "is no digest of this dialect: '" + digest + "'");
        return observation;
    }
};

class Typed final : public TraceDialect
{
public:
    std::string_view name() const override { return "megatron-typed"; }
    std::string_view description() const override
    {
        return "Megatron-Core typed traces (iter_*/rank_*.jsonl): 128-bit digests or SHA-256";
    }
    SequenceRule sequenceRule() const override { return SequenceRule::GapFree; }
    bool noticesCuts() const override { return false; }
    Confidence probe(const TraceFile &, std::string_view head) const override
    {
        return firstLineHas(head, {"sequence", "kind", "payload", "schema_version"})
                || firstLineHas(head, {"host", "local_rank", "rank", "device"})
            ? Confidence::Yes
            : Confidence::No;
    }
    Result<std::unique_ptr<TraceReader>> open(const TraceFile &file,
                                              const TracePlace &from) const override
    {
        return std::unique_ptr<TraceReader>(std::make_unique<TypedReader>(file, from));
    }
};

} // namespace

const TraceDialect &typedDialect()
{
    static const Typed dialect;
    return dialect;
}

} // namespace forkpoint
