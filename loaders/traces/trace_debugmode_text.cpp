// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/traces/trace_debugmode.h"

#include "loaders/limits.h"
#include "loaders/storage/line_reader.h"
#include "loaders/traces/hash_leaves.h"
#include "loaders/traces/module_stack.h"
#include "loaders/traces/trace_path.h"

#include <algorithm>

namespace forkpoint {

namespace {

constexpr std::string_view ModuleMark = "[nn.Mod] ";
constexpr std::string_view TritonMark = "[triton] ";
constexpr std::string_view Arrow = ")  ->  ";
constexpr std::string_view HashMark = "  # {";

/// The value of a member of Python's text of a dictionary, up to the bracket that closes it.
std::string_view memberOf(std::string_view dictionary, std::string_view quotedKey)
{
    const std::size_t at = dictionary.find(quotedKey);
    if (at == std::string_view::npos)
        return {};
    const std::string_view rest = dictionary.substr(at + quotedKey.size());
    int depth = 0;
    for (std::size_t i = 0; i < rest.size(); ++i) {
        const char c = rest[i];
        if (depth == 0 && (c == ',' || c == '}'))
            return rest.substr(0, i);
        depth += c == '(' || c == '[' || c == '{' ? 1 : c == ')' || c == ']' || c == '}' ? -1 : 0;
    }
    return {};
}

struct Call
{
    std::string_view name, arguments, output, hashes;
};

/// "aten::mm(t: f32[1, 8], ...)  ->  t: f32[...]  # {...}".
std::optional<Call> callOf(std::string_view line)
{
    const std::size_t open = line.find('(');
    const std::size_t arrow = line.find(Arrow);
    if (open == std::string_view::npos || arrow == std::string_view::npos || arrow < open
        || line.substr(0, open).find("::") == std::string_view::npos
        || line.substr(0, open).find(' ') != std::string_view::npos)
        return std::nullopt;
    Call call{line.substr(0, open), line.substr(open + 1, arrow - open - 1), {}, {}};
    const std::string_view rest = line.substr(arrow + Arrow.size());
    const std::size_t hash = rest.find(HashMark);
    call.output = rest.substr(0, hash);
    if (hash != std::string_view::npos)
        call.hashes = rest.substr(hash + HashMark.size() - 1);
    return call;
}

class TextReader final : public TraceReader
{
public:
    TextReader(const TraceFile &file, const TracePlace &from)
        : m_file(file),
          m_from(from.byte),
          m_lines(*m_file.source, limits::TraceLineBytes)
    {
        const PathNumbers numbers = numbersInPath(file);
        m_step = numbers.step;
        m_coordinate.rank = numbers.rank;
    }

    Result<std::optional<TraceRecord>> next() override
    {
        for (;;) {
            FP_TRY(const auto line, m_lines.next());
            if (!line)
                return std::optional<TraceRecord>();
            TraceRecord record;
            record.place = {m_file.index, line->number, line->byte, line->text.size()};
            if (line->tooLong) {
                addProblem(record.place, "long-line", "is longer than a line may be");
                continue;
            }
            const std::size_t depth =
                std::min(line->text.find_first_not_of(' '), line->text.size());
            const std::string_view text = line->text.substr(depth);
            if (text.starts_with(ModuleMark)) {
                m_modules.enter(depth, std::string(text.substr(ModuleMark.size())));
                continue;
            }
            // The modules around a call are told by the lines before it.
            if (takeCall(text, depth, record) && line->byte >= m_from)
                return std::optional(std::move(record));
        }
    }

private:
    bool takeCall(std::string_view text, std::size_t depth, TraceRecord &record)
    {
        const auto call = callOf(text);
        if (!call) {
            if (text.starts_with(TritonMark) && ++m_kernels == 1)
                addNote(record.place, "not-read", "lines of Triton kernels are not compared");
            return false;
        }
        record.name = std::string(call->name);
        record.key = record.name;
        record.iteration = m_step;
        record.role = RecordRole::Op;
        record.stage = "op";
        record.scope = m_modules.around(depth);
        record.inputs = hashesOf(*call, "'input_hash': ", call->arguments, record.place);
        record.outputs = hashesOf(*call, " 'hash': ", call->output, record.place);
        if (record.outputs.empty() || record.outputs.front().absence != Absence::Recorded)
            record.outputs = hashesOf(*call, "{'hash': ", call->output, record.place);
        return true;
    }

    std::vector<Observation> hashesOf(const Call &call, std::string_view key,
                                      std::string_view layouts, const TracePlace &place)
    {
        const std::string_view tree = memberOf(call.hashes, key);
        const auto leaves = leavesOf(tree);
        if (!leaves && !tree.empty())
            addProblem(place, "bad-hash", "a hash is no number and no tree of numbers");
        auto observations = observationsOf(leaves.value_or(std::vector<HashLeaf>()), layouts);
        for (const Observation &observation : observations) {
            if (observation.absence == Absence::Recorded)
                addFact(TraceFact::Role::Schema, "digest", toString(observation.kind));
        }
        return observations;
    }

    TraceFile m_file;
    std::uint64_t m_from;
    LineReader m_lines;
    ModuleStack m_modules;
    std::optional<std::int64_t> m_step;
    std::uint64_t m_kernels = 0;
};

class Text final : public TraceDialect
{
public:
    std::string_view name() const override { return "torch-debugmode-text"; }
    std::string_view description() const override
    {
        return "torch DebugMode as debug_string() prints it";
    }
    bool noticesCuts() const override { return false; }
    Confidence probe(const TraceFile &, std::string_view head) const override
    {
        // Some line of the first few is a call or a module.
        for (int i = 0; i < 8 && !head.empty(); ++i) {
            std::string_view line = head.substr(0, head.find('\n'));
            head.remove_prefix(std::min(line.size() + 1, head.size()));
            line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
            if (callOf(line) || line.starts_with(ModuleMark))
                return Confidence::Yes;
        }
        return Confidence::No;
    }
    Result<std::unique_ptr<TraceReader>> open(const TraceFile &file,
                                              const TracePlace &from) const override
    {
        return std::unique_ptr<TraceReader>(std::make_unique<TextReader>(file, from));
    }
};

} // namespace

const TraceDialect &debugModeTextDialect()
{
    static const Text dialect;
    return dialect;
}

} // namespace forkpoint
