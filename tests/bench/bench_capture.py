#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What forkpoint_capture costs: bench_capture.py [WIDTH] [STEPS]; needs torch. Printed by hand, no test.

Trains a two-layer transformer (batch 8 of 128 tokens) on the CPU; steps without and with the capture take turns, so that a busy
machine slows both. Of each the least time of all steps is taken, by the clock and of the processor.
"""
import shutil
import sys
import tempfile
import time
from pathlib import Path

import torch
from torch import nn

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "resources" / "capture"))
from forkpoint_capture import Capture, Policy, Select, xxhash  # noqa: E402

WIDTH, STEPS = (int(a) for a in (*sys.argv[1:], *("512", "12")[len(sys.argv) - 1:]))
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


def measure(policy):
    plain, seen = build(), build()
    ids, folder = torch.randint(0, 1000, (8, 128)), tempfile.mkdtemp()
    times = ([], [])
    now = lambda: (time.perf_counter(), time.process_time())
    with Capture(Path(folder) / "t", *seen, policy) as capture:
        for _ in range(STEPS):
            marks = [now()]
            step(*plain, ids)
            marks.append(now())
            with capture.step():
                step(*seen, ids)
            marks.append(now())
            for side in (0, 1):
                times[side].append([b - a for a, b in zip(marks[side], marks[side + 1])])
    size = sum(p.stat().st_size for p in Path(folder).rglob("*.h5"))
    shutil.rmtree(folder)
    return [[min(t[clock] for t in side) for side in times] for clock in (0, 1)], size / STEPS


print(f"torch {torch.__version__}, {torch.get_num_threads()} threads, width {WIDTH}, {sum(p.numel() for p in build()[0].parameters()):,} weights, "
      f"{'xxhash ' + xxhash.VERSION if xxhash else 'without xxhash'}")
for name, policy in POLICIES.items():
    clocks, size = measure(policy)
    told = ", ".join(f"{1000 * plain:.0f} -> {1000 * seen:.0f} ms of {what} ({100 * (seen / plain - 1):+.1f} %)"
                     for what, (plain, seen) in zip(("clock", "processor"), clocks))
    print(f"{name:26} {told}, {size / 1000:.1f} kB a step")
