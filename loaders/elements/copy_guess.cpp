// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/elements/copy_guess.h"

#include "loaders/elements/extent_reader.h"

#include <algorithm>
#include <vector>

namespace forkpoint {

namespace {

constexpr std::uint64_t Step = std::uint64_t(1) << 20, Sample = std::uint64_t(1) << 16;

} // namespace

bool CopyGuess::mayBeCopies(const TensorRef &a, const TensorRef &b,
                            std::span<const std::shared_ptr<const ByteSource>> files)
{
    if (a.unreadable || b.unreadable || a.dtype.name != b.dtype.name || a.shape != b.shape
        || !validateExtents(a, files).ok() || !validateExtents(b, files).ok())
        return false;
    std::vector<std::byte> ofA, ofB;
    const auto isAlike = [&](std::uint64_t first, std::uint64_t size) {
        ofA.resize(std::size_t(size));
        ofB.resize(ofA.size());
        return readExtents(a, files, first, ofA).ok() && readExtents(b, files, first, ofB).ok()
            && ofA == ofB;
    };
    const std::uint64_t bytes = a.shape.count().value_or(0) * a.dtype.positionBits() / 8;
    std::uint64_t at = 0;
    while (at < bytes && m_left > 0 && !m_stop.stop_requested()) {
        const std::uint64_t size = std::min({Step, bytes - at, m_left});
        m_left -= size;
        if (!isAlike(at, size))
            return false;
        at += size;
    }
    if (at == bytes || m_stop.stop_requested())
        return true;
    const std::uint64_t size = std::min(Sample, bytes - at), last = bytes - size;
    return isAlike(at, size) && isAlike(at + (last - at) / 2, size) && isAlike(last, size);
}

} // namespace forkpoint
