// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/executor.h"

#include <optional>
#include <utility>

namespace forkpoint {

/// What `work` gives, done as a piece of the executor. Opening very many files wants that: threads of a pool
/// wait for storage themselves, for any other each call is done aside (loaders/storage/call_aside.h).
template <typename Work>
auto runOn(Executor &executor, const Work &work)
{
    std::optional<decltype(work())> result;
    executor.forEach(1, [&](std::size_t) {
        auto own = work(); // by who may be given up: nothing of it is shared until it is there
        result.emplace(std::move(own));
    });
    return *std::move(result);
}

} // namespace forkpoint
