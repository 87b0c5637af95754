// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/arrays/npy_loader.h"
#include "tests/fuzz/fuzzed.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    using namespace forkpoint;
    fuzz::loadAndRead(npyLoader(), fuzz::sourceOf(data, size));
    return 0;
}
