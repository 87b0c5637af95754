// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/metrics/crc32c.h"
#include "loaders/metrics/metrics_tensorboard.h"
#include "tests/fuzz/fuzzed.h"

#include <cstring>

namespace {

/// The same bytes with the checksums that their framing asks for, so that what is behind is reached.
std::vector<std::uint8_t> withChecksums(const std::uint8_t *data, std::size_t size)
{
    std::vector<std::uint8_t> mended(data, data + size);
    const auto put = [&](std::size_t at, std::size_t from, std::size_t count) {
        const auto *bytes = reinterpret_cast<const std::byte *>(mended.data() + from);
        const std::uint32_t crc = forkpoint::maskedCrc32c({bytes, count});
        std::memcpy(mended.data() + at, &crc, sizeof crc);
    };
    for (std::size_t at = 0; at + 12 <= size;) {
        std::uint64_t length = 0;
        std::memcpy(&length, mended.data() + at, sizeof length);
        put(at + 8, at, 8);
        if (length > size - at - 12 || size - at - 12 - length < 4)
            break;
        put(at + 12 + std::size_t(length), at + 12, std::size_t(length));
        at += 16 + std::size_t(length);
    }
    return mended;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    using namespace forkpoint;
    const auto mended = withChecksums(data, size);
    const auto raw = fuzz::sourceOf(data, size);
    const auto sound = fuzz::sourceOf(mended.data(), mended.size());
    (void)isTensorBoard(*raw);
    MetricsTable table("fuzz", 10'000);
    (void)readTensorBoard({raw, sound}, table, {}).ok();
    (void)table.takeSeries();
    (void)table.takeDiagnostics();
    return 0;
}
