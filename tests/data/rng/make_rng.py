# SPDX-License-Identifier: GPL-3.0-or-later
"""States of random generators as torch, numpy and Python keep them: python3 make_rng.py OUT

Made with torch 2.15.0, numpy 2.4.6 and Python 3.11. torch.state is what torch.get_rng_state() gives after a normal variate;
numpy.state and python.state are the 624 words and the position, little-endian, of 32 bits each. Each line of
generators.txt is: kind, seed, draws, position, and the CRC-32 of the 624 words.
"""
from __future__ import annotations

import random
import struct
import sys
import zlib
from pathlib import Path

import numpy as np
import torch


def words(numbers) -> bytes:
    return struct.pack(f"<{len(numbers)}I", *map(int, numbers))


def torch_state(seed: int, draws: int, normal: bool) -> bytes:
    torch.manual_seed(seed)
    if draws:
        torch.randint(0, 1000, (draws,))      # one word of 32 bits each
    if normal:
        torch.randn(1, dtype=torch.float64)                        # keeps the other variate of the pair
    return torch.get_rng_state().numpy().tobytes()


def numpy_state(seed: int, draws: int, normal: bool) -> bytes:
    np.random.seed(seed)
    if draws:
        np.random.randint(0, 2**32, size=draws, dtype=np.uint32)
    if normal:
        np.random.standard_normal()
    _, key, position, kept, _ = np.random.get_state()
    assert bool(kept) == normal
    return words([*key, position])


def python_state(seed: int, draws: int) -> bytes:
    random.seed(seed)
    for _ in range(draws):
        random.getrandbits(32)
    return words(random.getstate()[1])


def described(kind: str, seed: int, draws: int, state: bytes) -> str:
    return f"{kind} {seed} {draws} {struct.unpack('<I', state[2496:])[0]} {zlib.crc32(state[:2496])}"


def main() -> None:
    out, lines = Path(sys.argv[1]), []
    for seed in (0, 1234, 2**31 + 7, 2**40 + 3):
        for draws in (0, 1, 623, 624, 625, 2000):
            state = torch_state(seed, draws, False)
            block = struct.unpack("<624Q", state[24:24 + 4992])
            lines.append(described("torch", seed, draws, words([*block, struct.unpack("<Q", state[16:24])[0]])))
            if seed < 2**32:
                lines.append(described("numpy", seed, draws, numpy_state(seed, draws, False)))
            lines.append(described("python", seed, draws, python_state(seed, draws)))
    (out / "generators.txt").write_text("\n".join(lines) + "\n")
    (out / "torch.state").write_bytes(torch_state(7, 0, True))
    (out / "numpy.state").write_bytes(numpy_state(7, 3, True))
    (out / "python.state").write_bytes(python_state(2**40 + 3, 5))


if __name__ == "__main__":
    main()
