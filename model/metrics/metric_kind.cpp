// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/metrics/metric_kind.h"

#include <algorithm>
#include <array>
#include <vector>

namespace forkpoint {

namespace {

constexpr std::array<std::string_view, 34> MachineWords = {
    "time",     "elapsed",   "eta",      "tps",    "throughput",  "tflop", "tflops",
    "flop",     "flops",     "mfu",      "hfu",    "memory",      "mem",   "timestamp",
    "runtime",  "latency",   "duration", "second", "seconds",     "sec",   "secs",
    "ms",       "wall",      "walltime", "date",   "fps",         "qps",   "utilization",
    "reserved", "allocated", "gpu",      "cpu",    "temperature", "power"};

/// Runs of letters, in lower case.
std::vector<std::string> wordsOf(std::string_view name)
{
    std::vector<std::string> words(1);
    for (const char c : name) {
        const bool upper = c >= 'A' && c <= 'Z';
        if (upper || (c >= 'a' && c <= 'z'))
            words.back() += upper ? char(c - 'A' + 'a') : c;
        else if (!words.back().empty())
            words.emplace_back();
    }
    return words;
}

/// Without what tells files apart that were written side by side, "[host gpu-7]": that is no word
/// of the metric.
std::string_view withoutWriter(std::string_view name)
{
    constexpr std::array<std::string_view, 4> Writers = {" [folder ", " [host ", " [suffix ",
                                                         " [file "};
    for (const std::string_view writer : Writers) {
        const std::size_t at = name.rfind(writer);
        if (at != std::string_view::npos && name.ends_with(']'))
            return name.substr(0, at);
    }
    return name;
}

bool hasAny(const std::vector<std::string> &words, std::initializer_list<std::string_view> wanted)
{
    return std::any_of(words.begin(), words.end(), [&](const std::string &word) {
        return std::find(wanted.begin(), wanted.end(), word) != wanted.end();
    });
}

} // namespace

bool isBookkeepingMetric(std::string_view name)
{
    const auto words = wordsOf(withoutWriter(name));
    if (hasAny(words, {"loss", "grad", "norm", "accuracy"}))
        return false;
    return std::any_of(words.begin(), words.end(), [](const std::string &word) {
        return std::find(MachineWords.begin(), MachineWords.end(), word) != MachineWords.end();
    });
}

std::string_view metricStage(std::string_view name)
{
    const auto words = wordsOf(withoutWriter(name));
    if (hasAny(words, {"scale", "scaler"}))
        return "scaler";
    if (hasAny(words, {"grad", "gradient", "gnorm"}))
        return "grad_norm";
    if (hasAny(words, {"loss", "losses", "perplexity", "ppl"}))
        return "loss";
    if (hasAny(words, {"lr", "learning"}))
        return "scheduler";
    if (hasAny(words, {"tokens", "samples", "batch", "epoch"}))
        return "batch";
    return "metric";
}

std::string_view stageOfMetric(std::string_view name)
{
    const std::string_view stage = metricStage(name);
    const bool computed = stage == "loss" || stage == "grad_norm" || stage == "scheduler";
    return computed ? stage : std::string_view();
}

} // namespace forkpoint
