// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/metrics/metrics_trainer_state.h"
#include "tests/fuzz/fuzzed.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    using namespace forkpoint;
    const auto source = fuzz::sourceOf(data, size);
    (void)isTrainerState(*source);
    MetricsTable table("fuzz", 10'000);
    (void)readTrainerState(*source, table, {}).ok();
    (void)table.takeSeries();
    (void)table.takeDiagnostics();
    return 0;
}
