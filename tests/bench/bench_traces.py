#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Traces of JSON lines against what one would otherwise run over them: bench_traces.py BUILD [--size MIB]"""
import argparse
import json
import os
import sys
import tempfile

from bench import Table, peak_of, timed

RECORDS = 2000   # of an iteration
OPERATIONS = ["aten.mul.Tensor", "aten.mm.default", "aten.add.Tensor", "aten.native_layer_norm.default", "aten._softmax.default"]

# What a person writes who has two traces and no tool.
SCRIPT = """
import itertools, json, sys
with open(sys.argv[1]) as a, open(sys.argv[2]) as b:
    for number, (left, right) in enumerate(itertools.zip_longest(a, b), 1):
        if left is None or right is None or json.loads(left) != json.loads(right):
            sys.exit(f"line {number} differs")
"""


def write_stream(folder, size, differs_from):
    """A Megatron-Bridge stream of that many bytes; the digests of outputs are others from that share of it on."""
    os.makedirs(folder)
    name = os.path.join(folder, "stream_pp0_tp0_cp0_dp0.fp")
    axes = dict.fromkeys(("tp", "pp", "cp", "dp", "ep", "etp"), 0)
    tensor = {"shape": [2048, 4096], "dtype": "torch.bfloat16", "digest": "", "numel": 2048 * 4096}
    with open(name, "w") as file:
        written = file.write(json.dumps({"_header": True, "coords": {"global_rank": 0, **axes, "edp": 0},
                                         "config": {"world_size": 1, **dict.fromkeys(axes, 1)}}) + "\n")
        number = 0
        while written < size:
            digest = number * 0x9E3779B97F4A7C15 % 2**64
            place = number % RECORDS
            record = {"seq_id": number, "window": number // RECORDS, "op": OPERATIONS[place % len(OPERATIONS)], "group": "aten",
                      "align_idx": place // len(OPERATIONS), "scope": f"decoder.layers.{place % 32}.mlp", "caller": None,
                      "input": [dict(tensor, digest=f"{digest:016x}")],
                      "output": [dict(tensor, digest=f"{digest ^ (2**63 + (written >= size * differs_from)):016x}")]}
            written += file.write(json.dumps(record) + "\n")
            number += 1
    return name, number


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("--size", type=int, default=256, help="MiB of each side")
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--folder", help="for the traces; they are removed")
    parser.add_argument("--only")
    options = parser.parse_args()
    cli = os.path.join(options.build, "forkpoint-cli")
    table = Table(options.pairs, options.only)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        os.environ["XDG_CACHE_HOME"] = os.path.join(folder, "cache")
        sides = [os.path.join(folder, side) for side in "ab"]
        (a, records), (b, _) = [write_stream(side, options.size << 20, share) for side, share in zip(sides, (2, 0.99))]
        script = os.path.join(folder, "compare_lines.py")
        with open(script, "w") as file:
            file.write(SCRIPT)
        compare = [cli, "compare", "--no-index", *sides]
        table.row("trace pair, parted near its end", 0.25, compare, [sys.executable, script, a, b])
        table.row("the same, bytes alone", 4, compare, ["cmp", "-s", a, b])
        if table.wanted("rates"):
            seconds = sorted(timed(compare)[0] for _ in range(options.pairs))[options.pairs // 2]
            table.note("rates of the pair", f"goals 1 GB/s of lines, 10 M records/s: {2 * os.path.getsize(a) / seconds / 1e9:.3f} GB/s, "
                       f"{2 * records / seconds / 1e6:.2f} M records/s")
            table.note("peak memory of the pair", f"goal 256 MiB: {peak_of(compare) / 2**20:.1f} MiB")


if __name__ == "__main__":
    main()
