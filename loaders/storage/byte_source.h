// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/bytes.h"
#include "model/result.h"
#include "model/tensor_origin.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace forkpoint {

/// The file that bytes come from, and how they follow from its own: "window 80 16; ".
struct ByteOrigin
{
    std::shared_ptr<const FileState> file;
    std::string derivation;
};

/// Bytes at fixed positions: a file, a part of one, a decoded record, or memory. All I/O of the
/// loaders goes through this interface, so that tests can cut, delay or corrupt it. Thread-safe.
class ByteSource
{
public:
    virtual ~ByteSource() = default;
    ByteSource(const ByteSource &) = delete;
    ByteSource &operator=(const ByteSource &) = delete;

    /// As the user would recognise it; goes into every error.
    virtual const std::string &name() const = 0;
    virtual std::uint64_t size() const = 0;
    /// Fills all of `out` from `offset`, or says why not. A read past size() is Truncated; a file
    /// that is now shorter than it was is Changed.
    virtual Status read(std::uint64_t offset, MutableByteView out) const = 0;
    /// That range will be read soon; where fetching ahead helps, it begins now.
    virtual void willRead(std::uint64_t offset, std::uint64_t size) const
    {
        static_cast<void>(offset);
        static_cast<void>(size);
    }
    /// Whether the bytes may still be those that were there at opening (device, inode, size, mtime).
    virtual Status unchanged() const { return {}; }
    /// Nothing where no single file decides the bytes.
    virtual std::optional<ByteOrigin> origin() const { return std::nullopt; }

protected:
    ByteSource() = default;
};

/// That [offset, offset + count) lies inside the `size` bytes of what is called `name`; otherwise
/// Truncated with both numbers.
Status checkRange(const std::string &name, std::uint64_t offset, std::uint64_t count,
                  std::uint64_t size);

/// Bytes held in memory: arrays inside a pickle, small decoded records.
class MemorySource final : public ByteSource
{
public:
    MemorySource(std::string name, std::vector<std::byte> bytes)
        : m_name(std::move(name)),
          m_bytes(std::move(bytes))
    {
    }

    const std::string &name() const override { return m_name; }
    std::uint64_t size() const override { return m_bytes.size(); }
    Status read(std::uint64_t offset, MutableByteView out) const override;
    ByteView bytes() const { return m_bytes; }

private:
    std::string m_name;
    std::vector<std::byte> m_bytes;
};

/// The range [offset, offset + size) of another source, as a source of its own: an item of a
/// container that must be parsed inside its own window.
class WindowSource final : public ByteSource
{
public:
    /// Refuses a window that does not lie inside `base`.
    static Result<std::shared_ptr<const WindowSource>> make(std::shared_ptr<const ByteSource> base,
                                                            std::uint64_t offset,
                                                            std::uint64_t size, std::string name);

    const std::string &name() const override { return m_name; }
    std::uint64_t size() const override { return m_size; }
    Status read(std::uint64_t offset, MutableByteView out) const override;
    void willRead(std::uint64_t offset, std::uint64_t size) const override
    {
        m_base->willRead(m_offset + offset, size);
    }
    Status unchanged() const override { return m_base->unchanged(); }
    std::optional<ByteOrigin> origin() const override;

private:
    WindowSource(std::shared_ptr<const ByteSource> base, std::uint64_t offset, std::uint64_t size,
                 std::string name)
        : m_base(std::move(base)),
          m_offset(offset),
          m_size(size),
          m_name(std::move(name))
    {
    }

    std::shared_ptr<const ByteSource> m_base;
    std::uint64_t m_offset, m_size;
    std::string m_name;
};

/// The origin of `base` with one step more.
std::optional<ByteOrigin> derived(const ByteSource &base, const std::string &step);

/// Reads [offset, offset + size) into memory; refuses more than `cap` bytes (a loader's limit).
Result<std::vector<std::byte>> readAll(const ByteSource &source, std::uint64_t offset,
                                       std::uint64_t size, std::uint64_t cap);

} // namespace forkpoint
