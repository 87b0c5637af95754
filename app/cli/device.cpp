// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/device.h"

#include "app/core/thread_pool.h"
#include "gpu/backend_registry.h"
#include "loaders/storage/storage_answers.h"

#include <cstdio>
#include <filesystem>

namespace forkpoint {

namespace {

namespace fs = std::filesystem;

/// Below this, starting a GPU takes longer than comparing.
constexpr std::uint64_t WorthAGpu = 256U << 20;
constexpr int MostEntries = 100'000; ///< looked at in a folder

/// Bytes of the files below a path, counted until it is clear that they are enough.
std::uint64_t countBytes(const std::string &path)
{
    std::error_code error;
    if (!fs::is_directory(path, error)) {
        const std::uintmax_t size = fs::file_size(path, error);
        return error ? 0 : size;
    }
    std::uint64_t sum = 0;
    fs::recursive_directory_iterator entry(path, fs::directory_options::skip_permission_denied,
                                           error);
    for (int i = 0; !error && sum < WorthAGpu && i < MostEntries
         && entry != fs::recursive_directory_iterator();
         entry.increment(error), ++i) {
        std::error_code gone;
        const std::uintmax_t size = entry->is_regular_file(gone) ? entry->file_size(gone) : 0;
        sum += gone ? 0 : size;
    }
    return sum;
}

/// None where storage does not answer: what opens the path says so.
std::uint64_t bytesBelow(const std::string &path)
{
    const auto bytes = askFolder<Result<std::uint64_t>>(
        path, path, "looking into it",
        [path]() -> Result<std::uint64_t> { return countBytes(path); });
    return bytes.ok() ? *bytes : 0;
}

bool isWorthAGpu(const Options &options)
{
    return bytesBelow(options.pathA) + bytesBelow(options.pathB) >= WorthAGpu;
}

void printLine(const std::string &text)
{
    std::fputs(("forkpoint-cli: " + text + "\n").c_str(), stderr);
}

} // namespace

Device::Device(const Options &options, std::unique_ptr<ComputeBackend> backend)
    : m_backend(std::move(backend)),
      m_threads(options.threads != 0 ? options.threads
                                     : hardwareThreads() + m_backend->waitingThreads()),
      m_quiet(options.quiet)
{
}

Result<Device> Device::choose(const Options &options)
{
    const bool here = options.device == "auto" && !isWorthAGpu(options);
    FP_TRY(ChosenDevice chosen,
           chooseDevice({here ? "cpu" : options.device, options.threads, false}));
    if (!options.quiet && !chosen.reason.empty())
        printLine("device: " + chosen.backend->description() + " (" + chosen.reason + ")");
    return Device(options, std::move(chosen.backend));
}

void Device::printIncidents() const
{
    if (m_quiet)
        return;
    for (const std::string &incident : m_backend->incidents())
        printLine("warning: " + incident);
}

} // namespace forkpoint
