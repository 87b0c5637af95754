// SPDX-License-Identifier: GPL-3.0-or-later
// A fingerprint file as it is, and as the body of one whose header and checksum are right.
#include "loaders/results/fpx_format.h"
#include "loaders/results/fpx_layout.h"
#include "loaders/results/fpx_run.h"
#include "loaders/results/fpx_writer.h"
#include "tests/fuzz/fuzzed.h"

namespace {

using namespace forkpoint;

void openAndWalk(const std::shared_ptr<const ByteSource> &file)
{
    const auto run = openFpx(file, "fuzz");
    for (std::size_t i = 0; run.ok() && i < (*run)->steps().size(); ++i) {
        const auto source = (*run)->open(i, {});
        const auto &catalog = (*source)->catalog();
        for (TensorIndex t = 0; t < catalog.tensors.size(); ++t) {
            if (!(*source)->recorded(t) && !catalog.tensors[t].unreadable)
                __builtin_trap();
        }
        for (const ValueRef &value : catalog.values)
            (void)value.value.toDisplay();
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    openAndWalk(fuzz::sourceOf(data, size));
    const ByteView body = std::as_bytes(std::span(data, size));
    FpxWriter header;
    header.raw(asBytes(FpxMagic));
    header.u32(FpxVersion);
    header.u32(FpxStored);
    header.u64(size);
    header.u64(size);
    std::vector<std::byte> file = header.take();
    const auto checksum = fpxChecksum(file, body);
    file.insert(file.end(), checksum.begin(), checksum.end());
    file.insert(file.end(), body.begin(), body.end());
    openAndWalk(std::make_shared<MemorySource>("fuzz", std::move(file)));
    return 0;
}
