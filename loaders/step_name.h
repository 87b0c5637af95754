// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/run.h"

#include <optional>
#include <string>
#include <string_view>

namespace forkpoint {

/// What makes a number in a name a step, the surest last. A bare number is a step only where
/// several names agree about it.
enum class StepWord { Bare, Epoch, Checkpoint, Iteration };

/// A name that carries a step: `step_000004.pt`, `checkpoint-4`, `epoch=1-step=40.ckpt`.
struct StepName
{
    Step step = 0;
    StepWord word = StepWord::Bare;
    /// The name with its numbers as '#': entries of one series have the same. Of the numbers only
    /// the step, those after '=' and those after a step word are replaced.
    std::string pattern;
    /// Bare only: the name without the number and its separator ("model_1.pt": "model.pt"). Where
    /// such an entry exists, the numbers count parts, not steps.
    std::string withoutNumber;
};

/// The step in the name of a file or directory; nothing for names of shards
/// (`model-00001-of-00002.safetensors`), ranks (`mp_rank_00`), parts (`random_states_0.pkl`), and
/// numbers beyond 63 bits.
std::optional<StepName> parseStepName(std::string_view name);

/// The name a save was to get once finished, where `name` is marked as unfinished: `x.pt.tmp`,
/// `x.part`, `tmp-checkpoint-4` (HF Trainer), `step4-tmp` (OLMo-core),
/// `4.orbax-checkpoint-tmp-17` (Orbax), `x.pt.incomplete`.
std::optional<std::string> finishedName(std::string_view name);

} // namespace forkpoint
