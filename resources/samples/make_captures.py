# SPDX-License-Identifier: GPL-3.0-or-later
"""Trains the runs A, C, D and F and captures them: python3 make_captures.py OUT

Needs what make_samples.py needs, and h5py and xxhash. A is trained first for the fingerprints of all records; then the others, which
keep tensors from where they part from it; then A again, which keeps those that one of the others kept. Steps 1 to 8 and two of the
four micro-batches are recorded, which keeps the files small. The logs beside the traces are those of the same trainings; made on
another processor than the checkpoints, they need not have their bits.
"""
import copy
import dataclasses
import json
import sys
import tempfile
from pathlib import Path

import h5py

from make_samples import Recipe, Run

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "capture"))
from forkpoint_capture import Capture, Policy, Select, Strings  # noqa: E402

RUNS = {
    "A": (Recipe(), False),                          # the baseline
    "C": (Recipe(accumulate="reverse"), False),      # another summation order
    "D": (Recipe(), True),                           # resumed at 4, generators not restored
    "F": (Recipe(swap_batches=(7, 8)), False),       # two batches exchanged
}
RECORDED = Policy(Select(stages=("rng", "scheduler", "batch", "forward", "loss", "backward", "grad", "grad_norm", "weight"), steps="1-8",
                         micro_batches="0-1"))
# Bytes of tensors that a run keeps from where it parts from A on: of C, that is every gradient of the first step.
BUDGET = {"C": 90_000, "D": 40_000, "F": 40_000}
NO_MICRO_BATCH = "99"  # of none: the number of no micro-batch


def kept_in(trace):
    """Selections of exactly the records whose tensors the trace keeps."""
    kept = {}
    for path in sorted(trace.glob("rank_*/steps_*.h5")):
        with h5py.File(path, "r") as file:
            text, payload, at = Strings(file), file["tensors/payload"][:].tolist(), 0
            columns = [file["records/" + c][:].tolist() for c in "step stage name micro_batch inputs outputs".split()]
            for step, stage, name, micro_batch, inputs, outputs in zip(*columns):
                at += inputs + outputs
                if any(row >= 0 for row in payload[at - inputs - outputs:at]):
                    kept.setdefault((step, text[stage], micro_batch), []).append(text[name])
    return [Select(stages=stage, names=names, steps=str(step), micro_batches=str(micro_batch) if micro_batch >= 0 else NO_MICRO_BATCH)
            for (step, stage, micro_batch), names in kept.items()]


def train(out, trace, number, recipe, policy, start):
    """Returns the state after step 4."""
    run, middle = Run(recipe), None
    if start is not None:
        run.load(start, rng=False)
    out.mkdir(parents=True, exist_ok=True)
    # The same files each time: no host, no times, and a number of the run that is not drawn.
    capture = Capture(trace, run.model, run.optimizer, policy, recipe=dataclasses.asdict(recipe), run=f"{number:032x}", placement=False,
                      first_step=run.step + 1)
    with open(out / "metrics.jsonl", "w") as log, capture:
        while run.step < recipe.steps:
            with capture.step():
                row = run.train_step(capture)
            log.write(json.dumps(row) + "\n")
            if run.step == 4:
                middle = copy.deepcopy(run.state())
    return middle, capture.first_mismatch


def main(root):
    with tempfile.TemporaryDirectory() as scratch:
        first, fourth = Path(scratch) / "A", None

        def run(name, trace, **policy):
            recipe, resumes = RUNS[name]
            number = list(RUNS).index(name)
            return train(root / name, trace, number, recipe, dataclasses.replace(RECORDED, **policy), fourth if resumes else None)
        fourth, _ = run("A", first)
        for name, budget in BUDGET.items():
            _, parts = run(name, root / name, payload_from=first, budget=budget)
            print(name, "parts from A at", parts)
        run("A", root / "A", payload=tuple(select for name in BUDGET for select in kept_in(root / name)))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
