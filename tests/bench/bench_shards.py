#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sharded checkpoints cut alike and unlike: bench_shards.py BUILD [--size MIB]; needs torch in the Python that runs it"""
import argparse
import os
import pickle
import shutil
import tempfile

import torch
from torch.distributed.checkpoint import metadata as dcp
from torch.distributed.checkpoint.filesystem import _StorageInfo

from bench import Table, peak_of, timed

RANKS, TENSORS, COLUMNS = 4, 4, 8192
PIECES, FILES = 1000, 8   # of a tensor, in the row of the metadata


def properties(tensor):
    return dcp.TensorProperties.create_from_tensor(tensor)


def write_metadata(folder, tensors, storage):
    with open(os.path.join(folder, ".metadata"), "wb") as file:
        pickle.dump(dcp.Metadata(tensors, planner_data={}, storage_data=storage), file)


def write_shards(folder, rows, axis):
    """Float32 tensors, the same in every call, cut along an axis over RANKS files as torch's own writer lays them out."""
    os.makedirs(folder)
    tensors, storage = {}, {}
    files = [open(os.path.join(folder, f"__{rank}_0.distcp"), "wb") for rank in range(RANKS)]
    for number in range(TENSORS):
        name = f"layers.{number}.weight"
        whole = torch.randn(rows, COLUMNS, generator=torch.Generator().manual_seed(number))
        chunks = []
        for rank, part in enumerate(whole.chunk(RANKS, axis)):
            offsets = torch.Size([0 if other != axis else rank * part.shape[axis] for other in range(2)])
            begin = files[rank].tell()
            torch.save(part.contiguous(), files[rank])
            chunks.append(dcp.ChunkStorageMetadata(offsets, part.shape))
            storage[dcp.MetadataIndex(name, offsets, rank)] = _StorageInfo(f"__{rank}_0.distcp", begin, files[rank].tell() - begin)
        tensors[name] = dcp.TensorStorageMetadata(properties(whole), whole.shape, chunks)
    for file in files:
        file.close()
    write_metadata(folder, tensors, storage)


def write_pieces(folder, pieces):
    """A .metadata of that many pieces over files that say nothing of it."""
    os.makedirs(folder)
    tensors, storage = {}, {}
    for rank in range(FILES):
        with open(os.path.join(folder, f"__{rank}_0.distcp"), "wb") as file:
            file.truncate(64 * pieces)
    for number in range(pieces // PIECES):
        name = f"layers.{number}.weight"
        chunks = []
        for piece in range(PIECES):
            offsets = torch.Size([piece, 0])
            chunks.append(dcp.ChunkStorageMetadata(offsets, torch.Size([1, 8])))
            storage[dcp.MetadataIndex(name, offsets, piece)] = _StorageInfo(f"__{piece % FILES}_0.distcp", 32 * (number * PIECES + piece), 32)
        tensors[name] = dcp.TensorStorageMetadata(properties(torch.empty(0)), torch.Size([PIECES, 8]), chunks)
    write_metadata(folder, tensors, storage)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("--size", type=int, default=4096, help="MiB of each side")
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--pieces", type=int, default=10**6, help="of the row of the metadata")
    parser.add_argument("--folder", help="for the checkpoints; they are removed")
    parser.add_argument("--only")
    options = parser.parse_args()
    cli = os.path.join(options.build, "forkpoint-cli")
    table = Table(options.pairs, options.only)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        os.environ["XDG_CACHE_HOME"] = os.path.join(folder, "cache")
        if table.wanted("rows against columns"):
            sides = [os.path.join(folder, side) for side in ("rows", "same", "columns")]
            rows = (options.size << 20) // (TENSORS * COLUMNS * 4)
            write_shards(sides[0], rows, 0)
            shutil.copytree(*sides[:2])
            write_shards(sides[2], rows, 1)
            unlike, alike = ([cli, "compare", "--no-index", sides[0], other] for other in (sides[2], sides[1]))
            table.row("rows against columns", 1.5, unlike, alike, statuses=(0,))
            table.note("peak memory, rows against columns", f"goal 256 MiB: {peak_of(unlike) / 2**20:.1f} MiB")
        if table.wanted("metadata"):
            many = os.path.join(folder, "pieces")
            write_pieces(many, options.pieces)
            inspect = [cli, "inspect", many]
            seconds = sorted(timed(inspect)[0] for _ in range(options.pairs))[options.pairs // 2]
            table.note(f"metadata of {options.pieces} pieces", f"goals 5 s, 1 GB: {seconds:.2f} s, {peak_of(inspect) / 1e9:.3f} GB")


if __name__ == "__main__":
    main()
