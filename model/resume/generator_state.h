// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/bytes.h"
#include "model/resume/mersenne_twister.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace forkpoint {

/// The state of one random generator, decoded.
struct GeneratorState
{
    enum class Kind {
        TorchCpu, ///< torch.get_rng_state(): 5056 bytes, an MT19937 and kept normal variates
        Philox,   ///< torch.cuda.get_rng_state(): 16 bytes, seed and offset
        Numpy,    ///< numpy.random.get_state() with MT19937
        Python,   ///< random.getstate()
    };
    Kind kind = Kind::TorchCpu;
    std::optional<std::uint64_t> seed; ///< as the state holds it, or as a candidate gave it
    std::uint64_t offset = 0;          ///< Philox
    TwisterBlock block;                ///< the others
    std::uint32_t position = 0;        ///< of the next word in the block; 624: at its end
    std::optional<std::uint64_t>
        blocks;              ///< times the seeded block was advanced, where it was found
    bool keptNormal = false; ///< a normal variate is kept for the next call

    /// 32-bit words drawn since it was seeded, where that is known.
    std::optional<std::uint64_t> draws() const;
    /// "seed 1234, 10 draws"; "position 17 of its block".
    std::string toString() const;
};

/// Nothing where the bytes are no such state: another length, a position that cannot be.
std::optional<GeneratorState> decodeTorchCpu(ByteView bytes);
std::optional<GeneratorState> decodePhilox(ByteView bytes);
/// The 624 words, little-endian, and the position that numpy keeps apart.
std::optional<GeneratorState> decodeNumpy(ByteView words, std::int64_t position, bool keptNormal);
/// The 625 numbers of Python's tuple: the words and the position.
std::optional<GeneratorState> decodePython(std::span<const std::int64_t> numbers);

/// Counts the draws since `seed`, if the state comes from it within `limit` blocks of 624 draws.
/// The blocks that were tried.
std::uint64_t trySeed(GeneratorState &state, std::uint64_t seed, std::uint64_t limit);

/// How B's generator stands to A's: empty where they are alike. "B is 2 draws ahead",
/// "B is 9 draws behind; B is as seeded, never drawn", "seed 1234 against 5". One stream is followed for `limit` blocks.
std::string relationOf(const GeneratorState &a, const GeneratorState &b, std::uint64_t limit);

} // namespace forkpoint
