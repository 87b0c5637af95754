// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/trace_bridge.h"

#include "loaders/trace_lines.h"
#include "model/trace_stage.h"

namespace forkpoint {

namespace {

constexpr std::size_t XorDigits = 16;
constexpr std::size_t CrcDigits = 8;

class BridgeReader final : public TraceJsonReader
{
public:
    using TraceJsonReader::TraceJsonReader;

private:
    Use takeObject(const JsonFields &fields, TraceRecord &record) override
    {
        if (fields.flagIf("_header").value_or(false))
            return takeHeader(fields, record.place);
        if (m_isForeign)
            return Use::Other;
        record.iteration = integerOrNull(fields, "window");
        record.sequence = fields.count("seq_id");
        record.name = fields.text("op");
        record.group = fields.text("group");
        record.call = fields.count("align_idx");
        record.callIsStated = true;
        record.key = record.group + '\x1f' + record.name;
        record.scope = textOrNull(fields, "scope");
        record.caller = textOrNull(fields, "caller");
        const bool isOp = record.group == "aten";
        record.role = isOp ? RecordRole::Op : RecordRole::Collective;
        const std::string phase = textOrNull(fields, "phase");
        record.stage =
            phase.empty() || phase == "post" ? (isOp ? "op" : "collective") : stageByWord(phase);
        if (const std::string reduce = textOrNull(fields, "reduce_op"); !reduce.empty())
            record.fields.emplace_back("reduce_op", reduce);
        takeTensors(fields, "input", record.place, record.inputs);
        takeTensors(fields, "output", record.place, record.outputs);
        return Use::Record;
    }

    Use takeHeader(const JsonFields &fields, const TracePlace &place)
    {
        if (const auto coordinates = fields.objectIf("coords")) {
            TraceCoordinate found;
            found.rank = integerOrNull(*coordinates, "global_rank");
            for (const char *axis : {"pp", "tp", "cp", "dp"}) {
                if (const auto number = integerOrNull(*coordinates, axis))
                    found.axes.emplace_back(axis, *number);
            }
            const bool isFirst = m_coordinate == TraceCoordinate();
            if (!isFirst && !m_isForeign && found != m_coordinate) {
                m_isForeign = true;
                addProblem(place, "mixed-ranks",
                           "is the header of " + found.toText() + ", the file is of "
                               + m_coordinate.toText() + "; what follows was left out");
            }
            if (m_isForeign)
                return Use::Other;
            m_coordinate = std::move(found);
        }
        if (const auto sizes = fields.objectIf("config")) {
            for (const JsonValue &size : sizes->members())
                addFact(TraceFact::Role::Parallel, size.key(), canonicalText(size));
        }
        return Use::Other;
    }

    Observation takeTensor(const JsonFields &tensor, const TracePlace &place) override
    {
        Observation observation;
        observation.shape = shapeOf(tensor, "shape");
        observation.dtype = dtypeWord(tensor.textOr("dtype"));
        observation.count = tensor.countIf("numel");
        bool wrong = false;
        const bool isOld = !tensor.has("digest") && tensor.has("crc32");
        const std::string_view digest = tensor.view(isOld ? "crc32" : "digest");
        takeDigest(observation, isOld ? DigestKind::Crc32 : DigestKind::XorLanes, digest,
                   isOld ? CrcDigits : XorDigits, wrong);
        addFact(TraceFact::Role::Schema, "digest", toString(observation.kind));
        if (wrong)
            addProblem(place, "bad-digest",
                       "a digest must have " + std::to_string(isOld ? CrcDigits : XorDigits)
                           + " hexadecimal digits, is '" + std::string(digest) + "'");
        return observation;
    }

    bool m_isForeign = false; ///< behind the header of another rank: none of it is read
};

class Bridge final : public TraceDialect
{
public:
    std::string_view name() const override { return "megatron-bridge"; }
    std::string_view description() const override
    {
        return "Megatron-Bridge determinism streams (stream_*.fp): operations and collectives";
    }
    Confidence probe(const TraceFile &, std::string_view head) const override
    {
        return firstLineHas(head, {"_header"})
                || firstLineHas(head, {"seq_id", "window", "op", "align_idx"})
            ? Confidence::Yes
            : Confidence::No;
    }
    Result<std::unique_ptr<TraceReader>> open(const TraceFile &file,
                                              const TracePlace &from) const override
    {
        return std::unique_ptr<TraceReader>(std::make_unique<BridgeReader>(file, from));
    }
};

} // namespace

const TraceDialect &bridgeDialect()
{
    static const Bridge dialect;
    return dialect;
}

} // namespace forkpoint
