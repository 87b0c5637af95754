// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/torch/torch_loaders.h"
#include "tests/fuzz/fuzzed.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    using namespace forkpoint;
    const auto source = fuzz::sourceOf(data, size);
    for (const auto *loader : {&torchZipLoader(), &torchLegacyLoader(), &torchTarLoader()})
        fuzz::loadAndRead(*loader, source);
    return 0;
}
