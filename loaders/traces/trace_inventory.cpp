// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/traces/trace_inventory.h"

#include "loaders/storage/file_source.h"
#include "loaders/traces/trace_document.h"
#include "loaders/traces/trace_payload.h"
#include "model/dtype.h"

#include <map>

namespace forkpoint {

namespace {

bool beginsObject(std::string_view head)
{
    return !head.empty() && head.front() == '{';
}

bool names(std::string_view head, std::string_view member)
{
    return head.find('"' + std::string(member) + '"') != std::string_view::npos;
}

class InventoryReader final : public TraceDocumentReader
{
public:
    InventoryReader(const TraceFile &file, const TracePlace &from)
        : TraceDocumentReader(file, from, "operations")
    {
    }

private:
    void takeFields(const std::string &, const JsonFields &fields, TraceRecord &record) override
    {
        takeSignature(fields.object("signature"), record);
        record.caller = textOrNull(fields, "site");
        record.fields.emplace_back("calls", std::to_string(fields.count("calls")));
    }
};

class CaptureReader final : public TraceDocumentReader
{
public:
    static bool isPayload(std::string_view fileName)
    {
        return fileName.ends_with(".bin") && hexDigest(fileName.substr(0, fileName.size() - 4), 64);
    }
    CaptureReader(const TraceFile &file, const TracePlace &from)
        : TraceDocumentReader(file, from, "events"),
          m_folder(file.name.substr(0, file.name.rfind('/') + 1))
    {
    }

private:
    void takeFields(const std::string &, const JsonFields &fields, TraceRecord &record) override
    {
        takeSignature(fields.object("signature"), record);
        if (record.role != RecordRole::Collective)
            fields.problem("signature", "must have configuration.collective");
        record.caller = textOrNull(fields, "site");
        record.call = fields.count("call_id");
        record.callIsStated = true;
        for (Observation &input : record.inputs)
            findBlob(input, record.place);
    }

    /// Names the payload where it is what the manifest says. The digest was taken from the tensor and
    /// stays what it is, whatever became of its file.
    void findBlob(Observation &tensor, const TracePlace &place)
    {
        if (tensor.absence != Absence::Recorded || tensor.kind != DigestKind::Sha256)
            return;
        const std::string file = m_folder + tensor.digest + ".bin";
        const auto [known, isNew] = m_problems.try_emplace(file);
        if (isNew)
            known->second = problemOf(tensor, file);
        if (!known->second.empty()) {
            addProblem(place, "bad-payload", known->second);
            return;
        }
        tensor.payload = file;
        tensor.payloadOffset = 0;
    }

    std::string problemOf(const Observation &tensor, const std::string &name) const
    {
        const auto bytes = payloadBytes(tensor);
        if (!bytes)
            return name + ": '" + tensor.dtype + "' is no element type that is known";
        const auto blob = FileSource::openBeneath(file().directory, name, name);
        if (!blob.ok())
            return blob.error().message();
        if ((*blob)->size() != *bytes)
            return name + ": must have " + std::to_string(*bytes) + " bytes, has "
                + std::to_string((*blob)->size());
        const auto digest = digestOfSlice(file(), **blob, 0, *bytes);
        if (!digest.ok())
            return digest.error().message();
        return *digest == tensor.digest
            ? std::string()
            : name + ": its bytes have the SHA-256 " + *digest + ", must have that of its name";
    }

    std::string m_folder;                          ///< of the manifest, with its slash
    std::map<std::string, std::string> m_problems; ///< of blobs that were looked at; empty: sound
};

class EvidenceReader final : public TraceDocumentReader
{
public:
    EvidenceReader(const TraceFile &file, const TracePlace &from)
        : TraceDocumentReader(file, from, "cases")
    {
    }

private:
    void takeMember(const std::string &key, const JsonValue &value, const TracePlace &) override
    {
        if (key == "exit_status")
            m_exitStatus = integerOf(value);
        if (key == "evidence_scope")
            addFact(TraceFact::Role::Schema, key, canonicalText(value));
    }

    /// 1 is a session whose tests ran, and some of which failed.
    void checkEnd(const TracePlace &place) override
    {
        if (m_exitStatus != 0 && m_exitStatus != 1)
            addProblem(place, "exit-status",
                       "its session must have ended by itself (0 or 1), exit_status is "
                           + (m_exitStatus ? std::to_string(*m_exitStatus) : "absent"));
    }

    void takeFields(const std::string &key, const JsonFields &fields, TraceRecord &record) override
    {
        record.name = record.key = key;
        record.role = RecordRole::Values;
        record.stage = "evidence";
        for (const char *member : {"test_complete", "reason"}) {
            if (const auto value = fields.find(member))
                record.fields.emplace_back(member, canonicalText(*value));
        }
        if (!fields.has("observations"))
            fields.problem("observations", "expected a list, got nothing");
        std::size_t index = 0;
        JsonProblem trouble;
        for (const JsonValue &value : fields.arrayIf("observations")) {
            const JsonFields observation(value, "observations", trouble);
            takeStatus(observation, "observation " + std::to_string(index++), record);
        }
        if (trouble.error)
            fields.problem({}, trouble.error->place + ": " + trouble.error->text);
    }

    /// A status is what a tool concluded; no tensor is proven equal by two of them.
    static void takeStatus(const JsonFields &observation, const std::string &name,
                           TraceRecord &record)
    {
        const std::string status = observation.text("status");
        if (status != "verified_deterministic" && status != "verified_nondeterministic"
            && status != "not_verified")
            observation.problem("status", "'" + status + "' is not a word of this version");
        record.fields.emplace_back(name, status);
        if (record.outputs.empty())
            record.outputs.emplace_back().absence = Absence::Metadata;
    }

    std::optional<std::int64_t> m_exitStatus;
};

/// A dialect of one document a file. What a reader has as payloads, it says itself.
template <class Reader>
class DocumentDialect final : public TraceDialect
{
public:
    using Probe = bool (*)(const TraceFile &, std::string_view);

    DocumentDialect(std::string_view name, std::string_view description, Probe isOurs)
        : m_name(name),
          m_description(description),
          m_isOurs(isOurs)
    {
    }
    std::string_view name() const override { return m_name; }
    std::string_view description() const override { return m_description; }
    bool isPayload(std::string_view fileName) const override { return Reader::isPayload(fileName); }
    Confidence probe(const TraceFile &file, std::string_view head) const override
    {
        return beginsObject(head) && m_isOurs(file, head) ? Confidence::Yes : Confidence::No;
    }
    Result<std::unique_ptr<TraceReader>> open(const TraceFile &file,
                                              const TracePlace &from) const override
    {
        return std::unique_ptr<TraceReader>(std::make_unique<Reader>(file, from));
    }

private:
    std::string_view m_name, m_description;
    Probe m_isOurs;
};

/// `kind` follows the context, which may be longer than what a probe sees.
bool isCapture(const TraceFile &file, std::string_view head)
{
    const bool isNamed = file.name == "manifest.json" || file.name.ends_with("/manifest.json");
    return names(head, "collective_recipe_capture")
        || (isNamed && names(head, "schema_version") && names(head, "recipe_id")
            && names(head, "context") && !names(head, "kind"));
}

} // namespace

const TraceDialect &inventoryDialect()
{
    static const DocumentDialect<InventoryReader> dialect(
        "megatron-inventory",
        "Megatron recipe inventories (rank-*.json): operations, calls and settings, no values",
        [](const TraceFile &, std::string_view head) {
            return names(head, "determinism_inventory");
        });
    return dialect;
}

const TraceDialect &collectiveCaptureDialect()
{
    static const DocumentDialect<CaptureReader> dialect(
        "megatron-collectives",
        "Megatron collective captures (rank-*/manifest.json, <sha256>.bin): inputs as whole "
        "tensors",
        isCapture);
    return dialect;
}

const TraceDialect &evidenceDialect()
{
    static const DocumentDialect<EvidenceReader> dialect(
        "megatron-evidence",
        "Megatron evidence shards (rank-*-*.json): what replays have shown of operations",
        [](const TraceFile &, std::string_view head) {
            return names(head, "evidence_scope") && names(head, "run_id");
        });
    return dialect;
}

} // namespace forkpoint
