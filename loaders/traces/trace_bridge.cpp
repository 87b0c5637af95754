// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/traces/trace_bridge.h"

#include "loaders/traces/sequence_gaps.h"
#include "loaders/traces/trace_lines.h"
#include "model/format.h"
#include "model/traces/trace_stage.h"

#include <map>
#include <utility>

namespace forkpoint {

namespace {

constexpr std::size_t XorDigits = 16;
constexpr std::size_t CrcDigits = 8;
/// Sizes of the process grid that are held to a later header; seven are written.
constexpr std::size_t MostSizes = 64;

class BridgeReader final : public TraceJsonReader
{
public:
    BridgeReader(const TraceFile &file, const TracePlace &from)
        : TraceJsonReader(file, from),
          m_isFromStart(from.line == 0)
    {
    }

private:
    /// The first record is held to the header, and behind a foreign one there is none.
    bool isLineAlone() const override { return !m_isForeign && (m_hasBegun || !m_isFromStart); }

    void seeFormed(const FormedRecord &formed) override
    {
        if (m_isFromStart)
            m_numbers.see(*formed.sequence, formed.place);
    }

    Use takeObject(const JsonFields &fields, TraceRecord &record) override
    {
        if (fields.flagIf("_header").value_or(false))
            return takeHeader(fields, record.place);
        if (m_isForeign)
            return Use::Other;
        if (m_isFromStart && !std::exchange(m_hasBegun, true) && m_sizes.empty()
            && m_coordinate == TraceCoordinate())
            addProblem(record.place, "missing-header",
                       "comes before a header: the file does not say whose records these are, and "
                       "its first line is missing");
        record.iteration = integerOrNull(fields, "window");
        record.sequence = fields.count("seq_id");
        if (m_isFromStart)
            m_numbers.see(*record.sequence, record.place);
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
        noteNumber(LineSlot::Kind::Iteration, fields, "window");
        noteNumber(LineSlot::Kind::Sequence, fields, "seq_id");
        noteNumber(LineSlot::Kind::Call, fields, "align_idx");
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
                takeSize(std::string(size.key()), canonicalText(size), place);
        }
        return Use::Other;
    }

    void takeSize(std::string name, std::string size, const TracePlace &place)
    {
        addFact(TraceFact::Role::Parallel, name, size);
        if (m_sizes.size() >= MostSizes)
            return;
        const auto [stated, isNew] = m_sizes.emplace(std::move(name), std::pair(size, place));
        if (!isNew && stated->second.first != size)
            addProblem(place, "header-contradicts",
                       "states " + stated->first + " " + size + ", the header at "
                           + stated->second.second.toText() + " states " + stated->second.first);
    }

    void atEnd() override
    {
        for (const SequenceGaps::Gap &gap : m_numbers.gaps())
            addProblem(gap.place, "sequence-gap", SequenceGaps::words(gap, "seq_id"));
    }

    Observation takeTensor(const JsonFields &tensor, const TracePlace &place) override
    {
        Observation observation;
        observation.shape = shapeOf(tensor, "shape");
        observation.dtype = dtypeWord(tensor.textOr("dtype"));
        observation.count = tensor.countIf("numel");
        bool wrong = false;
        const bool isOld = !tensor.has("digest") && tensor.has("crc32");
        const char *const key = isOld ? "crc32" : "digest";
        takeDigestOf(tensor, key, isOld ? DigestKind::Crc32 : DigestKind::XorLanes,
                     isOld ? CrcDigits : XorDigits, observation, wrong);
        addFact(TraceFact::Role::Schema, "digest", toString(observation.kind));
        if (wrong)
            addProblem(place, "bad-digest",
                       "a digest must have " + std::to_string(isOld ? CrcDigits : XorDigits)
                           + " hexadecimal digits, is '" + tensor.text(key) + "'");
        return observation;
    }

    bool m_isFromStart = true;
    bool m_hasBegun = false;  ///< a record was there
    bool m_isForeign = false; ///< behind the header of another rank: none of it is read
    std::map<std::string, std::pair<std::string, TracePlace>>
        m_sizes; ///< of the grid, as stated first
    SequenceGaps m_numbers;
};

class Bridge final : public TraceDialect
{
public:
    std::string_view name() const override { return "megatron-bridge"; }
    std::string_view description() const override
    {
        return "Megatron-Bridge determinism streams (stream_*.fp): operations and collectives";
    }
    bool noticesCuts() const override { return false; }
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
