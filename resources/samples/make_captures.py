# SPDX-License-Identifier: GPL-3.0-or-later
"""Trains the runs A, C, D and F and captures them: python3 make_captures.py OUT

Needs what make_samples.py needs, and h5py and xxhash. Each run is trained twice, as one does who looks for a divergence: first for
the fingerprints of all records, then again for the tensors from where it parts from A. Steps 1 to 8 and two of the four
micro-batches are recorded, which keeps the files small. The logs beside the traces are those of the same trainings; made on another
processor than the checkpoints, they need not have their bits.
"""
import copy
import dataclasses
import json
import sys
import tempfile
from pathlib import Path

from make_samples import Recipe, Run

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "capture"))
from forkpoint_capture import Capture, Policy, Select  # noqa: E402

RUNS = {
    "A": (Recipe(), False),                          # the baseline
    "C": (Recipe(accumulate="reverse"), False),      # another summation order
    "D": (Recipe(), True),                           # resumed at 4, generators not restored
    "F": (Recipe(swap_batches=(7, 8)), False),       # two batches exchanged
}
RECORDED = Policy(Select(stages=("rng", "scheduler", "batch", "forward", "loss", "backward", "grad", "grad_norm", "weight"), steps="1-8",
                         micro_batches="0-1"), budget=24_000)
# Of A, what the others keep from where they part from it on.
KEPT = (Select(stages="grad", names=("embed_*", "layers.0.ln_1.*", "layers.0.qkv.bias"), steps="1"),
        Select(stages="rng", names="torch.cpu", steps="5"),
        Select(stages="forward", names="layers.0.drop", steps="5", micro_batches="0"),
        Select(stages=("batch", "forward"), names=("input", "embed*", "layers.0.ln_1"), steps="7", micro_batches="0"))


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
        first = {name: Path(scratch) / name for name in RUNS}
        for again in (False, True):
            for number, (name, (recipe, resumes)) in enumerate(RUNS.items()):
                policy = RECORDED
                if again:
                    policy = dataclasses.replace(RECORDED, **({"payload": KEPT, "budget": 64_000} if name == "A" else {"payload_from": first["A"]}))
                middle, parts = train(root / name, root / name if again else first[name], number, recipe, policy, fourth if resumes else None)
                if name == "A":
                    fourth = middle
                if again:
                    print(name, "parts from A at", parts)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
