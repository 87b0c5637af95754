// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/traces/trace_stage.h"

#include <algorithm>
#include <array>
#include <utility>

namespace forkpoint {

namespace {

constexpr std::array<std::string_view, 14> Chain = {
    "restored", "optimizer", "rng",      "scheduler", "counter",   "scaler", "batch",
    "forward",  "loss",      "backward", "grad",      "grad_norm", "update", "weight"};

struct Synonym
{
    std::string_view word, stage;
};

constexpr std::array<Synonym, 16> Synonyms = {{
    {"fwd", "forward"},
    {"act", "forward"},
    {"activations", "forward"},
    {"activation", "forward"},
    {"bwd", "backward"},
    {"data", "batch"},
    {"input", "batch"},
    {"inputs", "batch"},
    {"grads", "grad"},
    {"gradient", "grad"},
    {"gradients", "grad"},
    {"param", "weight"},
    {"params", "weight"},
    {"parameters", "weight"},
    {"weights", "weight"},
    {"optim", "optimizer"},
}};

constexpr std::array<std::pair<std::string_view, StateClass>, 8> Classes = {
    {{"batch", StateClass::Data},
     {"rng", StateClass::Rng},
     {"optimizer", StateClass::Optimizer},
     {"update", StateClass::Optimizer}, // its state after the step
     {"scheduler", StateClass::Scheduler},
     {"counter", StateClass::Counter},
     {"scaler", StateClass::Scaler},
     {"weight", StateClass::Weights}}};

} // namespace

std::size_t causalPlace(std::string_view stage)
{
    return std::size_t(std::find(Chain.begin(), Chain.end(), stage) - Chain.begin());
}

bool isInChain(std::string_view stage)
{
    return causalPlace(stage) < Chain.size();
}

std::string stageByWord(std::string_view word)
{
    const auto found = std::find_if(Synonyms.begin(), Synonyms.end(),
                                    [&](const Synonym &each) { return each.word == word; });
    return std::string(found == Synonyms.end() ? word : found->stage);
}

StateClass stateClassOfStage(std::string_view stage)
{
    const auto found = std::find_if(Classes.begin(), Classes.end(),
                                    [&](const auto &each) { return each.first == stage; });
    return found == Classes.end() ? StateClass::Unknown : found->second;
}

} // namespace forkpoint
