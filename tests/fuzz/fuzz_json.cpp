// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    const auto document =
        forkpoint::JsonDocument::parse({reinterpret_cast<const char *>(data), size});
    if (!document.ok())
        return 0;
    for (const forkpoint::JsonValue &member : document->root().children())
        (void)member.children();
    return 0;
}
