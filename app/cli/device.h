// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/options.h"
#include "model/compute_backend.h"
#include "model/result.h"

#include <memory>

namespace forkpoint {

/// The device of --device, and what is said about it on standard error: why it was chosen, and at
/// the end what went wrong on it. A report says nothing of that, because it does not depend on it.
class Device
{
public:
    static Result<Device> choose(const Options &options);

    const ComputeBackend &backend() const { return *m_backend; }
    /// Those of --threads, else so many that the processor is busy while some wait for a device.
    std::size_t threads() const { return m_threads; }
    /// What went wrong and was made good.
    void printIncidents() const;

private:
    Device(const Options &options, std::unique_ptr<ComputeBackend> backend);

    std::unique_ptr<ComputeBackend> m_backend;
    std::size_t m_threads;
    bool m_quiet;
};

} // namespace forkpoint
