// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/traces/trace_sketch.h"

#include "loaders/traces/sequence_gaps.h"
#include "loaders/traces/trace_lines.h"
#include "model/traces/trace_stage.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace forkpoint {

namespace {

constexpr std::size_t XorDigits = 16;

std::string stageOf(std::string_view name)
{
    const std::string_view word = name.substr(0, name.find(':'));
    if (word == "module")
        return "forward";
    if (word == "wgrad" || word == "dgrad")
        return "backward";
    return word == "aten" || word == "gemm" ? "op" : stageByWord(word);
}

/// The dialect marks no collectives, and names no groups: torch's names tell them. A collective of
/// ranks that are not known is judged with all of them, or not at all.
bool isCollective(std::string_view name)
{
    constexpr std::array<std::string_view, 11> Names = {"all_reduce",
                                                        "reduce_scatter",
                                                        "reduce_scatter_tensor",
                                                        "_reduce_scatter_base",
                                                        "all_gather",
                                                        "all_gather_into_tensor",
                                                        "_all_gather_base",
                                                        "all_to_all",
                                                        "all_to_all_single",
                                                        "broadcast",
                                                        "reduce"};
    return std::find(Names.begin(), Names.end(), name.substr(0, name.find(':'))) != Names.end();
}

class SketchReader final : public TraceJsonReader
{
public:
    SketchReader(const TraceFile &file, const TracePlace &from)
        : TraceJsonReader(file, from),
          m_isFromStart(from.line == 0)
    {
    }

private:
    bool isLineAlone() const override { return true; }

    void seeFormed(const FormedRecord &formed) override { see(*formed.sequence, formed.place); }

    /// Numbers run on over the files of a rank, one for each iteration.
    void see(std::uint64_t number, const TracePlace &place)
    {
        if (!m_isFromStart)
            return;
        if (!m_first)
            m_first = number;
        if (number >= *m_first)
            m_numbers.see(number - *m_first, place);
    }

    void atEnd() override
    {
        for (SequenceGaps::Gap gap : m_numbers.gaps()) {
            gap.first += *m_first;
            gap.last += *m_first;
            addProblem(gap.place, "sequence-gap", SequenceGaps::words(gap, "seq"));
        }
    }

    Use takeObject(const JsonFields &fields, TraceRecord &record) override
    {
        record.iteration = fields.integer("iteration");
        record.sequence = fields.count("seq");
        see(*record.sequence, record.place);
        record.name = fields.text("name");
        record.role = isCollective(record.name) ? RecordRole::Collective : RecordRole::Op;
        record.stage = stageOf(record.name);
        addFact(TraceFact::Role::Schema, "schema_version",
                std::to_string(fields.integer("schema_version")));
        takeRank(fields.integer("rank"), record.place);
        const JsonFields payload = fields.object("payload");
        takeIdentity(fields.text("kind"), textOrNull(payload, "id"), record);
        record.scope = textOrNull(payload, "scope");
        noteNumber(LineSlot::Kind::Iteration, fields, "iteration");
        noteNumber(LineSlot::Kind::Sequence, fields, "seq");
        takeTensors(payload, "in", record.place, record.inputs);
        takeTensors(payload, "out", record.place, record.outputs);
        return Use::Record;
    }

    /// The id ends in the number of the call: "gemm:NN:acc0:grad1:1".
    static void takeIdentity(const std::string &kind, const std::string &id, TraceRecord &record)
    {
        const std::size_t colon = id.rfind(':');
        const char *const begin = id.data() + (colon == std::string::npos ? 0 : colon + 1);
        const char *const end = id.data() + id.size();
        const auto [stop, error] = std::from_chars(begin, end, record.call);
        record.callIsStated = colon != std::string::npos && error == std::errc() && stop == end;
        record.key =
            kind + '\x1f' + record.name + '\x1f' + (record.callIsStated ? id.substr(0, colon) : id);
        if (!record.callIsStated)
            record.call = 0;
    }

    Observation takeTensor(const JsonFields &tensor, const TracePlace &place) override
    {
        Observation observation;
        observation.dtype = dtypeWord(tensor.textOr("dtype"));
        observation.shape = shapeOf(tensor, "shape");
        observation.count = tensor.countIf("numel");
        bool wrong = false;
        const std::string digest = textOrNull(tensor, "digest");
        if (digest.empty())
            takeDigest(observation, DigestKind::XorLanes, digest, XorDigits, wrong);
        else
            takeDigestOf(tensor, "digest", DigestKind::XorLanes, XorDigits, observation, wrong);
        if (wrong)
            addProblem(place, "bad-digest",
                       "a digest must have 16 hexadecimal digits, is '" + digest + "'");
        return observation;
    }

    bool m_isFromStart = true;
    std::optional<std::uint64_t> m_first;
    SequenceGaps m_numbers;
};

class Sketch final : public TraceDialect
{
public:
    std::string_view name() const override { return "megatron-sketch"; }
    std::string_view description() const override
    {
        return "determinism sketches (rank*_iter*.jsonl): module, gradient and GEMM probes";
    }
    bool noticesCuts() const override { return false; }
    Confidence probe(const TraceFile &, std::string_view head) const override
    {
        return firstLineHas(head, {"seq", "kind", "payload", "schema_version"}) ? Confidence::Yes
                                                                                : Confidence::No;
    }
    Result<std::unique_ptr<TraceReader>> open(const TraceFile &file,
                                              const TracePlace &from) const override
    {
        return std::unique_ptr<TraceReader>(std::make_unique<SketchReader>(file, from));
    }
};

} // namespace

const TraceDialect &sketchDialect()
{
    static const Sketch dialect;
    return dialect;
}

} // namespace forkpoint
