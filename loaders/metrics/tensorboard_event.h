// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/storage/byte_source.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace forkpoint {

/// One record of an event file: TensorFlow's event.proto, as far as metrics need it.
struct TensorBoardEvent
{
    static constexpr std::uint64_t SessionStart = 1;

    double wallTime = 0; ///< seconds since 1970, by the clock of the writer
    std::int64_t step = 0;
    std::string_view fileVersion;         ///< of the first record alone
    std::optional<std::uint64_t> session; ///< its status
    std::optional<ByteView> summary;      ///< of summary.proto
    bool sound = true;
    std::size_t badPlace = 0; ///< where it is not
};

/// What it points to lies in the record.
TensorBoardEvent parseTensorBoardEvent(ByteView record);

/// The record that a file begins with, kept in `bytes`; nothing where that is no event.
std::optional<TensorBoardEvent> firstTensorBoardEvent(const ByteSource &source,
                                                      std::vector<std::byte> &bytes);

} // namespace forkpoint
