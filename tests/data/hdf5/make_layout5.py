# SPDX-License-Identifier: GPL-3.0-or-later
"""Files as only HDF5 2.0 and newer write them: make_layout5.py [FOLDER]; needs h5py 3.16 from PyPI (HDF5 2.0.0).

Filtered chunks under the newest format have dataset layout messages of version 5, every index of chunks among them, at the
sizes from which it is laid out otherwise. expected_layout5.txt is of numpy: name, type, shape, SHA-256 of the elements.
"""
import hashlib
import sys
from pathlib import Path

import h5py
import numpy as np

LATEST = dict(libver=("latest", "latest"))
LINES = []


def create(file, name, written, maxshape=None, chunks=(1,), shape=None, **options):
    """`written`: pairs of a selection and its elements; the others have the fill value 7."""
    options.setdefault("shuffle", True)
    dataset = file.create_dataset(name, shape=shape, dtype="<u2", chunks=chunks, maxshape=maxshape, fillvalue=7, **options)
    whole = np.full(shape, 7, "<u2")
    for where, elements in written:
        dataset[where] = elements
        whole[where] = elements
    assert np.array_equal(dataset[...], whole)
    file_name = Path(file.filename).name
    LINES.append("\t".join((file_name, "tensor", name, "uint16", str(list(shape)), hashlib.sha256(whole.tobytes()).hexdigest())))


def ramp(*shape):
    return np.arange(np.prod(shape), dtype="<u2").reshape(shape) * 3 + 1


def indexes(file):
    every = np.s_[...]
    create(file, "single", [(every, ramp(4, 6))], chunks=(4, 6), shape=(4, 6), compression="gzip")
    create(file, "never_written", [], chunks=(2, 2), shape=(8, 8))
    # Fixed array: whole, of more places than are used, with pages of which only some were written.
    create(file, "fixed", [(every, ramp(9, 7))], chunks=(2, 3), shape=(9, 7), compression="gzip", fletcher32=True)
    create(file, "fixed_may_grow", [(every, ramp(5, 6))], maxshape=(12, 20), chunks=(2, 4), shape=(5, 6))
    create(file, "fixed_paged", [(np.s_[0:3], ramp(3)), (np.s_[5000:5002], ramp(2)), (np.s_[6999:], 5)], shape=(7000,))
    create(file, "fixed_paged_may_grow", [(np.s_[:4], ramp(4)), (np.s_[1100:], ramp(10))], maxshape=(2500,), shape=(1110,))
    # Extensible array: along each dimension, data blocks of the index block, super blocks, pages.
    create(file, "extensible", [(every, ramp(9, 7))], maxshape=(None, 7), chunks=(2, 3), shape=(9, 7))
    create(file, "extensible_last", [(every, ramp(3, 4, 10))], maxshape=(3, 9, None), chunks=(2, 3, 4), shape=(3, 4, 10))
    create(file, "extensible_long", [(np.s_[:400], ramp(400)), (np.s_[2000:2003], ramp(3))], maxshape=(None,), shape=(3000,))
    create(file, "extensible_paged", [(np.s_[2:4], ramp(2)), (np.s_[135_000:135_003], ramp(3)), (np.s_[139_999:], 9)],
           maxshape=(None,), shape=(140_000,))
    # B-tree: a leaf, one level of nodes, two.
    create(file, "btree_leaf", [(every, ramp(6, 6))], maxshape=(None, None), chunks=(2, 3), shape=(6, 6))
    create(file, "btree_one", [(np.s_[3:20, :15], ramp(17, 15))], maxshape=(None, None), chunks=(1, 1), shape=(30, 16))
    create(file, "btree_two", [(np.s_[:40, :60], ramp(40, 60))], maxshape=(None, None), chunks=(1, 1), shape=(50, 60))
    masked = file.create_dataset("masked", shape=(4,), chunks=(2,), dtype="<u2", shuffle=True, maxshape=(6,))
    masked.id.write_direct_chunk((0,), np.array([1, 2], "<u2").tobytes(), filter_mask=1)
    LINES.append("\t".join((Path(file.filename).name, "tensor", "masked", "uint16", "[4]",
                            hashlib.sha256(np.array([1, 2, 0, 0], "<u2").tobytes()).hexdigest())))


def main():
    here = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent)
    with h5py.File(here / "layout5.h5", "w", **LATEST) as file:
        indexes(file)
    with h5py.File(here / "layout5_user_block.h5", "w", userblock_size=1024, **LATEST) as file:
        create(file, "fixed", [(np.s_[...], ramp(9, 7))], chunks=(2, 3), shape=(9, 7))
        # In a continuation of its header: its attributes are larger than a header's first block.
        file["fixed"].attrs["long"] = np.arange(3000, dtype="f8")
        for i in range(6):
            file["fixed"].attrs[f"a{i}"] = "x" * 100
        # Text is read by libhdf5, which cannot read this index.
        text = file.create_dataset("text", shape=(4,), chunks=(2,), dtype=h5py.string_dtype(), maxshape=(8,), shuffle=True)
        text[...] = ["one", "two", "three", "four"]
    (here / "expected_layout5.txt").write_text("\n".join(LINES) + "\n")


if __name__ == "__main__":
    main()
