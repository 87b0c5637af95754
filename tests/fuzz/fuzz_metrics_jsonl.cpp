// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/metrics/metrics_jsonl.h"
#include "tests/fuzz/fuzzed.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    using namespace forkpoint;
    const std::string_view text(reinterpret_cast<const char *>(data), size);
    (void)isJsonlMetricsLine(text.substr(0, text.find('\n')));
    MetricsTable table("fuzz", 10'000);
    (void)readJsonlMetrics(*fuzz::sourceOf(data, size), table, {}).ok();
    (void)table.takeSeries();
    (void)table.takeDiagnostics();
    return 0;
}
