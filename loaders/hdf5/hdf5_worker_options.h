// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>

namespace forkpoint {

/// Which process looks through HDF5 files, and what it may use.
struct Hdf5WorkerOptions
{
    std::filesystem::path program; ///< empty: forkpoint-h5worker beside this program
    /// How long it may work without telling of anything new. Waiting for storage does not count.
    std::chrono::milliseconds patience{10'000};
    std::uint64_t memoryBytes = std::uint64_t(1) << 30; ///< address space
    std::uint64_t cpuSeconds = 300;
};

} // namespace forkpoint
