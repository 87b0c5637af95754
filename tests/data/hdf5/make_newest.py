# SPDX-License-Identifier: GPL-3.0-or-later
"""Files as only HDF5 2.0 and newer write them: make_newest.py [FOLDER]; needs h5py 3.16 from PyPI (HDF5 2.0.0).

Filtered chunks under the newest format have dataset layout messages of version 5, every index of chunks among them, at the
sizes from which it is laid out otherwise; datatypes have version 5. expected_newest.txt is of numpy: file, kind, name, type,
shape, SHA-256 of the elements; or of what h5py wrote, file, "value", name, value.
"""
import ctypes
import hashlib
import json
import re
import sys
from pathlib import Path

import h5py
import make_hdf5
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


def referred(file):
    """References that stand before what they name, and what the header of an object says in the newest types."""
    name = Path(file.filename).name
    create(file, "z", [(np.s_[...], ramp(100))], chunks=(7,), shape=(100,))
    file.attrs["main"] = file["z"].ref
    file.attrs["done"] = True
    LINES.append("\t".join((name, "value", "main", json.dumps("/z"))))
    LINES.append("\t".join((name, "value", "done", json.dumps(True))))


def loaded_library():
    """The libhdf5 of h5py, for calls that h5py does not have."""
    return ctypes.CDLL(re.search(r"\S*/libhdf5-\S*", Path("/proc/self/maps").read_text())[0])


def shared_pipeline(path):
    """Datasets whose message of filters stands once, in a heap of the file (H5Pset_shared_mesg_index)."""
    library, settings = loaded_library(), h5py.h5p.create(h5py.h5p.FILE_CREATE)
    library.H5Pset_shared_mesg_nindexes.argtypes = [ctypes.c_int64, ctypes.c_uint]
    library.H5Pset_shared_mesg_index.argtypes = [ctypes.c_int64, ctypes.c_uint, ctypes.c_uint, ctypes.c_uint]
    assert library.H5Pset_shared_mesg_nindexes(settings.id, 1) >= 0
    assert library.H5Pset_shared_mesg_index(settings.id, 0, 1 << 0x0B, 1) >= 0
    access = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    access.set_libver_bounds(h5py.h5f.LIBVER_LATEST, h5py.h5f.LIBVER_LATEST)
    with h5py.File(h5py.h5f.create(bytes(path), fapl=access, fcpl=settings)) as file:
        for name in ("one", "two"):
            create(file, name, [(np.s_[...], ramp(9, 7))], chunks=(2, 3), shape=(9, 7), compression="gzip")


def partly_filtered(file):
    """Chunks that reach beyond the shape are written without filters, which no mask says (H5Pset_chunk_opts)."""
    library = loaded_library()
    library.H5Pset_chunk_opts.argtypes = [ctypes.c_int64, ctypes.c_uint]
    whole = ramp(10, 20)
    for name, most in (("fixed", (10, 20)), ("extensible", (None, 20)), ("btree", (None, None))):
        settings = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        settings.set_chunk((4, 6))
        settings.set_shuffle()
        assert library.H5Pset_chunk_opts(settings.id, 2) >= 0
        space = h5py.h5s.create_simple((10, 20), tuple(h5py.h5s.UNLIMITED if along is None else along for along in most))
        h5py.h5d.create(file.id, name.encode(), h5py.h5t.STD_U16LE, space, settings).write(h5py.h5s.ALL, h5py.h5s.ALL, whole)
        LINES.append("\t".join((Path(file.filename).name, "tensor", name, "uint16", "[10, 20]", hashlib.sha256(whole.tobytes()).hexdigest())))


def lookup3(data):
    """Bob Jenkins' hashlittle() with the initial value 0."""
    turn = lambda x, k: (x << k | x >> 32 - k) & 0xFFFFFFFF
    a = b = c = 0xDEADBEEF + len(data) & 0xFFFFFFFF
    while data:
        block, data = data[:12].ljust(12, b"\0"), data[12:]
        a, b, c = ((x + int.from_bytes(block[4 * i:4 * i + 4], "little")) & 0xFFFFFFFF for i, x in enumerate((a, b, c)))
        if data:
            for k in (4, 6, 8, 16, 19, 4):
                a, b, c = b, c + b & 0xFFFFFFFF, (a - c & 0xFFFFFFFF) ^ turn(c, k)
        else:
            for k in (14, 11, 25, 16, 4, 14, 24):
                c = (c ^ b) - turn(b, k) & 0xFFFFFFFF
                a, b, c = b, c, a
            c = b
    return c


def bend(path, of, at, number, size):
    """Puts a number into the block that begins at `of`, and its checksum right."""
    data = bytearray(path.read_bytes())
    assert lookup3(bytes(data[of:of + size])) == int.from_bytes(data[of + size:of + size + 4], "little")
    data[at:at + 8] = number.to_bytes(8, "little")
    data[of + size:of + size + 4] = lookup3(bytes(data[of:of + size])).to_bytes(4, "little")
    path.write_bytes(data)


def header_size(data, at):
    """Bytes of an object header before its checksum, and where its first message is."""
    first = at + 6 + (16 if data[at + 5] & 0x20 else 0) + (4 if data[at + 5] & 0x10 else 0)
    width = 1 << (data[at + 5] & 3)
    return first + width + int.from_bytes(data[first:first + width], "little") - at, first + width


def bent(folder):
    """Blocks whose checksums are right and whose numbers are not: `b` of each file cannot be read, `a` and `c` can."""
    def start(name, **attributes):
        with h5py.File(folder / name, "w", **LATEST) as file:
            file["a"] = file["c"] = np.arange(4)
            dataset = file.create_dataset("b", data=ramp(10, 10), chunks=(1, 1), maxshape=(10, 12), compression="gzip")
            dataset.attrs.update(attributes)
            return h5py.h5o.get_info(dataset.id).addr
    at = start("bent_continuation.h5", **{f"k{i}": "v" * 60 for i in range(6)})
    data = (folder / "bent_continuation.h5").read_bytes()
    size, message = header_size(data, at)
    head = 6 if data[at + 5] & 4 else 4
    while data[message] != 0x10:
        message += head + int.from_bytes(data[message + 1:message + 3], "little")
    bend(folder / "bent_continuation.h5", at, message + head + 8, 2**64 - 1, size)
    start("bent_array.h5")
    header = (folder / "bent_array.h5").read_bytes().index(b"FAHD")
    bend(folder / "bent_array.h5", header, header + 8, 2**64 - 1, 24)


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
        text = file.create_dataset("text", shape=(4,), chunks=(2,), dtype=h5py.string_dtype(), maxshape=(8,), shuffle=True)
        text[...] = ["one", "two", "three", "four"]
        for i, each in enumerate(text.asstr()[...]):
            LINES.append("\t".join(("layout5_user_block.h5", "value", f"text.{i}", json.dumps(each))))
    with h5py.File(here / "referred.h5", "w", **LATEST) as file:
        referred(file)
    for version in ("v110", "latest"):
        with h5py.File(here / f"partly_filtered_{version}.h5", "w", libver=(version, version)) as file:
            partly_filtered(file)
    shared_pipeline(here / "shared_pipeline.h5")
    bent(here)
    with h5py.File(here / "types_latest.h5", "w", **LATEST) as file:
        make_hdf5.types(file, "types_latest.h5")
    (here / "expected_newest.txt").write_text("\n".join(LINES + make_hdf5.LINES) + "\n")


if __name__ == "__main__":
    main()
