# SPDX-License-Identifier: GPL-3.0-or-later
"""Trains the bundled runs A, C and D and saves their checkpoints: python3 make_samples.py OUT

Made with torch 2.15.0 and numpy 2.4.6 (PyPI) on one x86-64 CPU thread. The training text is the GPL as it stands in
LICENSE (the same bytes as Debian's /usr/share/common-licenses/GPL-3), read as bytes. A run is a function of its recipe
alone; `accumulate` and what is restored on resuming are all in which the three runs differ.
"""
from __future__ import annotations

import dataclasses
import json
import math
import random
import sys
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

TEXT = (Path(__file__).resolve().parents[2] / "LICENSE").read_bytes()


@dataclasses.dataclass
class Recipe:
    seed: int = 1234
    steps: int = 12
    checkpoint_every: int = 4
    vocab: int = 128
    width: int = 24
    layers: int = 2
    heads: int = 4
    context: int = 32
    micro_batches: int = 4
    micro_batch_size: int = 2
    dropout: float = 0.1
    lr: float = 3e-3
    warmup: int = 3
    betas: tuple = (0.9, 0.95)
    weight_decay: float = 0.1
    clip: float = 1.0
    dtype: str = "float32"
    # ways to part
    accumulate: str = "forward"          # "reverse": micro-batch gradients summed in the other order
    swap_batches: tuple = ()             # (7, 8): data order exchanged
    decay_norms: bool = False            # weight decay also on one-dimensional parameters
    flip: tuple = ()                     # unused here; kept because the recipe is part of each file
    threads: int = 1


class Block(nn.Module):
    def __init__(self, r: Recipe):
        super().__init__()
        self.heads = r.heads
        self.ln_1 = nn.LayerNorm(r.width)
        self.qkv = nn.Linear(r.width, 3 * r.width)
        self.proj = nn.Linear(r.width, r.width)
        self.ln_2 = nn.LayerNorm(r.width)
        self.fc1 = nn.Linear(r.width, 4 * r.width)
        self.fc2 = nn.Linear(4 * r.width, r.width)
        self.drop = nn.Dropout(r.dropout)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(self.ln_1(x)).split(c, dim=2)
        q, k, v = (z.view(b, t, self.heads, c // self.heads).transpose(1, 2) for z in (q, k, v))
        w = (q @ k.transpose(-2, -1)) / math.sqrt(c // self.heads)
        w = w.masked_fill(torch.triu(torch.ones(t, t, dtype=torch.bool), 1), float("-inf")).softmax(-1)
        x = x + self.drop(self.proj((w @ v).transpose(1, 2).reshape(b, t, c)))
        return x + self.drop(self.fc2(F.gelu(self.fc1(self.ln_2(x)))))


class TinyGPT(nn.Module):
    def __init__(self, r: Recipe):
        super().__init__()
        self.embed_tokens = nn.Embedding(r.vocab, r.width)
        self.embed_positions = nn.Embedding(r.context, r.width)
        self.layers = nn.ModuleList(Block(r) for _ in range(r.layers))
        self.norm = nn.LayerNorm(r.width)
        self.lm_head = nn.Linear(r.width, r.vocab, bias=False)

    def forward(self, ids):
        x = self.embed_tokens(ids) + self.embed_positions(torch.arange(ids.shape[1]))
        for layer in self.layers:
            x = layer(x)
        return self.lm_head(self.norm(x))


def batch(r: Recipe, step: int):
    """The tokens of one step, a function of seed and step: [micro_batches, micro_batch_size, context + 1]."""
    if step in r.swap_batches:
        a, b = r.swap_batches
        step = b if step == a else a
    rng = np.random.default_rng([r.seed, step])
    starts = rng.integers(0, len(TEXT) - r.context - 1, size=r.micro_batches * r.micro_batch_size)
    rows = np.stack([np.frombuffer(TEXT, np.uint8, r.context + 1, int(s)) for s in starts]).astype(np.int64)
    return torch.from_numpy(np.minimum(rows, r.vocab - 1)).view(r.micro_batches, r.micro_batch_size, r.context + 1)


class Run:
    """One training run: model, optimizer, scheduler, generators, counters."""

    def __init__(self, r: Recipe):
        torch.set_num_threads(r.threads)
        torch.use_deterministic_algorithms(True)
        random.seed(r.seed)
        np.random.seed(r.seed % 2**32)
        torch.manual_seed(r.seed)
        self.r = r
        self.step = 0
        self.model = TinyGPT(r).to(getattr(torch, r.dtype))
        decayed = [p for p in self.model.parameters() if p.dim() > 1 or r.decay_norms]
        plain = [p for p in self.model.parameters() if p.dim() <= 1 and not r.decay_norms]
        groups = [{"params": decayed, "weight_decay": r.weight_decay}] + ([{"params": plain, "weight_decay": 0.0}] if plain else [])
        self.optimizer = torch.optim.AdamW(groups, lr=r.lr, betas=r.betas, foreach=False)
        self.scheduler = torch.optim.lr_scheduler.LambdaLR(
            self.optimizer, lambda s: min(1.0, (s + 1) / r.warmup) * 0.5 * (1 + math.cos(math.pi * min(s, r.steps) / (2 * r.steps))))

    def train_step(self, capture=None):
        """One optimizer step; returns the row for the log."""
        r, self.step = self.r, self.step + 1
        ids = batch(r, self.step)
        order = list(range(r.micro_batches))
        if r.accumulate == "reverse":
            order.reverse()
        losses, grads = {}, {}
        self.model.train()
        for m in range(r.micro_batches):
            logits = self.model(ids[m, :, :-1])
            loss = F.cross_entropy(logits.flatten(0, 1).float(), ids[m, :, 1:].flatten())
            losses[m] = loss.detach()
            if capture:
                capture.loss(loss)
            grads[m] = torch.autograd.grad(loss / r.micro_batches, list(self.model.parameters()))
        self.optimizer.zero_grad(set_to_none=False)
        for i, p in enumerate(self.model.parameters()):
            total = None
            for m in order:
                total = grads[m][i].clone() if total is None else total + grads[m][i]
            p.grad = total
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), r.clip, foreach=False)
        if capture:
            capture.grad_norm(norm)
        lr = self.optimizer.param_groups[0]["lr"]
        self.optimizer.step()
        self.scheduler.step()
        loss = torch.stack([losses[m] for m in range(r.micro_batches)]).mean()
        return {"step": self.step, "loss": loss.item(), "grad_norm": norm.item(), "lr": lr,
                "tokens": self.step * r.micro_batches * r.micro_batch_size * r.context}

    def state(self):
        return {"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict(), "scheduler": self.scheduler.state_dict(),
                "rng": {"python": random.getstate(), "numpy": np.random.get_state(), "torch": torch.get_rng_state()},
                "iteration": self.step, "consumed_samples": self.step * self.r.micro_batches * self.r.micro_batch_size,
                "recipe": dataclasses.asdict(self.r)}

    def load(self, state, rng=True, optimizer=True, scheduler=True):
        self.model.load_state_dict(state["model"])
        if optimizer:
            self.optimizer.load_state_dict(state["optimizer"])
        if scheduler:
            self.scheduler.load_state_dict(state["scheduler"])
        if rng:
            random.setstate(state["rng"]["python"])
            np.random.set_state(state["rng"]["numpy"])
            torch.set_rng_state(state["rng"]["torch"])
        self.step = state["iteration"]


FAMILY = {
    "A": (Recipe(), None),                           # the baseline
    "C": (Recipe(accumulate="reverse"), None),       # another summation order
    "D": (Recipe(), dict(rng=False)),                # resumed at 4, generators not restored
}


def train(out: Path, recipe: Recipe, resume=None, start_state=None):
    run = Run(recipe)
    if start_state is not None:
        run.load(start_state, **resume)
    out.mkdir(parents=True, exist_ok=True)
    with open(out / "metrics.jsonl", "w") as log:
        while run.step < recipe.steps:
            row = run.train_step()
            log.write(json.dumps(row) + "\n")
            if run.step % recipe.checkpoint_every == 0:
                torch.save(run.state(), out / f"step_{run.step:06d}.pt")


if __name__ == "__main__":
    root = Path(sys.argv[1])
    for name, (recipe, resume) in FAMILY.items():
        start = torch.load(root / "A" / "step_000004.pt", weights_only=False) if resume is not None else None
        train(root / name, recipe, resume, start)
        print(name, (root / name / "metrics.jsonl").read_text().splitlines()[-1])
