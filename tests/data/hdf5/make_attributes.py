#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes attributes.h5 (attributes without a plain value), whole.h5 (scale-offset that keeps all bits) and blocks.h5 (a chunk of blosc2 that is
padded to six times its size), special.h5 (chunks of blosc2 of one value, which frames do not store), scales.h5 (dimension scales, as
netCDF-4 has them: lists of references to objects), and expected_attributes.txt as make_hdf5.py writes expected.txt. Needs h5py and blosc2; run: make_attributes.py [FOLDER]
"""
import hashlib
import json
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
        value(name, "w." + n, f"/w [{region.start}:{region.stop}]")
    texts = h5py.h5t.vlen_create(h5py.h5t.py_create(h5py.string_dtype(), logical=True))
    h5py.h5a.create(f["w"].id, b"texts", texts, h5py.h5s.create(h5py.h5s.SCALAR))


def paths(f, references):
    return "[" + ", ".join(json.dumps(f[r].name) if r else "null reference" for r in references) + "]"


def scales(f, name):
    for n in ("time", 'odd "a, b" \\'):
        f[n] = np.arange(3.0)
        f[n].make_scale(n)
        tensor(name, n, np.arange(3.0))
    for n in ("g/first", "second"):
        d = f[n] = np.zeros((3, 3, 3))
        for dimension, scale in ((0, "time"), (2, 'odd "a, b" \\'), (2, "time")):
            f[n].dims[dimension].attach_scale(f[scale])
        tensor(name, n.replace("/", "."), d)
    lists = f.create_dataset("lists", 2, h5py.vlen_dtype(h5py.ref_dtype))
    lists[0] = np.array([f["second"].ref, h5py.Reference(), f["g"].ref], h5py.ref_dtype)
    for owner, references in (("lists", f["lists"][...]), *((n + "/DIMENSION_LIST", f[n].attrs["DIMENSION_LIST"]) for n in ("g/first", "second"))):
        for i, each in enumerate(references):
            value(name, f"{owner}/{i}".replace("/", "."), paths(f, each))
    for i, (reference, dimension) in enumerate(f["time"].attrs["REFERENCE_LIST"]):
        value(name, f"time.REFERENCE_LIST.dataset.{i}", f[reference].name)
        value(name, f"time.REFERENCE_LIST.dimension.{i}", int(dimension))


def whole(f, name):
    a = np.arange(64, dtype="i8") * 1000003
    a[:2] = -2**31, 2**31 - 1
    for n in ("<i4", ">i4"):
        f.create_dataset("little" if n[0] == "<" else "big", data=a.astype(n), chunks=(64,), scaleoffset=0)
        tensor(name, "little" if n[0] == "<" else "big", a.astype(n))


def blosc2_dataset(f, name, shape, dtype, frame):
    p = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    p.set_chunk(shape)
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    array = (len(shape), *shape) if len(shape) > 1 else ()
    p.set_filter(32026, h5py.h5z.FLAG_OPTIONAL, (1, 0, np.dtype(dtype).itemsize, size, 1, 1, 0, *array))
    d = h5py.h5d.create(f.id, name.encode(), h5py.h5t.py_create(np.dtype(dtype)), h5py.h5s.create_simple(shape), p)
    d.write_direct_chunk((0,) * len(shape), frame, 0)


def blocks(f, name):
    a = (np.arange(11**3) % 251).astype("u1").reshape(11, 11, 11)
    blosc2_dataset(f, "cube", a.shape, "u1", blosc2.asarray(a, chunks=a.shape, blocks=(10, 10, 10)).to_cframe())
    tensor(name, "cube", a)


def special(f, name):
    layout = dict(chunks=(20, 30), blocks=(7, 8))
    for dtype in ("f4", "f8"):
        for n, a in {"zeros": blosc2.zeros((20, 30), dtype, **layout), "nans": blosc2.nans((20, 30), dtype, **layout),
                     "ones": blosc2.full((20, 30), 1.5, dtype, **layout)}.items():
            blosc2_dataset(f, f"{n}_{dtype}", a.shape, dtype, a.to_cframe())
            tensor(name, f"{n}_{dtype}", a[...])
    for n, v in {"zero": 0, "nan": np.nan, "value": 2.5}.items():
        flat = blosc2.SChunk(chunksize=400, cparams={"typesize": 4}, contiguous=True)
        flat.fill_special(100, getattr(blosc2.SpecialValue, n.upper()), 2.5 if n == "value" else None)
        blosc2_dataset(f, f"flat_{n}", (100,), "f4", flat.to_cframe())
        tensor(name, f"flat_{n}", np.full(100, v, "f4"))
    # Of these there is no value to expect.
    blosc2_dataset(f, "never_set", (20, 30), "f4", blosc2.uninit((20, 30), "f4", **layout).to_cframe())


def main():
    here = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent)
    for name, write in (("attributes.h5", attributes), ("whole.h5", whole), ("blocks.h5", blocks), ("regions.h5", regions), ("special.h5", special), ("scales.h5", scales)):
        with h5py.File(here / name, "w") as f:
            write(f, name)
    (here / "expected_attributes.txt").write_text("\n".join(LINES) + "\n")


if __name__ == "__main__":
    main()
