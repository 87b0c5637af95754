// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/traces/trace_pr6610.h"

#include "loaders/traces/trace_lines.h"
#include "model/traces/trace_stage.h"

namespace forkpoint {

namespace {

constexpr std::size_t Sha256Digits = 64;

class Pr6610Reader final : public TraceJsonReader
{
public:
    using TraceJsonReader::TraceJsonReader;

private:
    bool isLineAlone() const override { return true; }

    Use takeObject(const JsonFields &fields, TraceRecord &record) override
    {
        record.iteration = integerOrNull(fields, "iteration");
        record.microBatch = integerOrNull(fields, "microbatch");
        record.name = fields.text("name");
        record.call = fields.count("occurrence");
        record.callIsStated = true;
        record.sequence = fields.count("sequence");
        noteNumber(LineSlot::Kind::Iteration, fields, "iteration");
        noteNumber(LineSlot::Kind::Call, fields, "occurrence");
        noteNumber(LineSlot::Kind::Sequence, fields, "sequence");
        const std::string phase = fields.text("phase");
        const std::string event = fields.text("event");
        record.key = (record.microBatch ? std::to_string(*record.microBatch) : std::string())
            + '\x1f' + phase + '\x1f' + event + '\x1f' + record.name;
        addFact(TraceFact::Role::Schema, "schema_version",
                std::to_string(fields.integer("schema_version")));
        takeRank(fields.integer("rank"), record.place);
        if (event == "tensor") {
            record.role = RecordRole::Tensor;
            record.stage = stageOf(phase, record.name);
            addTensor(fields.object("tensor"), record.place, record.outputs);
        } else if (event == "event") {
            takeEvent(fields, phase, record);
        } else {
            fields.problem("event", "expected 'event' or 'tensor', got '" + event + "'");
        }
        return Use::Record;
    }

    /// What the training loop records bears the phase "train".
    static std::string stageOf(const std::string &phase, const std::string &name)
    {
        if (phase != "train")
            return stageByWord(phase);
        if (name.starts_with("loss"))
            return "loss";
        return name == "grad_norm" || name == "num_zeros_in_grad" ? "grad_norm" : phase;
    }

    void takeEvent(const JsonFields &fields, const std::string &phase, TraceRecord &record)
    {
        record.role = RecordRole::Values;
        record.stage = stageOf(phase, record.name);
        if (record.name == "iteration_start")
            record.role = RecordRole::IterationBegin;
        if (record.name == "iteration_result" || record.name == "iteration_skipped")
            record.role = RecordRole::IterationEnd;
        for (const JsonValue &member : fields.object("fields").members())
            record.fields.emplace_back(member.key(), canonicalText(member));
    }

    Observation takeTensor(const JsonFields &tensor, const TracePlace &place) override
    {
        Observation observation;
        observation.dtype = dtypeWord(tensor.text("dtype"));
        observation.shape = shapeOf(tensor, "shape");
        observation.count = tensor.count("numel");
        for (const char *key : {"device_type", "layout", "stride", "requires_grad"}) {
            if (const auto value = tensor.find(key))
                observation.metadata.emplace_back(key, canonicalText(*value));
        }
        const std::string mode = tensor.text("mode");
        addFact(TraceFact::Role::Runtime, "mode", mode);
        if (mode == "metadata") {
            observation.absence = Absence::Metadata;
        } else if (mode == "summary") {
            observation.kind = DigestKind::Norm;
            if (const auto summary = tensor.find("summary"))
                observation.digest = canonicalText(*summary);
            else
                tensor.problem("summary", "expected an object, got nothing");
        } else if (mode == "sampled" || mode == "full") {
            bool wrong = false;
            takeDigestOf(tensor, "sha256",
                         mode == "full" ? DigestKind::Sha256Header : DigestKind::Sampled,
                         Sha256Digits, observation, wrong);
            if (wrong)
                addProblem(place, "bad-digest",
                           "a SHA-256 must have 64 hexadecimal digits, is '" + tensor.text("sha256")
                               + "'");
        } else {
            tensor.problem("mode", "'" + mode + "' is not a word of this version");
        }
        return observation;
    }
};

class Pr6610 final : public TraceDialect
{
public:
    std::string_view name() const override { return "megatron-rank-trace"; }
    std::string_view description() const override
    {
        return "Megatron-LM rank-local traces (pull request 6610): metadata to full SHA-256";
    }
    SequenceRule sequenceRule() const override { return SequenceRule::Rising; }
    bool noticesCuts() const override { return false; }
    Confidence probe(const TraceFile &, std::string_view head) const override
    {
        return firstLineHas(head, {"event", "phase", "occurrence", "microbatch", "sequence"})
            ? Confidence::Yes
            : Confidence::No;
    }
    Result<std::unique_ptr<TraceReader>> open(const TraceFile &file,
                                              const TracePlace &from) const override
    {
        return std::unique_ptr<TraceReader>(std::make_unique<Pr6610Reader>(file, from));
    }
};

} // namespace

const TraceDialect &pr6610Dialect()
{
    static const Pr6610 dialect;
    return dialect;
}

} // namespace forkpoint
