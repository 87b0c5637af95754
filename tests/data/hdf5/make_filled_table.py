# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes filled_table.h5: make_filled_table.py [FOLDER]; needs h5py.

Tables of a number and a text with a fill value that has text: `whole` with every chunk written, `gaps` with one of two. `want` has the numbers of `whole`.
"""
import sys
from pathlib import Path

import h5py
import numpy as np

ROW = np.dtype([("v", "<f4"), ("name", h5py.string_dtype())])


def table(file, name, length, written):
    """In a file that was opened for it: libhdf5 1.10.8 fails on the second one otherwise."""
    settings = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    settings.set_chunk((2,))
    settings.set_fill_value(np.array((1.5, "x"), ROW))
    space = h5py.h5s.create_simple((length,))
    target = h5py.Dataset(h5py.h5d.create(file.id, name.encode(), h5py.h5t.py_create(ROW, logical=True), space, settings))
    target[: len(written)] = np.array([(v, f"row {v}") for v in written], ROW)


path = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent) / "filled_table.h5"
with h5py.File(path, "w") as file:
    table(file, "whole", 3, [1, 2, 3])
with h5py.File(path, "a") as file:
    table(file, "gaps", 4, [1, 2])
    file["want"] = np.array([1, 2, 3], "<f4")
