// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/traces/trace_debugmode.h"

#include "loaders/limits.h"
#include "loaders/text/json_fields.h"
#include "loaders/traces/hash_leaves.h"
#include "loaders/traces/module_stack.h"
#include "loaders/traces/trace_entries.h"
#include "loaders/traces/trace_path.h"

namespace forkpoint {

namespace {

constexpr std::string_view Format = "torch.utils._debug_mode.DebugMode.logs";
constexpr std::string_view Version = "1";

class LogsReader final : public TraceEntryReader
{
public:
    LogsReader(const TraceFile &file, const TracePlace &from)
        : TraceEntryReader(file, "logs", 0),
          m_from(from.byte)
    {
        const PathNumbers numbers = numbersInPath(file);
        m_step = numbers.step;
        m_coordinate.rank = numbers.rank;
    }

private:
    Status takeHeader(const Entry &entry, const TracePlace &) override
    {
        if (entry.key == "version" && entry.text != Version)
            return Error{ErrorCode::Unsupported, file().name, "byte " + std::to_string(entry.byte),
                         "must be of version 1, is of " + entry.text};
        if (entry.key == "version")
            addFact(TraceFact::Role::Schema, "version", entry.text);
        return {};
    }

    /// The modules around a call are told by the entries before it.
    bool takeEntry(const Entry &entry, TraceRecord &record) override
    {
        return parse(entry, record.place,
                     [&](const JsonFields &fields) { return takeFields(fields, record); })
            && record.place.byte >= m_from;
    }

    bool takeFields(const JsonFields &fields, TraceRecord &record)
    {
        const std::string type = fields.text("type");
        const auto depth = fields.count("call_depth");
        if (type == "annotate") {
            if (fields.textOr("header") == "nn.Mod")
                m_modules.enter(depth, fields.text("tag"));
            return false;
        }
        record.scope = m_modules.around(depth);
        record.iteration = m_step;
        record.role = RecordRole::Op;
        record.stage = "op";
        if (type == "op")
            takeOp(fields, record);
        else if (type == "triton_kernel")
            takeKernel(fields, record);
        else
            return false; // how a DTensor was laid out: no value
        record.key = record.name;
        return true;
    }

    void takeOp(const JsonFields &fields, TraceRecord &record)
    {
        record.name = fields.text("op_name");
        const std::string arguments = fields.textOr("args_str") + fields.textOr("kwargs_str");
        const auto log = fields.find("log");
        std::vector<HashLeaf> inputs, outputs;
        for (const JsonValue &pair : itemsOf(log)) {
            const auto parts = pair.children();
            if (parts.size() != 2)
                continue;
            if (parts[0].text() == "input_hash")
                inputs = leavesOf(parts[1]);
            if (parts[0].text() == "hash")
                outputs = leavesOf(parts[1]);
        }
        record.inputs = observationsOf(inputs, arguments);
        record.outputs = observationsOf(outputs, fields.textOr("output_str"));
        noteDigest(record);
    }

    void takeKernel(const JsonFields &fields, TraceRecord &record)
    {
        record.role = RecordRole::Kernel;
        record.name = fields.text("kernel_name");
        if (const auto before = fields.find("pre_hashes"))
            record.inputs = observationsOf(leavesOf(*before), {});
        if (const auto after = fields.find("post_hashes"))
            record.outputs = observationsOf(leavesOf(*after), {});
        noteDigest(record);
    }

    static std::vector<JsonValue> itemsOf(const std::optional<JsonValue> &log)
    {
        const auto items = log && log->isObject() ? log->find("items") : std::nullopt;
        return items ? items->children() : std::vector<JsonValue>();
    }

    void noteDigest(const TraceRecord &record)
    {
        for (const auto *side : {&record.inputs, &record.outputs}) {
            for (const Observation &observation : *side) {
                if (observation.absence == Absence::Recorded)
                    addFact(TraceFact::Role::Schema, "digest",
                            std::string(toString(observation.kind)));
            }
        }
    }

    std::uint64_t m_from;
    ModuleStack m_modules;
    std::optional<std::int64_t> m_step;
};

class Logs final : public TraceDialect
{
public:
    std::string_view name() const override { return "torch-debugmode"; }
    std::string_view description() const override
    {
        return "torch DebugMode logs (save_logs, version 1)";
    }
    Confidence probe(const TraceFile &, std::string_view head) const override
    {
        const bool isObject = head.substr(0, head.find('"')).find('{') != std::string_view::npos;
        return isObject && head.find(Format) != std::string_view::npos ? Confidence::Yes
                                                                       : Confidence::No;
    }
    Result<std::unique_ptr<TraceReader>> open(const TraceFile &file,
                                              const TracePlace &from) const override
    {
        return std::unique_ptr<TraceReader>(std::make_unique<LogsReader>(file, from));
    }
};

} // namespace

const TraceDialect &debugModeLogsDialect()
{
    static const Logs dialect;
    return dialect;
}

} // namespace forkpoint
