#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes zero1/ (2 processes, odd sizes), zero2/ (3 processes, bfloat16, a frozen parameter) and zero3/ (2 processes, a frozen
parameter) with DeepSpeed on the CPU, and expected.json with the logical tensors that the processes held. Needs deepspeed and torch
(0.19.8 and 2.15.0 wrote these).

    make_deepspeed.py [DIRECTORY]
"""
import hashlib
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

os.environ.update(DS_ACCELERATOR="cpu", DS_IGNORE_CUDA_DETECTION="1", MASTER_ADDR="127.0.0.1", MASTER_PORT="29613")

import deepspeed
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from deepspeed.utils import safe_get_full_fp32_param, safe_get_full_optimizer_state

STEPS = 2
torch.set_num_threads(1)


def entry(t):
    data = t.detach().contiguous().flatten().view(torch.uint8).numpy().tobytes()
    return {"dtype": str(t.dtype)[6:], "shape": list(t.shape), "sha256": hashlib.sha256(data).hexdigest()}


def run(rank, world, store, case, stage, bf16, frozen):
    os.environ.update(GLOO_SOCKET_IFNAME="lo", RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(world), LOCAL_WORLD_SIZE=str(world))
    dist.init_process_group("gloo", init_method=f"file://{store}/{case}", rank=rank, world_size=world)
    torch.manual_seed(1234)
    model = torch.nn.Sequential(torch.nn.Linear(5, 7), torch.nn.LayerNorm(7), torch.nn.Linear(7, 3)).to(torch.bfloat16 if bf16 else torch.float32)
    names = {p: n for n, p in model.named_parameters()}
    model[1].weight.requires_grad_(not frozen)
    groups = [{"params": [p for p in model.parameters() if p.requires_grad and (p.dim() > 1) == many], "weight_decay": 0.1 * many} for many in (True, False)]
    config = {"train_micro_batch_size_per_gpu": 2, "gradient_accumulation_steps": 1, "bf16": {"enabled": bf16}, "zero_allow_untested_optimizer": True,
              "zero_optimization": {"stage": stage, "stage3_param_persistence_threshold": 0}}
    engine = deepspeed.initialize(model=model, optimizer=torch.optim.AdamW(groups, lr=1e-2, foreach=False), config=config, dist_init_required=False)[0]
    for step in range(STEPS):
        batch = torch.randn(2, 5, generator=torch.Generator().manual_seed(10 * step + rank)).to(torch.bfloat16 if bf16 else torch.float32)
        engine.backward(engine(batch).float().square().sum())
        engine.step()
    if stage < 3:  # the moments are looked up by parameter only after this
        engine.optimizer._hp_optimizer_states_linked = False
        engine.optimizer._lazy_init_hp_params_optimizer_state()
    held = {}
    for p, n in names.items():
        if p.requires_grad:
            held[f"fp32.{n}"] = entry(safe_get_full_fp32_param(p))
            held |= {f"{k}.{n}": entry(safe_get_full_optimizer_state(p, k)) for k in ("exp_avg", "exp_avg_sq")}
        if stage < 3:
            held[f"module.{n}"] = entry(p)
        elif not p.requires_grad:
            with deepspeed.zero.GatheredParameters([p]):
                held[f"module.{n}"] = entry(p)
    engine.save_checkpoint(case)
    if rank == 0:
        Path(f"{store}/{case}.json").write_text(json.dumps({"tensors": held, "values": {"global_steps": STEPS, "dp_world_size": world, "step.0.bias": float(STEPS)}}))
    dist.barrier()
    os._exit(0)  # DeepSpeed's threads do not end by themselves


def main():
    os.chdir(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent)
    expected = {}
    with tempfile.TemporaryDirectory() as store:
        for case, world, stage, bf16, frozen in (("zero1", 2, 1, False, False), ("zero2", 3, 2, True, True), ("zero3", 2, 3, False, True)):
            shutil.rmtree(case, ignore_errors=True)
            mp.start_processes(run, args=(world, store, case, stage, bf16, frozen), nprocs=world, start_method="fork")
            expected[case] = json.loads(Path(f"{store}/{case}.json").read_text())
            for script in Path(case).glob("zero_to_*.py"):
                script.unlink()
    Path("expected.json").write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    main()
