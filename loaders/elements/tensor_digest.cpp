// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/elements/tensor_digest.h"

#include "loaders/elements/running_digest.h"
#include "model/float_codec.h"
#include "model/traces/trace_record.h"

#include <algorithm>
#include <array>
#include <bit>

namespace forkpoint {

namespace {

std::string hex16(std::uint64_t value)
{
    static constexpr char Digits[] = "0123456789abcdef";
    std::string text;
    for (int shift = 60; shift >= 0; shift -= 4)
        text += Digits[(value >> shift) & 15];
    return text;
}

class BytesDigest final : public TensorDigest
{
public:
    explicit BytesDigest(std::string_view name) : m_digest(name) {}
    void update(ByteView data) override { m_digest.update(data); }
    std::string finish() override { return m_digest.finish(); }

private:
    RunningDigest m_digest;
};

/// Cuts a stream into items of a width; the last one is filled up with zeros.
template <std::size_t Width>
class Items
{
public:
    template <class Take>
    void add(ByteView data, const Take &take)
    {
        if (m_held > 0) {
            const std::size_t now = std::min(Width - m_held, data.size());
            std::copy_n(data.begin(), now, m_partial.begin() + std::ptrdiff_t(m_held));
            m_held += now;
            data = data.subspan(now);
            if (m_held < Width)
                return;
            take(m_partial.data());
            m_held = 0;
        }
        for (; data.size() >= Width; data = data.subspan(Width))
            take(data.data());
        std::copy(data.begin(), data.end(), m_partial.begin());
        m_held = data.size();
    }
    template <class Take>
    void end(const Take &take)
    {
        if (m_held == 0)
            return;
        std::fill(m_partial.begin() + std::ptrdiff_t(m_held), m_partial.end(), std::byte(0));
        take(m_partial.data());
        m_held = 0;
    }

private:
    std::array<std::byte, Width> m_partial;
    std::size_t m_held = 0;
};

/// msprobe's "xor": of the raw bytes as 64-bit words.
class XorWords final : public TensorDigest
{
public:
    void update(ByteView data) override
    {
        m_words.add(data, [this](const std::byte *word) { take(word); });
    }
    std::string finish() override
    {
        m_words.end([this](const std::byte *word) { take(word); });
        return "0x" + hex16(m_xor);
    }

private:
    void take(const std::byte *word) { m_xor ^= loadLittle<std::uint64_t>(word); }

    std::uint64_t m_xor = 0;
    Items<8> m_words;
};

/// Megatron Core's schema 2: two sums of mixed words, each weighted by its position.
class PositionSums final : public TensorDigest
{
public:
    void update(ByteView data) override
    {
        m_words.add(data, [this](const std::byte *word) { take(word); });
    }
    std::string finish() override
    {
        m_words.end([this](const std::byte *word) { take(word); });
        return hex16(m_first) + hex16(m_second);
    }

private:
    static std::uint64_t mix(std::uint64_t x)
    {
        x *= 0xff51afd7ed558ccd;
        x ^= x >> 31;
        x *= 0xc4ceb9fe1a85ec53;
        return x ^ (x >> 29);
    }
    void take(const std::byte *word)
    {
        const auto lane = loadLittle<std::uint64_t>(word);
        m_first += mix(lane ^ mix(m_position + 1));
        m_second += mix(lane ^ mix(m_position + 0x9e3779b97f4a7c15));
        ++m_position;
    }

    std::uint64_t m_first = 0, m_second = 0, m_position = 0;
    Items<8> m_words;
};

/// One 64-bit lane of an element, as torch.hash_tensor takes it.
std::uint64_t floatLane(const FloatLayout &layout, std::uint64_t bits)
{
    static const FloatLayout wide = dtypeByName("float64")->layout;
    constexpr std::uint64_t Quiet = std::uint64_t(1) << 51;
    if (layout == wide)
        return bits;
    const std::uint64_t lane = widenFloat(layout, wide, bits);
    return isNanCode(layout, bits) ? lane | Quiet : lane; // a conversion makes NaN quiet
}

template <class T>
std::uint64_t signedLane(const std::byte *element)
{
    return std::uint64_t(std::int64_t(loadLittle<T>(element)));
}

using Lane = std::uint64_t (*)(const std::byte *);

struct LaneOf
{
    std::string_view dtype;
    std::size_t width;
    Lane lane;
};

constexpr LaneOf Lanes[] = {
    {"float64", 8, [](const std::byte *e) { return loadLittle<std::uint64_t>(e); }},
    {"float32", 4,
     [](const std::byte *e) {
         static const FloatLayout layout = dtypeByName("float32")->layout;
         return floatLane(layout, loadLittle<std::uint32_t>(e));
     }},
    {"bfloat16", 2,
     [](const std::byte *e) {
         static const FloatLayout layout = dtypeByName("bfloat16")->layout;
         return floatLane(layout, loadLittle<std::uint16_t>(e));
     }},
    {"float16", 2,
     [](const std::byte *e) {
         static const FloatLayout layout = dtypeByName("float16")->layout;
         return floatLane(layout, loadLittle<std::uint16_t>(e));
     }},
    {"int8", 1, signedLane<std::int8_t>},
    {"int16", 2, signedLane<std::int16_t>},
    {"int32", 4, signedLane<std::int32_t>},
    {"int64", 8, signedLane<std::int64_t>},
    {"uint8", 1, [](const std::byte *e) { return std::to_integer<std::uint64_t>(*e); }},
    {"bool", 1, [](const std::byte *e) { return std::uint64_t(*e != std::byte(0)); }},
};

const LaneOf *laneOf(const DType &dtype)
{
    const auto found = std::find_if(std::begin(Lanes), std::end(Lanes),
                                    [&](const LaneOf &each) { return each.dtype == dtype.name; });
    return found == std::end(Lanes) ? nullptr : found;
}

template <std::size_t Width>
class XorLanes final : public TensorDigest
{
public:
    explicit XorLanes(Lane lane) : m_lane(lane) {}
    void update(ByteView data) override
    {
        m_elements.add(data, [this](const std::byte *element) { m_xor ^= m_lane(element); });
    }
    std::string finish() override { return hex16(m_xor); }

private:
    Lane m_lane;
    std::uint64_t m_xor = 0;
    Items<Width> m_elements;
};

std::unique_ptr<TensorDigest> makeXorLanes(const LaneOf &lane)
{
    switch (lane.width) {
    case 1: return std::make_unique<XorLanes<1>>(lane.lane);
    case 2: return std::make_unique<XorLanes<2>>(lane.lane);
    case 4: return std::make_unique<XorLanes<4>>(lane.lane);
    default: return std::make_unique<XorLanes<8>>(lane.lane);
    }
}

} // namespace

const std::vector<TensorDigestInfo> &tensorDigestInfos()
{
    static const std::vector<TensorDigestInfo> kinds = {
        {"sha256", "dtype and shape; it sees every byte"},
        {"sha1", "dtype and shape; collisions that somebody made"},
        {"md5", "dtype and shape; collisions that somebody made"},
        {"crc32", "dtype and shape; one accident in 2^32, and forgeries"},
        {"hash_tensor",
         "any order of the elements; two equal elements replaced by two others; the same bits "
         "flipped in an even number of elements; zeros added; quiet against signalling NaN; bool: "
         "all but whether the count of trues is odd; dtype and shape"},
        {"megatron128", "zeros added up to a multiple of 8 bytes; dtype and shape; forgeries"},
        {"xor64",
         "any order of 8-byte words; two equal words replaced by two others; the same bits flipped "
         "in an even number of words; zeros added; dtype and shape"},
    };
    return kinds;
}

const TensorDigestInfo *tensorDigestInfo(std::string_view name)
{
    const auto &kinds = tensorDigestInfos();
    const auto found = std::find_if(kinds.begin(), kinds.end(), [&](const TensorDigestInfo &kind) {
        return kind.name == name;
    });
    return found == kinds.end() ? nullptr : &*found;
}

Result<std::unique_ptr<TensorDigest>> makeTensorDigest(std::string_view name, const DType &dtype)
{
    if (name == "xor64")
        return std::unique_ptr<TensorDigest>(std::make_unique<XorWords>());
    if (name == "megatron128")
        return std::unique_ptr<TensorDigest>(std::make_unique<PositionSums>());
    if (name != "hash_tensor")
        return std::unique_ptr<TensorDigest>(std::make_unique<BytesDigest>(name));
    if (const LaneOf *lane = laneOf(dtype))
        return makeXorLanes(*lane);
    return Error{ErrorCode::Unsupported,
                 {},
                 {},
                 "torch.hash_tensor has no " + dtype.name
                     + "; what was recorded is of a conversion"};
}

unsigned tensorDigestBits(std::string_view name, const DType &dtype, std::uint64_t bytes)
{
    const auto atMost = [&](std::uint64_t bits) { // a short tensor has no more bits than its own
        const std::uint64_t own = bytes > 1024 ? bits : bytes * 8;
        return unsigned(std::min(bits, own));
    };
    if (name == "hash_tensor")
        return laneOf(dtype)
            ? atMost(std::uint64_t(*effectiveBits(DigestKind::XorLanes, dtype.name)))
            : 0;
    if (name == "xor64") // of a bool's byte one bit is ever set
        return atMost(dtype.kind == ElementKind::Bool ? 8 : 64);
    if (name == "crc32")
        return atMost(32);
    if (name == "sha1")
        return atMost(160);
    return atMost(name == "sha256" ? 256 : 128);
}

} // namespace forkpoint
