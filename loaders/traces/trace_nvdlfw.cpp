// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/traces/trace_nvdlfw.h"

#include "loaders/text/ascii.h"
#include "loaders/traces/trace_lines.h"
#include "loaders/traces/trace_path.h"
#include "model/metrics/printed_decimal.h"

#include <algorithm>
#include <charconv>

namespace forkpoint {

namespace {

constexpr std::string_view Level = " - INFO - ";
constexpr std::string_view Iteration = "iteration=";
constexpr std::string_view Value = "value=";

struct Statistic
{
    std::string_view name, value;
    std::int64_t iteration = 0;
};

/// "DATE - INFO - layers.0.qkv_activation_min   iteration=000001   value=-1.6860".
std::optional<Statistic> statisticOf(std::string_view line)
{
    const std::size_t level = line.find(Level);
    const std::size_t iteration = line.find(Iteration);
    const std::size_t value = line.find(Value);
    if (level == std::string_view::npos || iteration == std::string_view::npos
        || value == std::string_view::npos || iteration < level || value < iteration)
        return std::nullopt;
    Statistic statistic;
    statistic.name = trimmed(line.substr(level + Level.size(), iteration - level - Level.size()));
    statistic.value = trimmed(line.substr(value + Value.size()));
    const std::string_view digits =
        trimmed(line.substr(iteration + Iteration.size(), value - iteration - Iteration.size()));
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), statistic.iteration);
    const bool whole = error == std::errc() && end == digits.data() + digits.size();
    if (!whole || statistic.name.empty() || !parseDecimal(statistic.value))
        return std::nullopt;
    return statistic;
}

/// Layer and tensor are joined by "_", which may be in both: only the words of tensors are told.
std::string stageOfName(std::string_view name)
{
    if (name.find("gradient") != std::string_view::npos
        || name.find("grad_") != std::string_view::npos)
        return "backward";
    return name.find("_weight") != std::string_view::npos ? "weight" : "forward";
}

class StatisticsReader final : public TraceLineReader
{
public:
    StatisticsReader(const TraceFile &file, const TracePlace &from) : TraceLineReader(file, from)
    {
        m_coordinate.rank = numbersInPath(file).rank;
        addFact(TraceFact::Role::Schema, "digest", "printed statistics");
    }

private:
    Use take(std::string_view line, TraceRecord &record, std::string &problem) override
    {
        const auto statistic = statisticOf(line);
        if (!statistic) {
            problem = "is no 'name iteration=N value=X'";
            return Use::Bad;
        }
        record.iteration = statistic->iteration;
        record.name = record.key = std::string(statistic->name);
        record.role = RecordRole::Tensor;
        record.stage = stageOfName(record.name);
        Observation observation;
        observation.kind = DigestKind::Printed;
        observation.digest = std::string(statistic->value);
        record.outputs.push_back(std::move(observation));
        return Use::Record;
    }
};

class Nvdlfw final : public TraceDialect
{
public:
    std::string_view name() const override { return "nvdlfw-inspect"; }
    std::string_view description() const override
    {
        return "nvdlfw-inspect statistics logs: printed with four decimals";
    }
    bool noticesCuts() const override { return false; }
    Confidence probe(const TraceFile &, std::string_view head) const override
    {
        return statisticOf(head.substr(0, head.find('\n'))) ? Confidence::Yes : Confidence::No;
    }
    Result<std::unique_ptr<TraceReader>> open(const TraceFile &file,
                                              const TracePlace &from) const override
    {
        return std::unique_ptr<TraceReader>(std::make_unique<StatisticsReader>(file, from));
    }
};

} // namespace

const TraceDialect &nvdlfwDialect()
{
    static const Nvdlfw dialect;
    return dialect;
}

} // namespace forkpoint
