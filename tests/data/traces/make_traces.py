#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Small traces for the tests: make_traces.py REAL OUT

REAL holds traces that the tools themselves wrote while a two-layer byte model trained (Megatron-Bridge's tracer c13dd3ef,
Megatron-LM's RankLocalTrace of pull request 6610 at 7309967a; two dialects without a published writer as their documents
describe them): A is the baseline, C summed the gradients of its micro-batches in the other order, F exchanged two batches.
What is kept of them is cut to the first lines or to one iteration; no byte inside a line is changed.
"""
from __future__ import annotations

import gzip
import json
import struct
import sys
from pathlib import Path


def cut(source: Path, target: Path, keep) -> None:
    lines = source.read_text().splitlines(keepends=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text("".join(line for number, line in enumerate(lines) if keep(number, json.loads(line))))


def state(folder: Path) -> None:
    """A snapshot as documented (megatron_training_state_v1): doubles big-endian, an integer key 0 beside a list position 0,
    an integer of 70 bits, a NaN with a payload, -0.0, bytes of float8."""
    index, blob = [], bytearray()

    def put(path: list, **more) -> None:
        index.append({"path": path, **more})

    def raw(path: list, kind: str, data: bytes, **more) -> None:
        put(path, kind=kind, **more, offset=len(blob), nbytes=len(data))
        blob.extend(data)

    put(["model"], kind="mapping", keys=[0, "list", "w"])
    raw(["model", 0], "tensor", struct.pack("<2f", 1.0, -0.0), dtype="torch.float32", shape=[2], elements=2, itemsize=4)
    put(["model", "list"], kind="list", length=1)
    raw(["model", "list", 0], "tensor", bytes([0x38, 0x7F, 0xB8]), dtype="torch.float8_e4m3fn", shape=[3], elements=3, itemsize=1)
    raw(["model", "w"], "numpy", struct.pack(">2h", 1, -2), dtype=">i2", shape=[2], elements=2, itemsize=2)
    put(["scheduler"], kind="mapping", keys=["big", "gamma", "nan"])
    put(["scheduler", "big"], kind="int", value=2**69 + 1)
    raw(["scheduler", "gamma"], "float", struct.pack(">d", 0.1))
    raw(["scheduler", "nan"], "float", bytes.fromhex("7ff8000000000abc"))
    put(["rng"], kind="mapping", keys=["python"])
    put(["rng", "python"], kind="tuple", length=70)
    for i in range(70):
        put(["rng", "python", i], kind="int", value=i)
    step = folder / "step-00000003"
    step.mkdir(parents=True, exist_ok=True)
    document = {"format": "megatron_training_state_v1", "status": "complete", "step": 3, "rank": 0, "world_size": 1, "run_id": "run-b",
                "process_id": "node0:1:0f", "provenance": {"torch": "2.9", "source_dirty": False},
                "resume_from": {"run_id": "run-a", "step": 2, "rank": 0, "checkpoint_sha256": "c0ffee", "checkpoint_directory": None,
                                "checkpoint_files": {"rank-000000.pt": "c0ffee"}},
                "boundary": "after_optimizer_and_scheduler_before_zero_grad", "index": index, "counts": {}}
    (step / "rank-000000.json").write_text(json.dumps(document, indent=0) + "\n")
    (step / "rank-000000.bin").write_bytes(blob)


def main() -> None:
    real, out = Path(sys.argv[1]), Path(sys.argv[2])
    for side in "AC":
        for rank in (0, 1):
            name = f"stream_pp0_tp0_cp0_dp{rank}.fp"
            cut(real / "bridge/collectives" / side / name, out / "bridge" / side / name, lambda n, _: n < 6)
            typed = f"iter_0000001/rank_{rank:05d}.jsonl"
            cut(real / "typed" / side / typed, out / "typed" / side / typed,
                lambda n, _: n < 14 or n > 62)
            sketch = f"rank{rank:05d}_iter000001.jsonl"
            cut(real / "sketch" / side / sketch, out / "sketch" / side / sketch, lambda n, _: n < 3 or 88 < n < 94)
            place = f"iter_0000001/placement/rank_{rank:05d}.json"
            cut(real / "typed" / side / place, out / "typed" / side / place, lambda n, _: True)
    first = lambda record: record["iteration"] == 1
    wanted = lambda record: record["phase"] not in ("weight",) and not (record["phase"] == "grad" and record["sequence"] > 28)
    for side in "AC":
        cut(real / "pr6610/full" / side / "rank_000000.jsonl", out / "pr6610" / side / "rank_000000.jsonl",
            lambda _, r: first(r) and wanted(r))
        cut(real / "pr6610/metadata" / side / "rank_000000.jsonl", out / "pr6610-metadata" / side / "rank_000000.jsonl",
            lambda n, r: n < 8)
    for side in "AF":
        cut(real / "pr6610/full" / side / "rank_000000.jsonl", out / "pr6610-batch" / side / "rank_000000.jsonl",
            lambda _, r: r["iteration"] == 7 and r["microbatch"] == 0)
    for pair in ("two-elements-swapped", "two-signs-flipped", "one-zero-negative"):
        for side in "AB":
            cut(real / "blind" / pair / side / "stream_pp0_tp0_cp0_dp0.fp", out / "blind" / pair / f"{side}.fp", lambda *_: True)
    state(out / "state")
    packed = gzip.compress((out / "bridge/A/stream_pp0_tp0_cp0_dp0.fp").read_bytes(), mtime=0)
    (out / "gzip").mkdir(exist_ok=True)
    (out / "gzip/stream_pp0_tp0_cp0_dp0.fp.gz").write_bytes(packed)


if __name__ == "__main__":
    main()
