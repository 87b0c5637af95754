// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/storage/byte_source.h"

namespace forkpoint {

/// Where the elements of one member of a compound type lie in the records of an array.
struct FieldPlace
{
    struct Loop
    {
        std::uint64_t count = 0, stride = 0; ///< stride in bytes
    };
    std::uint64_t records = 0, recordSize = 0;
    std::uint64_t offset = 0; ///< of the first element in a record
    std::vector<Loop> loops;  ///< dimensions inside a record, outermost first
    std::uint64_t width = 1;  ///< bytes of an element
};

/// The elements of one member, gathered: as if they were stored by themselves, one after another.
class FieldSource final : public ByteSource
{
public:
    /// Malformed where elements would lie outside their record or the records outside `base`.
    static Result<std::shared_ptr<const FieldSource>> make(std::shared_ptr<const ByteSource> base,
                                                           std::uint64_t begin, FieldPlace place,
                                                           std::string name);

    const std::string &name() const override { return m_name; }
    std::uint64_t size() const override { return m_place.records * m_perRecord * m_place.width; }
    Status read(std::uint64_t offset, MutableByteView out) const override;
    Status unchanged() const override { return m_base->unchanged(); }

private:
    FieldSource(std::shared_ptr<const ByteSource> base, std::uint64_t begin, FieldPlace place,
                std::string name)
        : m_base(std::move(base)),
          m_begin(begin),
          m_place(std::move(place)),
          m_name(std::move(name))
    {
    }
    std::uint64_t placeInRecord(std::uint64_t element) const;

    std::shared_ptr<const ByteSource> m_base;
    std::uint64_t m_begin;
    FieldPlace m_place;
    std::string m_name;
    std::uint64_t m_perRecord = 1; ///< elements
};

} // namespace forkpoint
