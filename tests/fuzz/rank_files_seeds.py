#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the first inputs of fuzz_rank_files, made of tests/data: rank_files_seeds.py FOLDER"""
import struct
import sys
from pathlib import Path

DATA = Path(__file__).parent.parent / "data"
MOST_FILES = 4
SEEDS = {
    "zero1": (0, "deepspeed/zero1/global_step2", "*.pt"),
    "zero3": (1, "deepspeed/zero3/global_step2", "*.pt"),
    "legacy": (2, "ranks/megatron", "*/*.pt"),
    "dtensor": (3, "ranks/dtensor", "*.pt"),
    "sharded": (3, "ranks/sharded", "*.pt"),
}


def in_order(path):
    """As the program names them: each rank's model before its optimizer."""
    return path.parent, path.name.replace("model_optim_rng", "a")


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, (kind, below, pattern) in SEEDS.items():
        files = sorted((DATA / below).glob(pattern), key=in_order)[:MOST_FILES]
        parts = [struct.pack("<I", len(data)) + data for data in (file.read_bytes() for file in files)]
        (folder / name).write_bytes(bytes([kind]) + b"".join(parts))


if __name__ == "__main__":
    main()
