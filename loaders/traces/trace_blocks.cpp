// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/traces/trace_blocks.h"

#include "loaders/limits.h"
#include "loaders/storage/line_reader.h"
#include "loaders/traces/hash_leaves.h"
#include "loaders/traces/trace_lines.h"
#include "loaders/traces/trace_path.h"

#include <algorithm>
#include <charconv>
#include <map>

namespace forkpoint {

namespace {

constexpr std::string_view TitanTitle = "Total captured activations: ";
constexpr std::string_view DumpTitle = "Total captured tensor hash ops: ";

using Fields = std::map<std::string, std::string, std::less<>>;

std::string_view find(const Fields &fields, std::string_view key)
{
    const auto found = fields.find(key);
    return found == fields.end() ? std::string_view() : std::string_view(found->second);
}

/// "a, b, c" at commas outside of brackets and quotes. One more part than a record may have
/// observations says that there are too many.
std::vector<std::string_view> splitList(std::string_view text)
{
    std::vector<std::string_view> parts;
    std::size_t begin = 0;
    int depth = 0;
    char quote = 0;
    for (std::size_t i = 0; i <= text.size(); ++i) {
        const char c = i < text.size() ? text[i] : ',';
        if (quote != 0) {
            quote = c == quote ? char(0) : quote;
            if (i < text.size())
                continue;
        }
        if (c == '"' || c == '\'')
            quote = c;
        depth += c == '[' || c == '{' || c == '(' ? 1 : c == ']' || c == '}' || c == ')' ? -1 : 0;
        if (c != ',' || (depth > 0 && i < text.size()))
            continue;
        std::string_view part = text.substr(begin, i - begin);
        part.remove_prefix(std::min(part.find_first_not_of(' '), part.size()));
        if (!part.empty() && parts.size() <= limits::TraceObservations)
            parts.push_back(part);
        begin = i + 1;
    }
    return parts;
}

/// "torch.Size([1, 8, 8])".
std::optional<std::vector<std::uint64_t>> sizeOf(std::string_view text)
{
    const std::size_t open = text.find('['), close = text.find(']');
    if (open == std::string_view::npos || close == std::string_view::npos || close < open)
        return std::nullopt;
    std::vector<std::uint64_t> shape;
    for (const std::string_view part : splitList(text.substr(open + 1, close - open - 1))) {
        std::uint64_t size = 0;
        const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), size);
        if (error != std::errc() || end != part.data() + part.size()
            || shape.size() == limits::Rank)
            return std::nullopt;
        shape.push_back(size);
    }
    return shape;
}

/// Base of readers of blocks "[name]" with indented lines "Key: value" below.
class BlockReader : public TraceReader
{
public:
    BlockReader(const TraceFile &file, const TracePlace &from, std::string_view title)
        : m_file(file),
          m_title(title),
          m_lines(*m_file.source, limits::TraceLineBytes)
    {
        const PathNumbers numbers = numbersInPath(file);
        m_step = numbers.step;
        m_coordinate.rank = numbers.rank;
        m_whole = from.line == 0;
        if (!m_whole)
            m_lines.seek(from.line, from.byte, m_file.end);
    }

    Result<std::optional<TraceRecord>> next() final
    {
        while (!m_ended) {
            FP_TRY(const auto line, m_lines.next());
            if (!line) {
                m_ended = true;
                return finish(false);
            }
            const bool begins = line->text.starts_with('[') && line->text.ends_with(']');
            if (begins) {
                auto record = finish(false);
                begin(*line);
                if (!line->ended)
                    return finishTorn(std::move(record));
                if (record)
                    return record;
                continue;
            }
            if (!takeLine(*line))
                return finish(true);
        }
        return std::optional<TraceRecord>();
    }

protected:
    virtual void fill(const Fields &fields, TraceRecord &record) = 0;

private:
    void begin(const LineReader::Line &line)
    {
        m_open = true;
        m_fields.clear();
        m_record = {};
        m_record.place = {m_file.index, line.number, line.byte, line.text.size()};
        m_record.name = std::string(line.text.substr(1, line.text.size() - 2));
        m_record.key = m_record.name;
        m_record.scope = m_record.name.substr(0, m_record.name.rfind("/op_"));
        if (m_record.scope == "<none>")
            m_record.scope.clear();
        m_record.iteration = m_step;
        m_record.role = RecordRole::Op;
    }

    /// False where the file ends in the line.
    bool takeLine(const LineReader::Line &line)
    {
        const TracePlace place{m_file.index, line.number, line.byte, line.text.size()};
        if (line.tooLong) {
            addProblem(place, "long-line", "is longer than a line may be");
            return true;
        }
        if (!line.ended && line.text.find_first_not_of(" \r") != std::string_view::npos) {
            addProblem(place, "torn-line", "the last line is torn; its block was left out");
            return false;
        }
        if (m_whole && line.text.starts_with(m_title))
            takeTotal(line.text.substr(m_title.size()));
        if (!m_open || !line.text.starts_with("  "))
            return true;
        const std::string_view text = line.text.substr(2);
        const std::size_t colon = text.find(':');
        if (colon != std::string_view::npos && m_fields.size() < limits::FoldedNumbers)
            m_fields.emplace(text.substr(0, colon), text.substr(std::min(colon + 2, text.size())));
        m_record.place.size = line.byte + line.text.size() - m_record.place.byte;
        return true;
    }

    void takeTotal(std::string_view text)
    {
        std::uint64_t total = 0;
        if (std::from_chars(text.data(), text.data() + text.size(), total).ec == std::errc())
            m_total = total;
    }

    /// The block that is open, unless the file ends inside of it.
    std::optional<TraceRecord> finish(bool torn)
    {
        m_ended = m_ended || torn;
        std::optional<TraceRecord> record;
        if (m_open && !torn) {
            fill(m_fields, m_record);
            record = std::move(m_record);
            ++m_count;
        }
        m_open = false;
        if (m_ended && m_total && m_whole && *m_total != m_count)
            addProblem({m_file.index, 1, 0, 0}, "missing-records",
                       "says that it holds " + std::to_string(*m_total) + " calls, holds "
                           + std::to_string(m_count));
        return record;
    }

    std::optional<TraceRecord> finishTorn(std::optional<TraceRecord> before)
    {
        addProblem(m_record.place, "torn-line", "the last line is torn; its block was left out");
        finish(true);
        return before;
    }

    TraceFile m_file;
    std::string_view m_title;
    LineReader m_lines;
    std::optional<std::int64_t> m_step;
    std::optional<std::uint64_t> m_total;
    std::uint64_t m_count = 0;
    Fields m_fields;
    TraceRecord m_record;
    bool m_whole = true, m_open = false, m_ended = false;
};

/// Statistics as they were printed: seven digits of each.
class TitanReader final : public BlockReader
{
public:
    TitanReader(const TraceFile &file, const TracePlace &from) : BlockReader(file, from, TitanTitle)
    {
        addFact(TraceFact::Role::Schema, "digest", "printed statistics");
    }

private:
    void fill(const Fields &fields, TraceRecord &record) override
    {
        record.stage = find(fields, "Phase") == "backward" ? "backward" : "forward";
        record.caller = std::string(find(fields, "Location"));
        Observation output;
        const std::string_view layout = find(fields, "Shape");
        output.shape = sizeOf(layout);
        constexpr std::string_view Word = "Dtype: ";
        if (const std::size_t at = layout.find(Word); at != std::string_view::npos)
            output.dtype = dtypeWord(layout.substr(at + Word.size()));
        output.kind = DigestKind::Printed;
        for (const char *key : {"L1 norm", "L2 norm", "Min", "Max", "Mean", "Output hash"}) {
            if (const std::string_view value = find(fields, key); !value.empty())
                output.digest += (output.digest.empty() ? "" : ", ") + std::string(key) + " "
                    + std::string(value);
        }
        if (output.digest.empty())
            output.absence = Absence::Metadata;
        record.outputs.push_back(std::move(output));
        for (const std::string_view hash : splitList(find(fields, "Input hashes"))) {
            if (record.inputs.size() == limits::TraceObservations) {
                addProblem(record.place, "limit",
                           "has more than " + std::to_string(limits::TraceObservations)
                               + " input hashes");
                break;
            }
            Observation input;
            input.kind = DigestKind::Printed;
            input.digest = std::string(hash);
            record.inputs.push_back(std::move(input));
        }
    }
};

/// "[0][0]=138227, [1]['alpha']=1.5": a path and a JSON value each.
std::vector<HashLeaf> leavesOfList(std::string_view text)
{
    std::vector<HashLeaf> leaves;
    for (const std::string_view part : splitList(text)) {
        const std::size_t equals = part.rfind('=');
        if (equals == std::string_view::npos)
            continue;
        const std::string path(part.substr(0, equals));
        const auto values = leavesOf(part.substr(equals + 1));
        if (!values || values->empty()) { // "NaN" and "Infinity" stand in quotes
            leaves.push_back({path, "nan", false});
            continue;
        }
        for (const HashLeaf &leaf : *values)
            leaves.push_back(
                {leaf.path == "<root>" ? path : path + leaf.path, leaf.text, leaf.integer});
    }
    return leaves;
}

class DumpReader final : public BlockReader
{
public:
    DumpReader(const TraceFile &file, const TracePlace &from) : BlockReader(file, from, DumpTitle)
    {
    }

private:
    void fill(const Fields &fields, TraceRecord &record) override
    {
        record.stage = "op";
        record.inputs = observationsOf(leavesOfList(find(fields, "Input hashes")), {});
        record.outputs = observationsOf(leavesOfList(find(fields, "Output hashes")), {});
        for (const auto *side : {&record.inputs, &record.outputs}) {
            for (const Observation &observation : *side)
                addFact(TraceFact::Role::Schema, "digest", toString(observation.kind));
        }
    }
};

template <class Reader>
class Blocks final : public TraceDialect
{
public:
    /// `isCounted`: the title says how many blocks there are.
    Blocks(std::string_view name, std::string_view description, std::string_view title,
           bool isCounted)
        : m_name(name),
          m_description(description),
          m_title(title),
          m_isCounted(isCounted)
    {
    }

    std::string_view name() const override { return m_name; }
    std::string_view description() const override { return m_description; }
    bool noticesCuts() const override { return m_isCounted; }
    Confidence probe(const TraceFile &, std::string_view head) const override
    {
        return head.starts_with(m_title) ? Confidence::Yes : Confidence::No;
    }
    Result<std::unique_ptr<TraceReader>> open(const TraceFile &file,
                                              const TracePlace &from) const override
    {
        return std::unique_ptr<TraceReader>(std::make_unique<Reader>(file, from));
    }

private:
    std::string_view m_name, m_description, m_title;
    bool m_isCounted;
};

} // namespace

const TraceDialect &torchtitanDialect()
{
    static const Blocks<TitanReader> dialect("torchtitan-numerics",
                                             "torchtitan's activation tracer: printed statistics",
                                             TitanTitle, false);
    return dialect;
}

const TraceDialect &debugModeDumpDialect()
{
    static const Blocks<DumpReader> dialect(
        "torch-debugmode-dump", "torch DebugMode hashes (dump_tensor_hashes)", DumpTitle, true);
    return dialect;
}

} // namespace forkpoint
