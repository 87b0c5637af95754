#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes attributes.h5 (attributes without a plain value), whole.h5 (scale-offset that keeps all bits) and blocks.h5 (a chunk of blosc2 that is
padded to six times its size), and expected_attributes.txt as make_hdf5.py writes expected.txt. Needs h5py and blosc2; run: make_attributes.py [FOLDER]
"""
import hashlib
import sys
from pathlib import Path

import blosc2
import h5py
import numpy as np

from make_hdf5 import LINES, tensor, value


def digest(data):
    return {"numbers": 0, "sha256": hashlib.sha256(data).hexdigest()}


def add(owner, name, dtype, data, shape=None):
    space = h5py.h5s.create(h5py.h5s.SCALAR) if shape is None else h5py.h5s.create_simple(shape)
    h5py.h5a.create(owner.id, name.encode(), dtype, space).write(data, mtype=dtype)


def attributes(f, name):
    w = f["w"] = np.arange(4, dtype="f4")
    tensor(name, "w", w)
    w = f["w"]
    w.attrs["state"] = np.array((107, 0.75, b"adam", (1, 2)), [("step", ">i4"), ("lr", "f4"), ("name", "S8"), ("betas", "i2", (2,))])
    for n, v in {"step": 107, "lr": 0.75, "name": "adam", "betas.0": 1, "betas.1": 2}.items():
        value(name, "w.state." + n, v)
    w.attrs.create("words", np.array([("one", 1), ("three", 3)], [("word", h5py.string_dtype()), ("letters", "i4")]))
    for n, v in {"word.0": "one", "word.1": "three", "letters.1": 3}.items():
        value(name, "w.words." + n, v)
    add(w, "array", h5py.h5t.array_create(h5py.h5t.STD_I32LE, (3,)), np.array([7, 8, 9], "i4"))
    for i, v in enumerate((7, 8, 9)):
        value(name, f"w.array.{i}", v)
    exact = np.array([np.longdouble(1) + np.longdouble(2) ** -63])
    add(w, "long_double", h5py.h5t.NATIVE_LDOUBLE, exact)
    value(name, "w.long_double", digest(exact.tobytes()[:10] + bytes(6)))
    wide = h5py.h5t.STD_U64BE.copy()
    wide.set_size(16)
    wide.set_precision(128)
    add(w, "wide", wide, np.frombuffer(bytes(range(16)), "V16"))
    value(name, "w.wide", digest(bytes(range(16))[::-1]))
    tagged = h5py.h5t.create(h5py.h5t.OPAQUE, 3)
    tagged.set_tag(b"seed")
    add(w, "opaque", tagged, np.frombuffer(b"abc", "V3"))
    value(name, "w.opaque", digest(b"abc"))
    add(w, "bits", h5py.h5t.STD_B16LE, np.array([0x1234], "u2"))
    value(name, "w.bits", digest(b"\x34\x12"))
    codes = h5py.h5t.enum_create(h5py.h5t.STD_I8LE)
    codes.enum_insert(b"FALSE", 0)
    codes.enum_insert(b"TRUE", 1)
    add(w, "neither", codes, np.array([2], "i1"))
    value(name, "w.neither", 2)
    w.attrs.create("pairs", np.array([np.array([(1, 2)], "i2,i2"), np.array([], "i2,i2")], object), dtype=h5py.vlen_dtype(np.dtype("i2,i2")))
    value(name, "w.pairs", digest((1).to_bytes(8, "little") + b"\1\0\2\0" + bytes(8)))
    f["committed"] = np.dtype([("x", "f4")])
    f["committed_again"] = np.dtype([("x", "f4")])
    f["committed_other"] = np.dtype([("y", "f4")])
    f["committed"].attrs["note"] = "kept"
    value(name, "committed.note", "kept")


def regions(f, name):
    w = f["w"] = np.arange(4, dtype="f4")
    tensor(name, "w", w)
    for n, region in {"region": slice(1, 3), "same": slice(1, 3), "other": slice(0, 2)}.items():
        f["w"].attrs[n] = f["w"].regionref[region]
    texts = h5py.h5t.vlen_create(h5py.h5t.py_create(h5py.string_dtype(), logical=True))
    h5py.h5a.create(f["w"].id, b"texts", texts, h5py.h5s.create(h5py.h5s.SCALAR))


def whole(f, name):
    a = np.arange(64, dtype="i8") * 1000003
    a[:2] = -2**31, 2**31 - 1
    for n in ("<i4", ">i4"):
        f.create_dataset("little" if n[0] == "<" else "big", data=a.astype(n), chunks=(64,), scaleoffset=0)
        tensor(name, "little" if n[0] == "<" else "big", a.astype(n))


def blocks(f, name):
    a = (np.arange(11**3) % 251).astype("u1").reshape(11, 11, 11)
    chunk = blosc2.asarray(a, chunks=a.shape, blocks=(10, 10, 10)).to_cframe()
    p = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    p.set_chunk(a.shape)
    p.set_filter(32026, h5py.h5z.FLAG_OPTIONAL, (1, 0, 1, a.size, 1, 1, 0, 3, 11, 11, 11))
    d = h5py.h5d.create(f.id, b"cube", h5py.h5t.STD_U8LE, h5py.h5s.create_simple(a.shape), p)
    d.write_direct_chunk((0, 0, 0), chunk, 0)
    tensor(name, "cube", a)


def main():
    here = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent)
    for name, write in (("attributes.h5", attributes), ("whole.h5", whole), ("blocks.h5", blocks), ("regions.h5", regions)):
        with h5py.File(here / name, "w") as f:
            write(f, name)
    (here / "expected_attributes.txt").write_text("\n".join(LINES) + "\n")


if __name__ == "__main__":
    main()
