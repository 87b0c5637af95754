// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/storage/byte_source.h"

#include <mutex>

namespace forkpoint {

/// The decoded bytes of a raw deflate stream (RFC 1951), at any position, in bounded memory.
/// Reading forward decodes once; a jump back starts from one of at most 256 saved decoder states,
/// whose distance doubles when they become too many. A few decoders are kept at their places, so
/// that several threads may each read forward through their own part. All sources of the process
/// share what is kept: the decoder used longest ago goes first, and states beyond a number are not
/// saved, whatever an archive's count of records. Nothing is decoded beyond the announced size.
/// A stream that is cut or broken is an error where it breaks; what precedes stays readable. The
/// read that reaches the end also checks that the stream ends there.
class InflateSource final : public ByteSource
{
public:
    InflateSource(std::shared_ptr<const ByteSource> compressed, std::uint64_t size,
                  std::string name);
    ~InflateSource() override;

    const std::string &name() const override { return m_name; }
    std::uint64_t size() const override { return m_size; }
    Status read(std::uint64_t offset, MutableByteView out) const override;
    Status unchanged() const override { return m_compressed->unchanged(); }
    std::optional<ByteOrigin> origin() const override
    {
        return derived(*m_compressed, "deflate " + std::to_string(m_size));
    }

private:
    struct Stream;
    class Decoders;

    static Decoders &decoders();
    Result<std::unique_ptr<Stream>> takeStream(std::uint64_t offset) const;
    Status seek(Stream &stream, std::uint64_t offset) const;
    Status decode(Stream &stream, MutableByteView out) const;
    Status step(Stream &stream, MutableByteView out, std::size_t &produced) const;
    Status checkEnd(Stream &stream) const;
    Status refill(Stream &stream) const;
    void saveState(Stream &stream) const;
    Error failure(const Stream &stream, ErrorCode code, std::string text) const;

    std::shared_ptr<const ByteSource> m_compressed;
    std::uint64_t m_size;
    std::string m_name;

    mutable std::mutex m_mutex;                           ///< guards everything below
    mutable std::vector<std::unique_ptr<Stream>> m_saved; ///< by decoded position
    mutable std::uint64_t m_distance;
};

} // namespace forkpoint
