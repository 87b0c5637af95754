# SPDX-License-Identifier: GPL-3.0-or-later
"""What HDF5 2.0 writes beside chunks, in its newest format: make_newest_values.py [FOLDER]; needs h5py 3.16 from PyPI (HDF5 2.0.0).

dense_latest.h5: attributes that are too many for a header, in fractal heaps. expected_newest_values.txt is as expected.txt of make_hdf5.py,
with values as h5py has them.
"""
import hashlib
import sys
from pathlib import Path

import h5py
import numpy as np
from make_hdf5 import LINES, tensor, value
from make_newest import LATEST

STATE = np.dtype([("step", "<i4"), ("lr", "<f8"), ("betas", "<f4", (2,)), ("done", "?")])


def numbers(array):
    return {"numbers": array.size, "sha256": hashlib.sha256(array.tobytes()).hexdigest()}


def states(file, owner, count):
    """`count` times four attributes of composite types each."""
    prefix = owner.name.strip("/").replace("/", ".") + "." if owner.name != "/" else ""
    name = Path(file.filename).name
    for i in range(count):
        owner.attrs[f"state{i}"] = np.array((i, i / 4, (0.5, i), i % 2), STATE)
        for part, v in {"step": i, "lr": i / 4, "betas.0": 0.5, "betas.1": i, "done": i % 2 == 1}.items():
            value(name, f"{prefix}state{i}.{part}", v)
        owner.attrs[f"done{i}"] = i % 3 == 0
        value(name, f"{prefix}done{i}", i % 3 == 0)
        owner.attrs.create(f"level{i}", i % 2, dtype=h5py.enum_dtype({"LOW": 0, "HIGH": 1}, "i1"))
        value(name, f"{prefix}level{i}", i % 2)
        owner.attrs[f"text{i}"] = f"text {i}"
        value(name, f"{prefix}text{i}", f"text {i}")


def dense(file):
    name = Path(file.filename).name
    x = file["x"] = np.arange(4)
    tensor(name, "x", x)
    states(file, file, 3)  # a heap of one block
    states(file, file["x"], 40)  # of blocks below an indirect one
    states(file, file.create_group("ordered", track_order=True), 4)
    # More than 4 KiB: huge objects, outside of the heap's space.
    large = np.zeros(400, [("a", "<i8"), ("b", "<f8")])
    large["a"], large["b"] = np.arange(400), np.arange(400) / 8
    for n in ("large", "larger"):
        file["x"].attrs[n] = large
        for part in ("a", "b"):
            value(name, f"x.{n}.{part}", numbers(large[part]))
        large["a"] += 1
    # A type that others share, which stands in a header of its own.
    file["type"] = STATE
    file["x"].attrs.create("shared", np.array((7, 0.5, (1, 2), True), STATE), dtype=file["type"])
    value(name, "x.shared.step", 7)
    value(name, "x.shared.done", True)


def main():
    here = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent)
    with h5py.File(here / "dense_latest.h5", "w", **LATEST) as file:
        dense(file)
    (here / "expected_newest_values.txt").write_text("\n".join(LINES) + "\n")


if __name__ == "__main__":
    main()
