#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What forkpoint_capture costs: bench_capture.py [WIDTH] [STEPS] [THREADS]; needs torch. Printed by hand, no test.

Trains a two-layer transformer (batch 8 of 128 tokens) on the CPU; steps without and with the capture take turns, and which of
them comes first does too, so that a busy machine slows both. Medians of all turns: of the times, and of what each turn adds.
"""
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

import torch
from torch import nn

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "resources" / "capture"))
from forkpoint_capture import Capture, Policy, Select, xxhash  # noqa: E402

WIDTH, STEPS, THREADS = (int(a) for a in (*sys.argv[1:], *("512", "20", "1")[len(sys.argv) - 1:]))
torch.set_num_threads(THREADS)
WEIGHTS = Select(stages=("weight", "grad"))
POLICIES = {"weights and gradients": Policy(WEIGHTS, statistics=False, micro_batch_gradients=False),
            "the same, with statistics": Policy(WEIGHTS, micro_batch_gradients=False),
            "everything": Policy()}


def build():
    torch.manual_seed(1)
    layer = nn.TransformerEncoderLayer(WIDTH, 8, 4 * WIDTH, batch_first=True)
    model = nn.Sequential(nn.Embedding(1000, WIDTH), nn.TransformerEncoder(layer, 2), nn.Linear(WIDTH, 1000))
    return model, torch.optim.AdamW(model.parameters())


def step(model, optimizer, ids):
    loss = nn.functional.cross_entropy(model(ids).flatten(0, 1), ids.flatten())
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()


def timed(function, *args):
    """Seconds by the clock and of the processor."""
    clock, processor = time.perf_counter(), time.process_time()
    function(*args)
    return time.perf_counter() - clock, time.process_time() - processor


def measure(policy):
    """Turns of ((clock, processor) without, (clock, processor) with); bytes of the trace a step."""
    plain, seen = build(), build()
    ids, folder, turns = torch.randint(0, 1000, (8, 128)), tempfile.mkdtemp(), []
    with Capture(Path(folder) / "t", *seen, policy) as capture:
        def captured():
            with capture.step():
                step(*seen, ids)
        sides = [lambda: step(*plain, ids), captured]
        for turn in range(STEPS + 1):
            order = (0, 1) if turn % 2 else (1, 0)
            found = {side: timed(sides[side]) for side in order}
            turns.append((found[0], found[1]))
    size = sum(p.stat().st_size for p in Path(folder).rglob("*.h5"))
    shutil.rmtree(folder)
    return turns[1:], size / (STEPS + 1)  # the first one warms up


def told(turns, clock, what):
    plain, seen = (statistics.median(turn[side][clock] for turn in turns) for side in (0, 1))
    added = statistics.median(turn[1][clock] / turn[0][clock] - 1 for turn in turns)
    return f"{1000 * plain:.0f} -> {1000 * seen:.0f} ms of {what} ({100 * added:+.1f} %)"


print(f"torch {torch.__version__}, {torch.get_num_threads()} threads, width {WIDTH}, {sum(p.numel() for p in build()[0].parameters()):,} weights, "
      f"{STEPS} turns, {'xxhash ' + xxhash.VERSION if xxhash else 'without xxhash'}")
for name, policy in POLICIES.items():
    turns, size = measure(policy)
    print(f"{name:26} {told(turns, 0, 'clock')}, {told(turns, 1, 'processor')}, {size / 1000:.1f} kB a step", flush=True)
