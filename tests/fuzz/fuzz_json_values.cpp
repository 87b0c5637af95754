// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/text/json_values.h"
#include "tests/fuzz/fuzzed.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    using namespace forkpoint;
    CheckpointBuilder builder;
    (void)addJsonValues(*fuzz::sourceOf(data, size), KeyPath{{Key::of("file")}}, builder).ok();
    (void)builder.build("json");
    return 0;
}
