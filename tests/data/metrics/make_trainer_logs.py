#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes trainer/NAME/trainer_state.json and out.log: one tiny run of the Hugging Face Trainer, logged in several ways.

    make_trainer_logs.py       needs transformers, torch and accelerate (written with 5.24, 2.15 and 1.15)

every-1 and every-5 log at these intervals, evaluated logs each step and evaluates each fifth, accumulated takes three steps an
epoch of twelve batches, so that its epochs lie on no grid (5/12, 10/12, 1). Times and rates are left out: they are of no run twice.
"""
import contextlib
import io
import json
import tempfile
from pathlib import Path

import torch
from transformers import Trainer, TrainingArguments

HERE = Path(__file__).resolve().parent / "trainer"


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.linear = torch.nn.Linear(4, 3)

    def forward(self, x, labels):
        logits = self.linear(x)
        return {"loss": torch.nn.functional.cross_entropy(logits, labels), "logits": logits}


def write(name, every, evaluate=None, accumulate=1):
    generator = torch.Generator().manual_seed(1)
    data = [{"x": torch.randn(4, generator=generator), "labels": i % 3} for i in range(48)]
    out = io.StringIO()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(out):
        arguments = TrainingArguments(
            folder, per_device_train_batch_size=4, num_train_epochs=2, logging_steps=every, report_to=[], save_strategy="no", use_cpu=True,
            eval_strategy="steps" if evaluate else "no", eval_steps=evaluate, disable_tqdm=True, gradient_accumulation_steps=accumulate)
        trainer = Trainer(Model(), arguments, train_dataset=data, eval_dataset=data[:8])
        trainer.train()
        trainer.save_state()
        state = json.loads((Path(folder) / "trainer_state.json").read_text())
    timed = lambda key: key.endswith(("_runtime", "_per_second"))
    state["log_history"] = [{k: v for k, v in entry.items() if not timed(k)} for entry in state["log_history"]]
    target = HERE / name
    target.mkdir(parents=True, exist_ok=True)
    (target / "trainer_state.json").write_text(json.dumps(state, indent=1, sort_keys=True) + "\n")
    lines = [eval(line) for line in out.getvalue().splitlines() if line.startswith("{'")]
    (target / "out.log").write_text("".join(f"{ {k: v for k, v in line.items() if not timed(k)} }\n" for line in lines))


write("every-1", 1)
write("every-5", 5)
write("evaluated", 1, evaluate=5)
write("accumulated", 1, accumulate=5)
