// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/traces/trace_record.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace forkpoint {

/// The identity of a record within an iteration of its rank (rule M2), as a number.
std::uint64_t identityOf(const TraceRecord &record);
std::uint64_t identityOf(const std::string &key, std::uint64_t call);
/// The same in two steps.
std::uint64_t hashOfKey(std::string_view key);
std::uint64_t identityWith(std::uint64_t keyHash, std::uint64_t call);

/// What the alignment of two windows looks at.
struct AlignItem
{
    std::uint64_t token = 0;   ///< key, scope and layouts: what kind of call it is
    std::uint64_t content = 0; ///< and its digests
};

AlignItem alignItemOf(const TraceRecord &record);

/// A step through both windows at once: a pair, or a record of one side alone.
struct AlignStep
{
    std::optional<std::size_t> a, b;
    bool operator==(const AlignStep &) const = default;
};

/// The alignment of most equal contents, then of most equal tokens; only equal tokens meet. Among
/// equally good ones the one that pairs earliest (rule M6). Time and memory are |a| x |b|.
std::vector<AlignStep> alignWindows(std::span<const AlignItem> a, std::span<const AlignItem> b);

} // namespace forkpoint
