// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/traces/trace_router.h"

#include "loaders/elements/running_digest.h"
#include "loaders/storage/file_source.h"
#include "loaders/traces/trace_lines.h"
#include "loaders/traces/trace_payload.h"

#include <limits>
#include <map>

namespace forkpoint {

namespace {

class RouterReader final : public TraceJsonReader
{
public:
    RouterReader(const TraceFile &file, const TracePlace &from)
        : TraceJsonReader(file, from),
          m_trace(file),
          m_folder(file.name.substr(0, file.name.rfind('/') + 1))
    {
    }

private:
    /// Where a sidecar is named in a record, and what it holds.
    struct Sidecar
    {
        std::string prefix, name;
    };

    Use takeObject(const JsonFields &fields, TraceRecord &record) override
    {
        const std::int64_t rank = fields.integer("rank");
        takeRank(rank, record.place);
        record.iteration = fields.integer("step");
        record.role = RecordRole::Op;
        record.stage = "forward"; // its own word says where in the layer: before the dispatch
        record.scope = fields.text("block");
        record.name = record.scope;
        if (const auto index = integerOrNull(fields, "mtp_idx"))
            record.name += '.' + std::to_string(*index);
        record.name += '.' + std::to_string(fields.integer("layer"));
        record.key = record.name + '\x1f' + fields.text("stage");
        std::string recorded = "top_indices";
        for (const auto &[prefix, name] :
             {Sidecar{"hs", "hidden_states"}, Sidecar{"logit", "logits"}}) {
            if (!fields.has(prefix + "_offset"))
                continue;
            recorded += ", " + name;
            const std::string file = name + "_rank" + std::to_string(rank) + ".bin";
            (prefix == "hs" ? record.inputs : record.outputs)
                .push_back(takeSlice(fields, prefix, name, m_folder + file, record.place));
        }
        addFact(TraceFact::Role::Schema, "recorded", recorded);
        record.outputs.push_back(takeIndices(fields));
        return Use::Record;
    }

    /// The experts of each token, in the order of their scores: every value of them.
    static Observation takeIndices(const JsonFields &fields)
    {
        Observation observation;
        observation.path = "top_indices";
        observation.dtype = "int32"; // as the tool holds them
        observation.kind = DigestKind::Sha256;
        const std::uint64_t tokens = fields.count("num_tokens"), experts = fields.count("topk");
        observation.shape = {tokens, experts};
        const std::vector<JsonValue> rows = fields.arrayIf("top_indices");
        if (!fields.has("top_indices") || rows.size() != tokens)
            fields.problem("top_indices", "expected one list a token, num_tokens of them");
        RunningDigest digest("sha256");
        std::vector<std::byte> bytes;
        for (const JsonValue &row : rows) {
            bytes.clear();
            for (const JsonValue &expert : row.children()) {
                const auto index = integerOf(expert);
                if (!index || *index < std::numeric_limits<std::int32_t>::min()
                    || *index > std::numeric_limits<std::int32_t>::max()) {
                    fields.problem("top_indices", "expected integers of 32 bits");
                    return observation;
                }
                for (int shift = 0; shift < 32; shift += 8)
                    bytes.push_back(std::byte(std::uint32_t(*index) >> shift));
            }
            if (!row.isArray() || bytes.size() != 4 * experts)
                fields.problem("top_indices", "expected lists of topk integers");
            digest.update(bytes);
        }
        observation.digest = digest.finish();
        return observation;
    }

    Observation takeSlice(const JsonFields &fields, const std::string &prefix,
                          const std::string &name, const std::string &file, const TracePlace &place)
    {
        Observation observation;
        observation.path = name;
        observation.dtype = "bfloat16"; // of both sidecars, whatever the model computes in
        observation.shape = shapeOf(fields, prefix + "_shape");
        if (!observation.shape)
            fields.problem(prefix + "_shape", "expected a list of counts");
        const std::uint64_t offset = fields.count(prefix + "_offset");
        const std::uint64_t bytes = fields.count(prefix + "_bytes");
        auto digest = payloadBytes(observation) == bytes
            ? digestOf(file, offset, bytes)
            : Error{ErrorCode::Malformed,
                    file,
                    {},
                    "must have the bytes of its shape, has " + std::to_string(bytes)};
        if (!digest.ok()) {
            observation.absence = Absence::Null;
            addProblem(place, "bad-payload", digest.error().message());
            return observation;
        }
        observation.kind = DigestKind::Sha256;
        observation.digest = std::move(digest).value();
        observation.payload = file;
        observation.payloadOffset = offset;
        return observation;
    }

    Result<std::string> digestOf(const std::string &name, std::uint64_t offset, std::uint64_t bytes)
    {
        auto &file = m_sidecars[name];
        if (!file) {
            FP_TRY(file, FileSource::openBeneath(m_trace.directory, name, name));
        }
        return digestOfSlice(m_trace, *file, offset, bytes);
    }

    TraceFile m_trace;
    std::string m_folder; ///< of the trace, with its slash
    std::map<std::string, std::shared_ptr<const FileSource>> m_sidecars;
};

class Router final : public TraceDialect
{
public:
    std::string_view name() const override { return "megatron-router"; }
    std::string_view description() const override
    {
        return "Megatron router traces (router_trace_rank*.jsonl): experts of every token, with "
               "hidden states and logits where they were kept";
    }
    bool isPayload(std::string_view fileName) const override
    {
        return fileName.ends_with(".bin")
            && (fileName.starts_with("hidden_states_rank") || fileName.starts_with("logits_rank"));
    }
    bool noticesCuts() const override { return false; }
    Confidence probe(const TraceFile &, std::string_view head) const override
    {
        return firstLineHas(head, {"step", "stage", "block", "layer", "top_indices"})
            ? Confidence::Yes
            : Confidence::No;
    }
    Result<std::unique_ptr<TraceReader>> open(const TraceFile &file,
                                              const TracePlace &from) const override
    {
        return std::unique_ptr<TraceReader>(std::make_unique<RouterReader>(file, from));
    }
};

} // namespace

const TraceDialect &routerDialect()
{
    static const Router dialect;
    return dialect;
}

} // namespace forkpoint
