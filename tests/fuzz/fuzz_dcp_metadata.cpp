// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/sharded/dcp_metadata.h"
#include "loaders/torch/pickle_vm.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    const auto *bytes = reinterpret_cast<const std::byte *>(data);
    auto input = std::make_shared<const std::vector<std::byte>>(bytes, bytes + size);
    const auto graph = forkpoint::readPickle(input, 0, {});
    if (graph.ok())
        (void)forkpoint::readDcpMetadata(**graph, "fuzz").ok();
    return 0;
}
