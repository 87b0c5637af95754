// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>

namespace forkpoint {

/// Where a long job is. bytesTotal may grow when work is discovered, never shrink.
struct Progress
{
    std::string phase; ///< "opening", "comparing step 8", "measuring"
    std::string item;  ///< the tensor or file at hand
    std::uint64_t bytesDone = 0;
    std::uint64_t bytesTotal = 0;
    std::uint64_t itemsDone = 0;
    std::uint64_t itemsTotal = 0;
};

} // namespace forkpoint
