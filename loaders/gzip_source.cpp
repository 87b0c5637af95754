// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/gzip_source.h"

#include "loaders/inflate_source.h"
#include "loaders/limits.h"
#include "loaders/tar_directory.h"

#include <algorithm>
#include <vector>

#include <zlib.h>

namespace forkpoint {

namespace {

constexpr std::size_t BlockBytes = std::size_t(1) << 16;
constexpr int GzipWindow = MAX_WBITS + 16; ///< zlib's way of asking for gzip alone
constexpr std::uint64_t TrailerBytes = 8;

struct Decoder
{
    Decoder() { valid = inflateInit2(&z, GzipWindow) == Z_OK; }
    Decoder(const Decoder &) = delete;
    Decoder &operator=(const Decoder &) = delete;
    ~Decoder()
    {
        if (valid)
            inflateEnd(&z);
    }
    z_stream z = {};
    bool valid = false;
};

struct Measured
{
    std::uint64_t headerBytes = 0, decodedBytes = 0, usedBytes = 0;
    bool ended = false;
};

Result<Measured> measure(const ByteSource &file)
{
    Measured result;
    FP_TRY(result.headerBytes, gzipHeaderSize(file));
    Decoder decoder;
    if (!decoder.valid)
        return Error{ErrorCode::Io, file.name(), {}, "zlib cannot make a decoder"};
    std::vector<std::byte> input, output(BlockBytes);
    int state = Z_OK;
    while (state != Z_STREAM_END) {
        if (decoder.z.avail_in == 0) {
            const std::uint64_t left = file.size() - result.usedBytes;
            if (left == 0)
                return result;
            input.resize(std::size_t(std::min<std::uint64_t>(BlockBytes, left)));
            FP_CHECK(file.read(result.usedBytes, input));
            result.usedBytes += input.size();
            decoder.z.next_in = reinterpret_cast<Bytef *>(input.data());
            decoder.z.avail_in = uInt(input.size());
        }
        decoder.z.next_out = reinterpret_cast<Bytef *>(output.data());
        decoder.z.avail_out = uInt(output.size());
        state = inflate(&decoder.z, Z_NO_FLUSH);
        result.decodedBytes += output.size() - decoder.z.avail_out;
        if (state != Z_OK && state != Z_STREAM_END && state != Z_BUF_ERROR) {
            return Error{ErrorCode::Malformed, file.name(),
                         "decoded byte " + std::to_string(result.decodedBytes),
                         "is no gzip from here on"};
        }
        if (result.decodedBytes > limits::GzipBytes) {
            return Error{ErrorCode::Limit,
                         file.name(),
                         {},
                         "may decode to at most " + std::to_string(limits::GzipBytes) + " bytes"};
        }
    }
    result.usedBytes -= decoder.z.avail_in;
    result.ended = true;
    return result;
}

} // namespace

Result<GzipFile> openMeasuredGzip(std::shared_ptr<const ByteSource> compressed)
{
    FP_TRY(const Measured measured, measure(*compressed));
    if (measured.ended && measured.usedBytes != compressed->size()) {
        return Error{ErrorCode::Unsupported, compressed->name(),
                     "byte " + std::to_string(measured.usedBytes),
                     "is gzip of several members; decompress it first"};
    }
    const std::string name = compressed->name();
    const std::uint64_t end =
        measured.ended ? measured.usedBytes - TrailerBytes : compressed->size();
    FP_TRY(auto window,
           WindowSource::make(std::move(compressed), measured.headerBytes,
                              end - measured.headerBytes, name));
    // A stream that was cut is read short of an end that would be looked for.
    const std::uint64_t size = measured.decodedBytes + (measured.ended ? 0 : 1);
    std::shared_ptr<const ByteSource> decoded =
        std::make_shared<InflateSource>(std::move(window), size, name);
    if (!measured.ended) {
        FP_TRY(decoded, WindowSource::make(std::move(decoded), 0, measured.decodedBytes, name));
    }
    return GzipFile{std::move(decoded), !measured.ended};
}

} // namespace forkpoint
