// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/elements/field_source.h"

#include "loaders/limits.h"

#include <algorithm>
#include <cstring>

namespace forkpoint {

namespace {

/// Bytes of records held while elements are gathered from them.
constexpr std::uint64_t BufferBytes = limits::RecordBytes;

} // namespace

Result<std::shared_ptr<const FieldSource>> FieldSource::make(std::shared_ptr<const ByteSource> base,
                                                             std::uint64_t begin, FieldPlace place,
                                                             std::string name)
{
    const std::shared_ptr<FieldSource> source(
        new FieldSource(std::move(base), begin, std::move(place), std::move(name)));
    const FieldPlace &own = source->m_place;
    if (own.recordSize == 0 || own.recordSize > limits::RecordBytes) {
        return Error{ErrorCode::Limit,
                     source->m_name,
                     {},
                     "a record may have at most " + std::to_string(limits::RecordBytes)
                         + " bytes, has " + std::to_string(own.recordSize)};
    }
    auto end = checkedAdd(own.offset, own.width);
    for (const FieldPlace::Loop &loop : own.loops) {
        const auto count = checkedMul(source->m_perRecord, loop.count);
        const auto reach = checkedMul(loop.count == 0 ? 0 : loop.count - 1, loop.stride);
        end = end && reach ? checkedAdd(*end, *reach) : std::nullopt;
        source->m_perRecord = count.value_or(0);
        if (!count)
            end.reset();
    }
    const auto all = checkedMul(own.records, own.recordSize);
    const auto elements = checkedMul(own.records, source->m_perRecord);
    const auto bytes = elements ? checkedMul(*elements, own.width) : std::nullopt;
    if (!end || !all || !bytes || own.width == 0 || *end > own.recordSize)
        return Error{ErrorCode::Malformed, source->m_name, {}, "a member leaves its record"};
    FP_CHECK(checkRange(source->m_base->name(), begin, *all, source->m_base->size()));
    return std::shared_ptr<const FieldSource>(source);
}

std::uint64_t FieldSource::placeInRecord(std::uint64_t element) const
{
    std::uint64_t place = m_place.offset;
    for (auto loop = m_place.loops.rbegin(); loop != m_place.loops.rend(); ++loop) {
        place += element % loop->count * loop->stride;
        element /= loop->count;
    }
    return place;
}

Status FieldSource::read(std::uint64_t offset, MutableByteView out) const
{
    FP_CHECK(checkRange(m_name, offset, out.size(), size()));
    const std::uint64_t held = std::max<std::uint64_t>(BufferBytes / m_place.recordSize, 1);
    std::vector<std::byte> records;
    std::uint64_t first = 0, last = 0; // records that are held: [first, last)
    while (!out.empty()) {
        const std::uint64_t element = offset / m_place.width, skipped = offset % m_place.width;
        const std::uint64_t record = element / m_perRecord;
        if (record >= last) {
            const std::uint64_t bytesPerRecord = m_perRecord * m_place.width;
            const std::uint64_t wanted = (offset + out.size() - 1) / bytesPerRecord + 1;
            first = record;
            last = std::min(wanted, record + held);
            records.resize(std::size_t((last - first) * m_place.recordSize));
            FP_CHECK(m_base->read(m_begin + first * m_place.recordSize, records));
        }
        const std::uint64_t from =
            (record - first) * m_place.recordSize + placeInRecord(element % m_perRecord) + skipped;
        const std::size_t now =
            std::size_t(std::min<std::uint64_t>(m_place.width - skipped, out.size()));
        std::memcpy(out.data(), records.data() + from, now);
        offset += now;
        out = out.subspan(now);
    }
    return {};
}

} // namespace forkpoint
