// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/storage/read_watch.h"

#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace forkpoint {

/// Has `call` done by another thread and waits for it no longer than patience(). False if it did not come
/// back by then: the thread is left alone with it, and `stalled` says so until it comes back after all.
/// `call` must own everything it touches, for nobody may be there any more. What it throws is thrown here.
bool runAside(std::function<void()> call, const Stalled &stalled);

/// The same of a call with a result; nothing if it did not come back. It takes some 10 us more than the call
/// itself, and many times that where all cores are busy.
template <typename Result>
std::optional<Result> callAside(std::function<Result()> call, const Stalled &stalled)
{
    const auto result = std::make_shared<std::optional<Result>>();
    if (!runAside([result, call = std::move(call)] { result->emplace(call()); }, stalled))
        return std::nullopt;
    return std::move(*result);
}

/// The call without that where the calling thread mayBeGivenUp(): then it waits itself.
template <typename Result>
std::optional<Result> watchedCall(std::function<Result()> call, const Stalled &stalled)
{
    if (!ReadWait::ofThisThread()->mayBeGivenUp())
        return callAside<Result>(std::move(call), stalled);
    const WaitingForRead waiting(stalled);
    return call();
}

} // namespace forkpoint
