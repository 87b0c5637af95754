// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/resume/generator_state.h"

#include "model/format.h"

#include <array>
#include <cstdlib>

namespace forkpoint {

namespace {

constexpr std::uint32_t BlockWords = TwisterBlock::Words;

/// torch's struct: seed, left, seeded, next, 624 words of 64 bits, then normal variates.
constexpr std::size_t TorchBytes = 5056, TorchLeft = 8, TorchNext = 16, TorchWords = 24;
constexpr std::size_t TorchNormal = 5040, TorchFloatNormal = 5052;

/// B's place less A's, in words drawn.
std::string ahead(std::int64_t words)
{
    return "B is " + counted(std::uint64_t(std::abs(words)), "draw", "draws")
        + (words > 0 ? " ahead" : " behind");
}

/// The state that seeding alone gives. Whether it was seeded again or not drawn yet, it does not tell.
std::string neverDrawn(bool a, bool b)
{
    return a ? "; A is as seeded, never drawn" : b ? "; B is as seeded, never drawn" : "";
}

std::string normalRelation(const GeneratorState &a, const GeneratorState &b)
{
    if (a.keptNormal == b.keptNormal)
        return "the kept normal variate differs";
    return std::string("a normal variate is kept in ") + (a.keptNormal ? "A" : "B") + " only";
}

std::string philoxRelation(const GeneratorState &a, const GeneratorState &b)
{
    if (a.seed != b.seed)
        return "seed " + std::to_string(*a.seed) + " against " + std::to_string(*b.seed);
    if (a.offset == b.offset)
        return {};
    return "B's offset is "
        + grouped(a.offset < b.offset ? b.offset - a.offset : a.offset - b.offset)
        + (a.offset < b.offset ? " ahead" : " behind") + neverDrawn(a.offset == 0, b.offset == 0);
}

/// Words from the first of the seeded block's successor: a common scale within one stream.
std::int64_t placeOf(std::uint64_t blocks, std::uint32_t position)
{
    return std::int64_t(blocks) * BlockWords + std::int64_t(position);
}

std::string streamRelation(const GeneratorState &a, const GeneratorState &b, std::uint64_t limit)
{
    if (const auto forth = blocksBetween(a.block, b.block, limit)) {
        const std::int64_t words = placeOf(*forth, b.position) - std::int64_t(a.position);
        if (words != 0)
            return ahead(words);
        return normalRelation(a, b);
    }
    if (const auto back = blocksBetween(b.block, a.block, limit)) {
        return ahead(std::int64_t(b.position) - placeOf(*back, a.position));
    }
    return "other streams, or more than " + grouped(limit * BlockWords) + " draws apart";
}

} // namespace

std::optional<std::uint64_t> GeneratorState::draws() const
{
    if (!blocks)
        return std::nullopt;
    return *blocks == 0 ? 0 : (*blocks - 1) * BlockWords + position;
}

std::string GeneratorState::toString() const
{
    std::string text = seed ? "seed " + std::to_string(*seed) : std::string();
    const auto add = [&](const std::string &part) { text += (text.empty() ? "" : ", ") + part; };
    if (kind == Kind::Philox) {
        add("offset " + std::to_string(offset));
        return text;
    }
    if (const auto drawn = draws())
        add(*drawn == 0 ? "never drawn" : counted(*drawn, "draw", "draws"));
    else
        add("position " + std::to_string(position) + " of its block");
    if (keptNormal)
        add("a normal variate kept");
    return text;
}

std::optional<GeneratorState> decodeTorchCpu(ByteView bytes)
{
    if (bytes.size() != TorchBytes)
        return std::nullopt;
    GeneratorState state;
    state.kind = GeneratorState::Kind::TorchCpu;
    const auto left = loadLittle<std::uint32_t>(bytes.data() + TorchLeft);
    const auto next = loadLittle<std::uint64_t>(bytes.data() + TorchNext);
    // Seeded: 1 left and next 0, so that the first draw makes a block; then they add up to 625.
    const bool seeded = left == 1 && next == 0;
    if (!seeded && (left > BlockWords || next > BlockWords || left + next != BlockWords + 1))
        return std::nullopt;
    state.position = seeded ? BlockWords : std::uint32_t(next);
    for (std::size_t i = 0; i < BlockWords; ++i) {
        const auto word = loadLittle<std::uint64_t>(bytes.data() + TorchWords + 8 * i);
        if (word > 0xffffffffu)
            return std::nullopt;
        state.block.words[i] = std::uint32_t(word);
    }
    state.keptNormal = loadLittle<std::uint32_t>(bytes.data() + TorchNormal) != 0
        || loadLittle<std::uint8_t>(bytes.data() + TorchFloatNormal) != 0;
    state.seed = loadLittle<std::uint64_t>(bytes.data());
    return state;
}

std::optional<GeneratorState> decodePhilox(ByteView bytes)
{
    if (bytes.size() != 16)
        return std::nullopt;
    GeneratorState state;
    state.kind = GeneratorState::Kind::Philox;
    state.seed = loadLittle<std::uint64_t>(bytes.data());
    state.offset = loadLittle<std::uint64_t>(bytes.data() + 8);
    return state;
}

std::optional<GeneratorState> decodeNumpy(ByteView words, std::int64_t position, bool keptNormal)
{
    if (words.size() != BlockWords * 4 || position < 0 || position > std::int64_t(BlockWords))
        return std::nullopt;
    GeneratorState state;
    state.kind = GeneratorState::Kind::Numpy;
    state.position = std::uint32_t(position);
    state.keptNormal = keptNormal;
    for (std::size_t i = 0; i < BlockWords; ++i)
        state.block.words[i] = loadLittle<std::uint32_t>(words.data() + 4 * i);
    trySeed(state, state.block.words[0], 0); // fresh from a seed, the first word is the seed
    return state;
}

std::optional<GeneratorState> decodePython(std::span<const std::int64_t> numbers)
{
    if (numbers.size() != BlockWords + 1 || numbers.back() < 0
        || numbers.back() > std::int64_t(BlockWords))
        return std::nullopt;
    GeneratorState state;
    state.kind = GeneratorState::Kind::Python;
    state.position = std::uint32_t(numbers.back());
    for (std::size_t i = 0; i < BlockWords; ++i) {
        if (numbers[i] < 0 || numbers[i] > 0xffffffffll)
            return std::nullopt;
        state.block.words[i] = std::uint32_t(numbers[i]);
    }
    return state;
}

std::uint64_t trySeed(GeneratorState &state, std::uint64_t seed, std::uint64_t limit)
{
    if (state.kind == GeneratorState::Kind::Philox || state.blocks)
        return 0;
    TwisterBlock start = seededBlock(std::uint32_t(seed));
    if (state.kind == GeneratorState::Kind::Python) {
        const std::array<std::uint32_t, 2> key{std::uint32_t(seed), std::uint32_t(seed >> 32)};
        start = seededByArray(std::span(key).first(seed > 0xffffffffu ? 2 : 1));
    }
    const auto blocks = blocksBetween(start, state.block, limit);
    if (!blocks || (*blocks == 0 && state.position != BlockWords))
        return limit;
    state.blocks = blocks;
    state.seed = seed;
    return *blocks;
}

std::string relationOf(const GeneratorState &a, const GeneratorState &b, std::uint64_t limit)
{
    if (a.kind != b.kind)
        return "generators of two kinds";
    if (a.kind == GeneratorState::Kind::Philox)
        return philoxRelation(a, b);
    const bool samePlace = a.block == b.block && a.position == b.position;
    if (samePlace)
        return a.keptNormal == b.keptNormal ? std::string() : normalRelation(a, b);
    const auto drawnA = a.draws(), drawnB = b.draws();
    if (a.seed && b.seed && *a.seed != *b.seed)
        return "seed " + std::to_string(*a.seed) + " against " + std::to_string(*b.seed);
    if (drawnA && drawnB && a.seed == b.seed)
        return ahead(std::int64_t(*drawnB) - std::int64_t(*drawnA))
            + neverDrawn(*drawnA == 0, *drawnB == 0);
    return streamRelation(a, b, limit);
}

} // namespace forkpoint
