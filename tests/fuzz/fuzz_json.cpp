// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/text/json.h"
#include "tests/support/json_documents.h"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    const std::string_view text(reinterpret_cast<const char *>(data), size);
    if (!forkpoint::test::bothParseAlike(text) || !forkpoint::test::membersAreAlike(text))
        std::abort();
    const auto document = forkpoint::JsonDocument::parse(text);
    if (!document.ok())
        return 0;
    for (const forkpoint::JsonValue &member : document->root().children())
        (void)member.children();
    return 0;
}
