#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes dtensor/ (4 processes, two directions), sharded/ (FSDP1, 2 processes), megatron/ (two tensor-parallel ranks in
Megatron-LM's legacy layout) and nested/ (as versions before 2023 nested the model's dictionaries): a torch.save of each rank, and expected.json with what the processes held together. Needs torch
(2.15.0 wrote these).

    make_ranks.py [DIRECTORY]
"""
import argparse
import hashlib
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP, StateDictType
from torch.distributed.tensor import Partial, DTensor, Replicate, Shard, distribute_tensor


def entry(t):
    data = t.detach().contiguous().flatten().view(torch.uint8).numpy().tobytes()
    return {"dtype": str(t.dtype)[6:], "shape": list(t.shape), "sha256": hashlib.sha256(data).hexdigest()}


def tensors():
    g = torch.Generator().manual_seed(1234)
    random = lambda *s: torch.randn(*s, generator=g)
    return {"rows": random(7, 3), "columns": random(5, 6), "both": random(6, 8), "few": random(2, 3), "whole": random(3)}


LAYOUT = {"rows": [Shard(0), Shard(0)], "columns": [Shard(1), Shard(1)], "both": [Shard(0), Shard(1)], "few": [Shard(0), Shard(0)], "whole": [Replicate(), Replicate()]}


def begin(number, world, store):
    os.environ.update(GLOO_SOCKET_IFNAME="lo", RANK=str(number), LOCAL_RANK=str(number), WORLD_SIZE=str(world), LOCAL_WORLD_SIZE=str(world))
    dist.init_process_group("gloo", init_method=f"file://{store}/{world}", rank=number, world_size=world)


def dtensor(number, store):
    begin(number, 4, store)
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
    state = {"model": {n: distribute_tensor(t, mesh, LAYOUT[n]) for n, t in tensors().items()}, "step": torch.tensor(4.0), "seed": torch.tensor([number]), "lr": 0.5, "rank": number}
    state["sum"] = DTensor.from_local(torch.full((2,), float(number)), mesh, [Replicate(), Partial()])
    torch.save(state, f"dtensor/rank_{number}.pt")
    dist.barrier()
    dist.destroy_process_group()


def sharded(number, store):
    begin(number, 2, store)
    torch.manual_seed(1234)
    model = FSDP(torch.nn.Linear(5, 3), device_id=torch.device("cpu"), use_orig_params=True)
    with FSDP.state_dict_type(model, StateDictType.FULL_STATE_DICT):
        whole = model.state_dict()
    with FSDP.state_dict_type(model, StateDictType.SHARDED_STATE_DICT):
        torch.save({"model": model.state_dict()}, f"sharded/model_rank_{number}.pt")
    if number == 0:
        Path(f"{store}/whole.json").write_text(json.dumps({"model." + n: entry(t) for n, t in whole.items()}))
    dist.barrier()
    dist.destroy_process_group()


def megatron():
    args = argparse.Namespace(tensor_model_parallel_size=2, pipeline_model_parallel_size=1, seed=7)
    expected = {}
    for k in range(2):
        folder = Path(f"megatron/mp_rank_{k:02d}")
        folder.mkdir(parents=True)
        weight = torch.arange(12.0).view(4, 3)[2 * k:2 * k + 2].clone()
        norm = torch.arange(4.0)  # held alike by both
        model = {"fc1.weight": weight, "final_layernorm.weight": norm}
        torch.save({"args": args, "checkpoint_version": 3.0, "iteration": 4, "model": model}, folder / "model_optim_rng.pt")
        flat = {"param": torch.arange(8.0) + k, "numel_unpadded": 7}
        torch.save({"buckets_coalesced": True, 0: {(torch.bfloat16, torch.float32): flat}}, folder / "distrib_optim.pt")
        expected[f"mp_rank_{k:02d}.model.fc1.weight"] = entry(weight)
        expected[f"mp_rank_{k:02d}.model.final_layernorm.weight"] = entry(norm)
        expected[f"mp_rank_{k:02d}.distrib_optim.0.(torch.bfloat16, torch.float32).param"] = entry(flat["param"])
    return expected


def nested():
    """Two tensor-parallel ranks; the norm and the position embeddings are held alike by both."""
    args = argparse.Namespace(tensor_model_parallel_size=2, pipeline_model_parallel_size=1, seed=7)
    expected = {}
    for k in range(2):
        folder = Path(f"nested/mp_rank_{k:02d}")
        folder.mkdir(parents=True)
        embedding = {"word_embeddings": {"weight": torch.arange(12.0).view(4, 3)[2 * k:2 * k + 2].clone()}, "position_embeddings": {"weight": torch.arange(6.0).view(2, 3)}}
        encoder = {"layers.0.input_layernorm.weight": torch.arange(3.0), "layers.0.mlp.dense_4h_to_h.weight": torch.arange(12.0).view(3, 4)[:, 2 * k:2 * k + 2].clone()}
        torch.save({"args": args, "checkpoint_version": 3.0, "iteration": 4, "model": {"language_model": {"embedding": embedding, "encoder": encoder}}}, folder / "model_optim_rng.pt")
        prefix = f"mp_rank_{k:02d}.model.language_model."
        expected |= {f"{prefix}embedding.{n}.weight": entry(t["weight"]) for n, t in embedding.items()} | {f"{prefix}encoder.{n}": entry(t) for n, t in encoder.items()}
    return expected


def unlike_norm():
    """What rank 1 of megatron/ would write with a norm of another shape than rank 0's."""
    model = {"fc1.weight": torch.arange(6.0, 12.0).view(2, 3), "final_layernorm.weight": torch.arange(2.0)}
    args = argparse.Namespace(tensor_model_parallel_size=2, pipeline_model_parallel_size=1, seed=7)
    torch.save({"args": args, "checkpoint_version": 3.0, "iteration": 4, "model": model}, "unlike_norm.pt")


def main():
    os.chdir(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent)
    for case in ("dtensor", "sharded", "megatron", "nested"):
        shutil.rmtree(case, ignore_errors=True)
        Path(case).mkdir()
    unlike_norm()
    with tempfile.TemporaryDirectory() as store:
        mp.start_processes(dtensor, args=(store,), nprocs=4, start_method="fork")
        mp.start_processes(sharded, args=(store,), nprocs=2, start_method="fork")
        whole = json.loads(Path(f"{store}/whole.json").read_text())
    joined = {"model." + n: entry(t) for n, t in tensors().items()} | {"step": entry(torch.tensor(4.0))}
    joined |= {f"rank_{k}.seed": entry(torch.tensor([k])) for k in range(4)} | {f"rank_{k}.sum": entry(torch.full((2,), float(k))) for k in range(4)}
    expected = {"dtensor": {"tensors": joined, "values": {"lr": 0.5, **{f"rank_{k}.rank": k for k in range(4)}}}, "sharded": {"tensors": whole, "values": {}},
                "megatron": {"tensors": megatron(), "values": {"mp_rank_01.iteration": 4, "mp_rank_00.args.seed": 7, "mp_rank_00.distrib_optim.0.(torch.bfloat16, torch.float32).numel_unpadded": 7}},
                "nested": {"tensors": nested(), "values": {"mp_rank_01.iteration": 4}}}
    Path("expected.json").write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    main()
