#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes plain.nemo, gzipped.nemo and ranks.nemo as NeMo lays them out, with tarfile and torch.save (torch 2.15.0), and
expected.json with what was put in.

    make_nemo.py [DIRECTORY]
"""
import hashlib
import io
import json
import os
import sys
import tarfile
from pathlib import Path

import torch


def entry(t):
    return {"dtype": str(t.dtype)[6:], "shape": list(t.shape), "sha256": hashlib.sha256(t.numpy().tobytes()).hexdigest()}


def saved(state):
    buffer = io.BytesIO()
    torch.save(state, buffer)
    return buffer.getvalue()


def write(name, mode, members, **options):
    with tarfile.open(name, mode, **options) as tar:
        for member, data in members.items():
            info = tarfile.TarInfo("./" + member)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))


def main():
    os.chdir(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent)
    weights = {"encoder.weight": torch.arange(6.0).view(2, 3), "encoder.bias": torch.tensor([1, 2, 3])}
    config, long = b"model:\n  name: a\n", "artifact_" + "x" * 150 + ".txt"
    members = {"model_config.yaml": config, long: b"text", "model_weights.ckpt": saved(weights)}
    write("plain.nemo", "w", members)
    write("gzipped.nemo", "w:gz", members, format=tarfile.GNU_FORMAT)
    write("ranks.nemo", "w", {"model_config.yaml": config, "mp_rank_00/model_weights.ckpt": saved(weights), "mp_rank_01/model_weights.ckpt": saved({"encoder.bias": weights["encoder.bias"]})})
    whole = {"tensors": {n: entry(t) for n, t in weights.items()}, "values": {"model_config.yaml": config.decode()}}
    ranks = {f"mp_rank_00.{n}": entry(t) for n, t in weights.items()} | {"mp_rank_01.encoder.bias": entry(weights["encoder.bias"])}
    Path("expected.json").write_text(json.dumps({"plain.nemo": whole, "gzipped.nemo": whole, "ranks.nemo": {"tensors": ranks, "values": whole["values"]}}, indent=1) + "\n")


if __name__ == "__main__":
    main()
