// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/format_probe.h"

#include "loaders/limits.h"

#include <algorithm>

namespace forkpoint {

FormatGuess probeFormat(const ByteSource &source)
{
    const std::uint64_t size = std::min<std::uint64_t>(source.size(), limits::ProbeBytes);
    const auto head = readAll(source, 0, size, limits::ProbeBytes);
    FormatGuess best;
    if (!head.ok())
        return best;
    for (const Loader *const loader : allLoaders()) {
        const Confidence confidence = loader->probe(*head, source);
        if (confidence > best.confidence)
            best = {loader->name(), confidence};
    }
    return best;
}

} // namespace forkpoint
