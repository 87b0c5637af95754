// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/resume/resume_counters.h"

#include "model/format.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace forkpoint {

namespace {

constexpr std::size_t StepsRead = 4096; ///< counts of a side, one a parameter

/// "optimizer_states.0" of "optimizer_states.0.state.3.step".
std::string optimizerOf(std::string_view name)
{
    const std::string own = ResumeRules::builtin().withoutRanks(name);
    const auto optimizer = own.find("optim");
    const auto state = optimizer == std::string::npos ? optimizer : own.find(".state.", optimizer);
    return state == std::string::npos ? std::string() : own.substr(0, state);
}

/// Counts while the budget lasts.
UpdateCounts countsOf(const std::vector<const ResumeItem *> &items, const ResumeSide &side,
                      std::size_t &budget)
{
    UpdateCounts counts;
    for (const ResumeItem *item : items) {
        if (budget == 0) {
            counts.isCut = true;
            break;
        }
        const auto number = side.number(*item);
        if (!number)
            continue;
        --budget;
        counts.least = counts.count == 0 ? *number : std::min(counts.least, *number);
        counts.most = counts.count == 0 ? *number : std::max(counts.most, *number);
        ++counts.count;
    }
    return counts;
}

SelfCheck against(double number, double expected, const std::string &what)
{
    const bool holds = number == expected;
    return {holds,
            (holds ? "is " : numberText(number) + " against ") + what
                + (holds ? "" : " " + numberText(expected))};
}

std::string optimizersText(const CounterReference &reference)
{
    return counted(reference.updates.size(), "optimizer", "optimizers");
}

/// One of a sequence of schedules begins to count when its turn comes.
bool isNestedSchedule(std::string_view name)
{
    return name.find("._schedulers.") != std::string_view::npos;
}

SelfCheck checkSchedule(double number, const CounterReference &reference)
{
    const bool several = reference.updates.size() > 1;
    if (reference.iteration && number == *reference.iteration)
        return against(number, number, reference.iterationName);
    // A schedule that moves on after each pass may be saved before or after it did.
    if (reference.epoch && (number == *reference.epoch || number == *reference.epoch + 1))
        return {std::nullopt, "counts epochs"};
    // accelerate's scheduler.py steps it once for each process, unless batches are split.
    const auto processes = double(reference.processes);
    if (reference.processes > 1 && reference.iteration
        && number == *reference.iteration * processes) {
        return {true,
                "is " + reference.iterationName + " " + numberText(*reference.iteration) + " x "
                    + numberText(processes) + " processes, as accelerate counts"};
    }
    const double times =
        reference.iteration && *reference.iteration > 0 ? number / *reference.iteration : 0;
    if (reference.processes > 1 && times > processes && times == std::floor(times)) {
        return {std::nullopt,
                "is " + reference.iterationName + " x " + numberText(times) + ", generators of "
                    + numberText(processes)
                    + " processes are there: accelerate counts each, files may be missing"};
    }
    if (several
        && std::find(reference.updates.begin(), reference.updates.end(), number)
            != reference.updates.end())
        return {true, "is the step of one of " + optimizersText(reference)};
    if (several)
        return {std::nullopt,
                "which of " + optimizersText(reference) + " it belongs to is not recorded"};
    return reference.iteration ? against(number, *reference.iteration, reference.iterationName)
                               : SelfCheck{};
}

SelfCheck checkSamples(double number, const CounterReference &reference)
{
    if (!reference.globalBatch || !reference.iteration)
        return {};
    const double batch = *reference.globalBatch, expected = *reference.iteration * batch;
    const std::string product = reference.iterationName + " " + numberText(*reference.iteration)
        + " x " + numberText(batch) + " samples";
    if (number == expected)
        return {true, "is " + product};
    // The product of what the settings name may lack how many replicas there were.
    if (reference.batchIsProduct && expected > 0 && number > expected
        && std::fmod(number, expected) == 0)
        return {std::nullopt, numberText(number / expected) + " x (" + product + ")"};
    // An iteration that counts the updates of several optimizers is no number of batches.
    if (reference.updates.size() > 1)
        return {std::nullopt, numberText(number) + " against " + product};
    return {false, numberText(number) + " against " + product};
}

} // namespace

std::string UpdateCounts::toString() const
{
    if (count == 0)
        return {};
    std::string text = numberText(least);
    if (most != least)
        text += " to " + numberText(most);
    if (count == 1)
        return text;
    return text + (isCut ? " (of the first " : " (of ") + counted(count, "parameter", "parameters")
        + ")";
}

std::vector<OptimizerCounts> countUpdates(const std::vector<const ResumeItem *> &steps,
                                          const ResumeSide &a, const ResumeSide &b)
{
    std::vector<OptimizerCounts> all;
    std::unordered_map<std::string, std::size_t> places;
    for (const ResumeItem *item : steps) {
        std::string optimizer = optimizerOf(item->name);
        const auto [place, isNew] = places.try_emplace(optimizer, all.size());
        if (isNew)
            all.push_back({std::move(optimizer), {}, {}, {}});
        all[place->second].items.push_back(item);
    }
    std::size_t left[] = {StepsRead, StepsRead};
    for (OptimizerCounts &each : all) {
        each.a = countsOf(each.items, a, left[0]);
        each.b = countsOf(each.items, b, left[1]);
    }
    return all;
}

SelfCheck checkCounter(const ResumeItem &item, double number, ResumeRole role,
                       const CounterReference &reference)
{
    switch (role) {
    case ResumeRole::Iteration:
        return !reference.iteration || number == *reference.iteration
            ? SelfCheck{}
            : against(number, *reference.iteration, "another counter's");
    case ResumeRole::SchedulerStep:
        if (isNestedSchedule(item.name))
            return {std::nullopt, "is one of several schedules in a row"};
        return checkSchedule(number, reference);
    case ResumeRole::SchedulerBefore:
        return reference.iteration
            ? against(number, *reference.iteration - 1, "one before the " + reference.iterationName)
            : SelfCheck{};
    case ResumeRole::Samples:
    case ResumeRole::SchedulerSamples: return checkSamples(number, reference);
    default: return {};
    }
}

SelfCheck checkUpdates(const UpdateCounts &counts, const CounterReference &reference)
{
    if (counts.count == 0)
        return {};
    if (!counts.isAlike())
        return {std::nullopt,
                "parameters were updated unlike numbers of times, as those without a gradient are"};
    if (reference.iterationName != "iteration" || !reference.iteration)
        return {true, "is alike for all parameters"};
    const double iteration = *reference.iteration;
    if (reference.updates.size() < 2 || counts.least == iteration)
        return against(counts.least, iteration, reference.iterationName);
    double sum = 0;
    for (const auto &updates : reference.updates)
        sum += updates.value_or(std::nan(""));
    const std::string text = numberText(counts.least) + " of iteration " + numberText(iteration);
    if (sum == iteration)
        return {true, text + ", which counts the updates of " + optimizersText(reference)};
    return {std::nullopt,
            text + "; how " + optimizersText(reference) + " take turns is not recorded"};
}

} // namespace forkpoint
