// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/storage/byte_source.h"

#include <cstring>

namespace forkpoint {

Status checkRange(const std::string &name, std::uint64_t offset, std::uint64_t count,
                  std::uint64_t size)
{
    if (offset <= size && count <= size - offset)
        return {};
    return Error{ErrorCode::Truncated, name, "byte " + std::to_string(offset),
                 "needs " + std::to_string(count) + " bytes from here, ends at byte "
                     + std::to_string(size)};
}

Status MemorySource::read(std::uint64_t offset, MutableByteView out) const
{
    FP_CHECK(checkRange(m_name, offset, out.size(), m_bytes.size()));
    if (!out.empty())
        std::memcpy(out.data(), m_bytes.data() + offset, out.size());
    return {};
}

Result<std::shared_ptr<const WindowSource>>
WindowSource::make(std::shared_ptr<const ByteSource> base, std::uint64_t offset, std::uint64_t size,
                   std::string name)
{
    FP_CHECK(checkRange(base->name(), offset, size, base->size()));
    return std::shared_ptr<const WindowSource>(
        new WindowSource(std::move(base), offset, size, std::move(name)));
}

Status WindowSource::read(std::uint64_t offset, MutableByteView out) const
{
    FP_CHECK(checkRange(m_name, offset, out.size(), m_size));
    return m_base->read(m_offset + offset, out);
}

std::optional<ByteOrigin> WindowSource::origin() const
{
    return derived(*m_base, "window " + std::to_string(m_offset) + " " + std::to_string(m_size));
}

std::optional<ByteOrigin> derived(const ByteSource &base, const std::string &step)
{
    std::optional<ByteOrigin> origin = base.origin();
    if (origin)
        origin->derivation += step + "; ";
    return origin;
}

Result<std::vector<std::byte>> readAll(const ByteSource &source, std::uint64_t offset,
                                       std::uint64_t size, std::uint64_t cap)
{
    FP_CHECK(checkRange(source.name(), offset, size, source.size()));
    if (size > cap) {
        return Error{ErrorCode::Limit, source.name(), "byte " + std::to_string(offset),
                     "may take at most " + std::to_string(cap) + " bytes, takes "
                         + std::to_string(size)};
    }
    std::vector<std::byte> bytes(size);
    FP_CHECK(source.read(offset, bytes));
    return bytes;
}

} // namespace forkpoint
