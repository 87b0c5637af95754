// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/diagnostic.h"

#include <string>
#include <vector>

namespace forkpoint {

/// "is" is said by exact tests only; statistics are "consistent with" something.
enum class Certainty { Is, ConsistentWith };

std::string_view toString(Certainty certainty);

/// Something a person should know. Equality is by id: a rerun gives the same list.
struct Finding
{
    std::string id; ///< stable, kebab-case: "pickle-runs-code", "rounded-to-bfloat16"
    Certainty certainty = Certainty::Is;
    Severity severity = Severity::Note;
    std::string text;
    std::vector<std::string> where; ///< names of tensors or values, files, steps
};

} // namespace forkpoint
