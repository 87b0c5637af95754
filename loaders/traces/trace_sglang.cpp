// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/traces/trace_sglang.h"

#include "loaders/traces/trace_payload.h"

#include <algorithm>
#include <charconv>
#include <map>

namespace forkpoint {

namespace {

constexpr std::string_view Separator = "___";

using Tags = std::map<std::string, std::string, std::less<>>;

/// "a=1___b=2.pt"; what has no "=" is no tag.
Tags tagsOf(std::string_view name)
{
    name = name.substr(name.rfind('/') + 1);
    if (name.ends_with(".pt"))
        name.remove_suffix(3);
    Tags tags;
    while (!name.empty()) {
        const std::size_t end = std::min(name.find(Separator), name.size());
        const std::string_view part = name.substr(0, end);
        const std::size_t equals = part.find('=');
        if (equals != std::string_view::npos)
            tags.emplace(part.substr(0, equals), part.substr(equals + 1));
        name.remove_prefix(std::min(end + Separator.size(), name.size()));
    }
    return tags;
}

std::optional<std::int64_t> number(const Tags &tags, std::string_view key)
{
    const auto found = tags.find(key);
    if (found == tags.end())
        return std::nullopt;
    const std::string &text = found->second;
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc() && end == text.data() + text.size();
    return whole ? std::optional(value) : std::nullopt;
}

/// Tags that say where a tensor was seen, and no part of what it is.
bool isPlace(std::string_view tag)
{
    return tag == "step" || tag == "curr_step" || tag == "rank" || tag == "dump_index"
        || tag == "name" || tag == "recompute_status";
}

bool isDump(std::string_view name)
{
    const Tags tags = tagsOf(name);
    return tags.count("name") > 0 && tags.count("rank") > 0
        && (tags.count("step") > 0 || tags.count("curr_step") > 0);
}

class FileReader final : public TraceReader
{
public:
    FileReader(const TraceFile &file, const TracePlace &) : m_file(file)
    {
        m_coordinate.rank = number(tagsOf(file.name), "rank");
    }

    Result<std::optional<TraceRecord>> next() override
    {
        if (m_ended)
            return std::optional<TraceRecord>();
        m_ended = true;
        const Tags tags = tagsOf(m_file.name);
        TraceRecord record;
        record.place = {m_file.index, 0, 0, m_file.source->size()};
        record.iteration = number(tags, "step");
        if (!record.iteration)
            record.iteration = number(tags, "curr_step");
        record.sequence = std::uint64_t(number(tags, "dump_index").value_or(0));
        record.name = tags.find("name")->second;
        record.key = record.name;
        for (const auto &[tag, value] : tags) {
            if (!isPlace(tag))
                record.key += '\x1f' + tag + '=' + value;
        }
        record.role = RecordRole::Tensor;
        record.stage = record.name.starts_with("grad__") ? "grad"
            : record.name.starts_with("param__")         ? "weight"
                                                         : "forward";
        auto observation = observePayload(m_file, m_file.name, "value");
        if (!observation.ok()) {
            addProblem(record.place, "no-payload", observation.error().message());
            return std::optional<TraceRecord>();
        }
        record.outputs.push_back(std::move(observation).value());
        return std::optional(std::move(record));
    }

private:
    TraceFile m_file;
    bool m_ended = false;
};

class Sglang final : public TraceDialect
{
public:
    std::string_view name() const override { return "sglang"; }
    std::string_view description() const override
    {
        return "SGLang dumps: one torch file a tensor, named by step, rank and name";
    }
    bool claimsBinary(std::string_view fileName) const override { return isDump(fileName); }
    Confidence probe(const TraceFile &file, std::string_view) const override
    {
        return isDump(file.name) ? Confidence::Yes : Confidence::No;
    }
    Result<std::unique_ptr<TraceReader>> open(const TraceFile &file,
                                              const TracePlace &from) const override
    {
        return std::unique_ptr<TraceReader>(std::make_unique<FileReader>(file, from));
    }
};

} // namespace

const TraceDialect &sglangDialect()
{
    static const Sglang dialect;
    return dialect;
}

} // namespace forkpoint
