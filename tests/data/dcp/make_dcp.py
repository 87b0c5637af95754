#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes mesh/ (4 processes), one/, zstd/ and hf/ with torch.distributed.checkpoint, and expected.json with what the
processes held: dtype, shape and SHA-256 of every tensor, and the plain values. Needs torch and zstandard (2.15.0 wrote these).

    make_dcp.py [DIRECTORY]
"""
import hashlib
import io
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
import torch.multiprocessing as mp
from torch.distributed.checkpoint._extension import ZStandard
from torch.distributed.checkpoint.filesystem import FileSystemWriter
from torch.distributed.checkpoint.hf_storage import HuggingFaceStorageWriter
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, Shard, distribute_tensor


def entry(t):
    data = t.detach().contiguous().flatten().view(torch.uint8).numpy().tobytes()
    return {"dtype": str(t.dtype)[6:], "shape": list(t.shape), "sha256": hashlib.sha256(data).hexdigest()}


def random(*shape):
    return torch.randn(*shape, generator=random.generator)


def tensors():
    random.generator = torch.Generator().manual_seed(1234)
    return {"rows": random(7, 3), "columns": random(5, 6), "both": random(6, 8), "few": random(2, 3), "whole": random(3), "scalar": torch.tensor(2.5),
            "empty": torch.empty(0, 4), "bf16": random(9).bfloat16(), "last": random(2, 3, 4, 5).to(memory_format=torch.channels_last)}


def values():
    buffer = io.BytesIO()
    torch.save([4.75, 4.5], buffer)
    return {"lr": 0.003, "betas": (0.9, 0.95), "none": None, "name": "a", "losses": buffer, "dotted": {"a.b": {"c": 7}}}


LAYOUT = {"rows": [Shard(0), Shard(0)], "columns": [Shard(1), Shard(1)], "both": [Shard(0), Shard(1)], "few": [Shard(0), Shard(0)],
          "whole": [Replicate(), Replicate()], "bf16": [Shard(0), Replicate()]}


def rank(number, root, store):
    os.environ.update(GLOO_SOCKET_IFNAME="lo", RANK=str(number), LOCAL_RANK=str(number), WORLD_SIZE="4", LOCAL_WORLD_SIZE="4")
    dist.init_process_group("gloo", init_method=f"file://{store}/store", rank=number, world_size=4)
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
    held = tensors()
    state = {n: distribute_tensor(t, mesh, LAYOUT[n]) if n in LAYOUT else t for n, t in held.items()}
    dcp.save({"model": state, **values()}, checkpoint_id="mesh")
    whole = {n: t for n, t in state.items() if n in LAYOUT}
    dcp.save(whole, storage_writer=HuggingFaceStorageWriter("hf", fqn_to_index_mapping={n: 1 + (n > "c") for n in whole}, save_distributed=True))
    dist.barrier()
    dist.destroy_process_group()


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent).resolve()
    os.chdir(root)  # .metadata records the path that it was saved to
    for case in ("mesh", "one", "zstd", "hf"):
        shutil.rmtree(root / case, ignore_errors=True)
    with tempfile.TemporaryDirectory() as store:
        mp.start_processes(rank, args=(root, store), nprocs=4, start_method="fork")
    held = tensors()
    dcp.save({"model": {n: held[n] for n in ("rows", "whole", "last")}}, storage_writer=FileSystemWriter("one", single_file_per_rank=False))
    dcp.save({"model": {n: held[n] for n in ("rows", "whole")}, "note": "n" * 40}, storage_writer=FileSystemWriter("zstd", _extensions=[ZStandard()]))
    plain = {"lr": 0.003, "betas.0": 0.9, "betas.1": 0.95, "none": None, "name": "a", "losses.0": 4.75, "losses.1": 4.5, "dotted.a.b.c": 7}
    expected = {"mesh": {"tensors": {"model." + n: entry(t) for n, t in held.items()}, "values": plain},
                "hf": {"tensors": {n: entry(held[n]) for n in LAYOUT}, "values": {}},
                "one": {"tensors": {"model." + n: entry(held[n]) for n in ("rows", "whole", "last")}, "values": {}},
                "zstd": {"tensors": {"model." + n: entry(held[n]) for n in ("rows", "whole")}, "values": {"note": "n" * 40}}}
    (root / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    main()
