// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/arrays/npz_loader.h"
#include "tests/fuzz/fuzzed.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    using namespace forkpoint;
    fuzz::loadAndRead(npzLoader(), fuzz::sourceOf(data, size));
    return 0;
}
