// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/metrics/metrics_wandb.h"
#include "tests/fuzz/fuzzed.h"

#include <zlib.h>

#include <cstring>

namespace {

/// The same bytes with the checksums that their chunks ask for, so that what is behind is reached.
std::vector<std::uint8_t> withChecksums(const std::uint8_t *data, std::size_t size)
{
    std::vector<std::uint8_t> mended(data, data + size);
    for (std::size_t at = 7; at + 7 <= size;) {
        const std::size_t length = std::size_t(mended[at + 4]) | std::size_t(mended[at + 5]) << 8;
        if (length + 7 > size - at)
            break;
        const auto crc = std::uint32_t(crc32(0, mended.data() + at + 6, uInt(length + 1)));
        std::memcpy(mended.data() + at, &crc, sizeof crc);
        at += 7 + length;
    }
    return mended;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    using namespace forkpoint;
    const auto mended = withChecksums(data, size);
    for (const auto &source : {fuzz::sourceOf(data, size), fuzz::sourceOf(mended.data(), size)}) {
        if (!isWandb(*source))
            continue;
        MetricsTable table("fuzz", 10'000);
        CheckpointBuilder values;
        (void)readWandb(*source, table, values, {}).ok();
        (void)table.takeSeries();
        (void)table.takeDiagnostics();
        (void)values.build("wandb");
    }
    return 0;
}
