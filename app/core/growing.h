// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/session_jobs.h"
#include "app/core/snapshot_clock.h"

#include <memory>
#include <optional>
#include <utility>

namespace forkpoint {

/// Work whose result is handed out now and then while it grows, and once complete.
template <class Builder>
struct Growing
{
    std::optional<Builder> builder;
    SnapshotClock clock;

    /// Whether hand() is about to hand something out.
    bool hands(bool more) const { return !more || clock.due(); }

    template <class Grown>
    Batch hand(bool more, const Grown &grown, const Deliver<std::shared_ptr<const Grown>> &to,
               JobControl &control)
    {
        control.report(builder->progress());
        if (hands(more)) {
            auto snapshot = clock.timed([&] { return std::make_shared<const Grown>(grown); });
            control.post([to, snapshot = std::move(snapshot)] { to(snapshot); });
        }
        return more ? Batch::More : Batch::Done;
    }
};

} // namespace forkpoint
