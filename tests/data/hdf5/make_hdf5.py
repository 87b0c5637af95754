#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes small HDF5 files with h5py and expected.txt with what was in memory: Debian's python3-h5py (3.7, HDF5 1.10.8).

    make_hdf5.py [DIRECTORY]

A line of expected.txt: file, "tensor", name, dtype, shape, SHA-256 of the little-endian elements; or file, "value", name,
the value as JSON. expected_others.txt says the same of what other environments wrote: plugins.h5 (hdf5plugin 7.1.0), keras/ (Keras 3.15.1).
"""
import hashlib
import json
import sys
from pathlib import Path

import h5py
import numpy as np

LINES = []
DTYPES = {"V2": "void16", "V3": "void24"}


def payload(a):
    a = np.asarray(a)
    return (a.astype(a.dtype.newbyteorder("<")) if a.dtype.byteorder == ">" else a).tobytes("C")


def tensor(file, name, a, dtype=None):
    a = np.asarray(a)
    dtype = dtype or DTYPES.get(a.dtype.str.strip("|"), a.dtype.name)
    LINES.append("\t".join((file, "tensor", name, dtype, json.dumps(list(a.shape)), hashlib.sha256(payload(a)).hexdigest())))


def value(file, name, v):
    LINES.append("\t".join((file, "value", name, json.dumps(v))))


def types(f, name):
    rng = np.random.default_rng(1)
    for dtype in ("i1", "u1", "<i2", ">i2", "<u4", ">u4", "<i8", ">i8", "<u8", "<f2", ">f2", "<f4", ">f4", "<f8", ">f8"):
        a = rng.integers(0, 100, 7).astype(dtype)
        f["numbers/" + dtype.replace("<", "little_").replace(">", "big_")] = a
        tensor(name, "numbers." + dtype.replace("<", "little_").replace(">", "big_"), a)
    for dtype in ("<c8", "<c16", ">c8"):
        a = (rng.random(4) + 1j * rng.random(4)).astype(dtype)
        f["complex_" + dtype[1:] + ("_big" if dtype[0] == ">" else "")] = a
        tensor(name, "complex_" + dtype[1:] + ("_big" if dtype[0] == ">" else ""), a)
    a = np.array([True, False, True])
    f["bool"] = a
    tensor(name, "bool", a)
    bits = rng.integers(0, 2**16, 6).astype("<u2")
    t = h5py.h5t.IEEE_F16LE.copy()
    t.set_fields(15, 7, 8, 0, 7)
    t.set_ebias(127)
    d = h5py.h5d.create(f.id, b"bfloat16", t, h5py.h5s.create_simple(bits.shape))
    d.write(h5py.h5s.ALL, h5py.h5s.ALL, bits, t)
    tensor(name, "bfloat16", bits, "bfloat16")
    f["keras_bfloat16"] = bits.view("V2")
    f["keras_bfloat16"].attrs["dtype"] = "bfloat16"
    tensor(name, "keras_bfloat16", bits, "bfloat16")
    f["void"] = bits.view("V2")
    tensor(name, "void", bits.view("V2"))
    f["scalar"] = np.float32(2.5)
    tensor(name, "scalar", np.float32(2.5))
    f["empty"] = np.zeros((0, 4), "f4")
    tensor(name, "empty", np.zeros((0, 4), "f4"))
    part = np.dtype([("m", "<f4", (2, 3)), ("n", ">i2")])
    record = np.dtype({"names": ["x", "part", "w"], "formats": ["<f8", part, "|i1"], "offsets": [4, 16, 50], "itemsize": 56})
    a = np.zeros((3, 2), record)
    a["x"] = rng.random((3, 2))
    a["part"]["m"] = rng.random((3, 2, 2, 3))
    a["part"]["n"] = rng.integers(-9, 9, (3, 2))
    a["w"] = rng.integers(-9, 9, (3, 2))
    f.create_dataset("compound", data=a)
    f.create_dataset("compound_chunked", data=a, chunks=(2, 2), compression="gzip", shuffle=True)
    for n in ("compound", "compound_chunked"):
        tensor(name, n + ".x", a["x"])
        tensor(name, n + ".part.m", a["part"]["m"])
        tensor(name, n + ".part.n", a["part"]["n"])
        tensor(name, n + ".w", a["w"])
    f.create_dataset("array", (2, 3), np.dtype(("<f4", (4,))))[...] = (m := rng.random((2, 3, 4)).astype("f4"))
    tensor(name, "array", m)


def chunks(f, name):
    rng = np.random.default_rng(2)
    a = rng.integers(0, 50, (37, 23)).astype("f4")
    for n, options in {"plain": {}, "gzip": dict(compression="gzip"), "shuffled": dict(compression="gzip", shuffle=True), "checked": dict(fletcher32=True),
                       "lzf": dict(compression="lzf", shuffle=True), "all": dict(compression="gzip", shuffle=True, fletcher32=True), "szip": dict(compression="szip")}.items():
        f.create_dataset(n, data=a, chunks=(10, 9), **options)
        tensor(name, n, a)
    cube = rng.random((5, 6, 7))
    f.create_dataset("cube", data=cube, chunks=(2, 4, 3), compression="gzip")
    tensor(name, "cube", cube)
    for dtype in ("i1", "u2", "i4", "i8", ">i4"):
        i = rng.integers(-100 if "i" in dtype else 0, 100, (21, 4)).astype(dtype)
        f.create_dataset("scaled_" + dtype.strip(">"), data=i, chunks=(8, 4), scaleoffset=0) if dtype != ">i4" else f.create_dataset("scaled_big", data=i, chunks=(8, 4), scaleoffset=0)
        tensor(name, "scaled_" + dtype if dtype != ">i4" else "scaled_big", i)
    for dtype in ("f4", "f8"):
        x = (rng.integers(-1000, 1000, (21, 4)) / 8).astype(dtype)
        f.create_dataset("rounded_" + dtype, data=x, chunks=(8, 4), scaleoffset=2)
        tensor(name, "rounded_" + dtype, f["rounded_" + dtype][...])
    d = f.create_dataset("sparse", (30, 30), ">f4", chunks=(8, 8), fillvalue=1.5, compression="gzip")
    whole = np.full((30, 30), 1.5, "f4")
    d[9:12, 20:30] = whole[9:12, 20:30] = 7
    tensor(name, "sparse", whole)
    f.create_dataset("unwritten", (4, 5), "i2", fillvalue=-3)
    tensor(name, "unwritten", np.full((4, 5), -3, "i2"))
    grown = f.create_dataset("grown", (3,), "i4", maxshape=(None,), chunks=(2,))
    grown[:] = [1, 2, 3]
    grown.resize((5,))
    tensor(name, "grown", np.array([1, 2, 3, 0, 0], "i4"))
    p = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    p.set_layout(h5py.h5d.COMPACT)
    c = np.arange(5, dtype=">i4")
    h5py.h5d.create(f.id, b"compact", h5py.h5t.STD_I32BE, h5py.h5s.create_simple((5,)), p).write(h5py.h5s.ALL, h5py.h5s.ALL, c)
    tensor(name, "compact", c)


def values(f, name):
    f.attrs.update({"step": 3, "lr": 0.001, "note": "ünïcödé", "done": True, "list": [1, 2, 3], "long": np.arange(100), "texts": ["a", "bc"]})
    for n, v in {"step": 3, "lr": 0.001, "note": "ünïcödé", "done": True, "list.0": 1, "list.2": 3, "texts.1": "bc"}.items():
        value(name, n, v)
    value(name, "long", {"numbers": 100, "sha256": hashlib.sha256(np.arange(100, dtype="<i8").tobytes()).hexdigest()})
    f["g/x"] = np.arange(3.0)
    tensor(name, "g.x", np.arange(3.0))
    f["hard"] = f["g/x"]
    tensor(name, "hard", np.arange(3.0))
    f["soft"] = h5py.SoftLink("/g/x")
    f["dangling"] = h5py.SoftLink("/nowhere")
    f["external"] = h5py.ExternalLink("other.h5", "/x")
    f["g/up"] = f["/"]
    for n, v in {"soft": "/g/x", "dangling": "/nowhere", "external": "other.h5:/x", "g.up": "/"}.items():
        value(name, n, v)
    f.create_dataset("text", data="one text")
    f.create_dataset("texts_of_any_length", data=["p", "qrs"])
    f.create_dataset("texts_of_4", data=np.array([b"wx", b"yz01"]))
    f.create_dataset("lists", (2,), h5py.vlen_dtype("i4"))[:] = [np.array([1, 2, 3], "i4"), np.array([], "i4")]
    f.create_dataset("reference", (1,), h5py.ref_dtype)[0] = f["text"].ref
    f["nothing"] = h5py.Empty("f4")
    for n, v in {"text": "one text", "texts_of_any_length.1": "qrs", "texts_of_4.0": "wx", "texts_of_4.1": "yz01", "lists.0": "[1, 2, 3]", "lists.1": "[]", "reference.0": "/text", "nothing": None}.items():
        value(name, n, v)


def elsewhere(f, name):
    f["sound"] = np.arange(2.0)
    tensor(name, "sound", np.arange(2.0))
    p = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    p.set_external(b"/etc/passwd", 0, 16)
    h5py.h5d.create(f.id, b"stored_outside", h5py.h5t.STD_U8LE, h5py.h5s.create_simple((16,)), p)
    layout = h5py.VirtualLayout((4,), "f8")
    layout[:] = h5py.VirtualSource("other.h5", "x", (4,))
    f.create_virtual_dataset("virtual", layout)
    p = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    p.set_chunk((4,))
    p.set_filter(65000, h5py.h5z.FLAG_OPTIONAL, (1, 2))
    h5py.h5d.create(f.id, b"filtered", h5py.h5t.STD_I32LE, h5py.h5s.create_simple((4,)), p).write_direct_chunk((0,), b"\1" * 16, 0)
    f.create_dataset("petabytes", (2**40, 2**10), "f8", chunks=(1024, 1024), fillvalue=1.0)
    d = f.create_dataset("broken", (64,), "f4", chunks=(64,), compression="gzip")
    d.id.write_direct_chunk((0,), b"\xde\xad" * 20, 0)
    d = f.create_dataset("too_long", (64,), "f4", chunks=(64,), compression="gzip")
    import zlib
    d.id.write_direct_chunk((0,), zlib.compress(b"\0" * 100_000, 9), 0)
    f["self"] = h5py.SoftLink("/self")


def odd(f, name):
    """Text in compounds; `!` in names becomes a character afterwards with which no library lets a link be made."""
    word = h5py.string_dtype()
    inner = np.dtype([("deep", word), ("n", "<i4")])
    a = np.zeros(3, np.dtype([("x", "<f4"), ("word", word), ("inner", inner), ("four", "S4")]))
    a["x"], a["word"], a["four"] = [1, 2, 3], ["p", "", "qrs"], [b"ab", b"abcd", b""]
    a["inner"]["deep"], a["inner"]["n"] = ["u", "vw", "ü"], [7, 8, 9]
    f.create_dataset("texts", data=a)
    f.create_dataset("texts_chunked", data=a, chunks=(2,), compression="gzip")
    for n in ("texts", "texts_chunked"):
        tensor(name, n + ".x", a["x"])
        tensor(name, n + ".inner.n", a["inner"]["n"])
        tensor(name, n + ".four", a["four"], "|S4")
        for i in range(3):
            value(name, f"{n}.word.{i}", a["word"][i])
            value(name, f"{n}.inner.deep.{i}", a["inner"]["deep"][i])
    for n, i in (("end!", 1), ("slash!name", 2), ("group!slash/x", 3)):
        f[n] = np.arange(i, dtype="f4")
    for n, i in (("end/", 1), ("slash/name", 2), ("group/slash.x", 3)):
        tensor(name, n, np.arange(i, dtype="f4"))
    f["link!slash"] = h5py.SoftLink("/texts")
    value(name, "link/slash", "/texts")


def nbit(f, name):
    """Numbers of fewer bits than their bytes have: expected is where the file's type puts these bits, zeros beside them."""
    rng = np.random.default_rng(3)

    def write(n, file_type, a, memory_type=None):
        p = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        p.set_chunk((5,) + a.shape[1:])
        p.set_filter(h5py.h5z.FILTER_NBIT, h5py.h5z.FLAG_MANDATORY, ())
        d = h5py.h5d.create(f.id, n.encode(), file_type, h5py.h5s.create_simple(a.shape), p)
        d.write(h5py.h5s.ALL, h5py.h5s.ALL, a, memory_type or h5py.h5t.py_create(a.dtype))

    def few(base, precision, offset):
        t = base.copy()
        t.set_precision(precision)
        t.set_offset(offset)
        return t

    def stored(a, precision, offset, kind):
        return ((a.astype("i8").view("u8") & np.uint64(2**precision - 1)) << np.uint64(offset)).astype(kind)

    a = rng.integers(-2**10, 2**10, (12, 3)).astype("<i4")
    for n, base, precision, offset, kind in (("eleven", h5py.h5t.STD_I32LE, 11, 5, "<u4"), ("eleven_big", h5py.h5t.STD_I32BE, 11, 5, ">u4"),
                                             ("nineteen", h5py.h5t.STD_I64LE, 19, 0, "<u8"), ("sixteen", h5py.h5t.STD_I32LE, 16, 8, "<u4"),
                                             ("high", h5py.h5t.STD_I16BE, 11, 5, ">u2"), ("one_byte", h5py.h5t.STD_I32LE, 8, 16, "<u4")):
        own = a if precision > 8 else (a % 100).astype("<i4")
        write(n, few(base, precision, offset), own)
        bits = int(kind[2]) * 8
        LINES.append("\t".join((name, "tensor", n, f"void{bits}", json.dumps([12, 3]), hashlib.sha256(stored(own, precision, offset, kind).tobytes()).hexdigest())))
    write("whole", h5py.h5t.STD_I32LE, a)
    tensor(name, "whole", a)
    record = np.zeros(11, np.dtype([("n", "<i4"), ("x", "<f8"), ("three", "<i2", (3,)), ("tag", "S5")]))
    record["n"], record["x"], record["three"], record["tag"] = rng.integers(-60, 60, 11), rng.random(11), rng.integers(-9, 9, (11, 3)), b"abcde"
    t = h5py.h5t.create(h5py.h5t.COMPOUND, 32)
    t.insert(b"n", 1, few(h5py.h5t.STD_I32LE, 7, 3))
    t.insert(b"x", 8, h5py.h5t.IEEE_F64LE)
    t.insert(b"three", 16, h5py.h5t.array_create(few(h5py.h5t.STD_I16BE, 5, 2), (3,)))
    t.insert(b"tag", 24, h5py.h5t.py_create(np.dtype("S5")))
    write("record", t, record)
    for n, kind, a in (("n", "void32", stored(record["n"], 7, 3, "<u4")), ("three", "void16", stored(record["three"], 5, 2, ">u2"))):
        LINES.append("\t".join((name, "tensor", "record." + n, kind, json.dumps(list(a.shape)), hashlib.sha256(a.tobytes()).hexdigest())))
    tensor(name, "record.x", record["x"])
    tensor(name, "record.tag", record["tag"], "|S5")


def virtual(here):
    """virtual/whole.h5 shows parts.h5, below/more.h5 and itself; what must not be shown, or does not fit, is beside."""
    (here / "virtual/below").mkdir(parents=True, exist_ok=True)
    a, b, c = np.arange(12, dtype="f4").reshape(3, 4), np.arange(100, 108, dtype=">f4"), np.arange(200, 220, dtype="f4").reshape(5, 4)
    with h5py.File(here / "virtual/parts.h5", "w") as f:
        f["a"] = a
        f.create_dataset("c", data=c, chunks=(2, 3), compression="gzip")
    with h5py.File(here / "virtual/below/more.h5", "w") as f:
        f["g/b"] = b
    with h5py.File(here / "virtual/whole.h5", "w", libver=("v110", "v110")) as f:
        f["own"] = np.arange(4, dtype="f4") + 0.5
        layout = h5py.VirtualLayout((8, 4), "f4")
        whole = np.full((8, 4), -2, "f4")
        layout[0:3] = h5py.VirtualSource("parts.h5", "a", (3, 4))
        whole[0:3] = a
        layout[3, :] = h5py.VirtualSource(".", "own", (4,))
        whole[3] = np.arange(4) + 0.5
        layout[5:7, 1:3] = h5py.VirtualSource("parts.h5", "c", (5, 4))[2:4, 2:4]
        whole[5:7, 1:3] = c[2:4, 2:4]
        f.create_virtual_dataset("stitched", layout, fillvalue=-2)
        tensor("virtual/whole.h5", "stitched", whole)
        layout = h5py.VirtualLayout((8,), ">f4")
        layout[:] = h5py.VirtualSource("below/more.h5", "g/b", (8,))
        f.create_virtual_dataset("of_below", layout)
        tensor("virtual/whole.h5", "of_below", b.astype("f4"))
        tensor("virtual/whole.h5", "own", np.arange(4, dtype="f4") + 0.5)
        assert np.array_equal(f["stitched"][...], whole) and np.array_equal(f["of_below"][...], b)
        for name, file, shape, dtype in (("outside", "../types.h5", (4,), "f4"), ("absolute", "/etc/passwd", (4,), "f4"), ("missing", "none.h5", (4,), "f4"),
                                         ("nothing", "parts.h5", (4,), "f4"), ("too_small", "parts.h5", (9, 4), "f4"), ("other_type", "parts.h5", (3, 4), "f8")):
            layout = h5py.VirtualLayout(shape, dtype)
            layout[...] = h5py.VirtualSource(file, "z" if name == "nothing" else "a", shape, dtype)
            f.create_virtual_dataset(name, layout)
        layout = h5py.VirtualLayout((6,), "f4")
        layout[0:4] = h5py.VirtualSource(".", "own", (4,))
        layout[2:6] = h5py.VirtualSource(".", "own", (4,))
        f.create_virtual_dataset("overlapping", layout)
        layout = h5py.VirtualLayout((4,), "f4")
        layout[:] = h5py.VirtualSource(".", "overlapping", (6,))[0:4]
        f.create_virtual_dataset("of_virtual", layout)
        layout = h5py.VirtualLayout((4,), "f4")
        layout[0:4:2] = h5py.VirtualSource(".", "own", (4,))[0:2]
        f.create_virtual_dataset("with_gaps", layout)
        tensor("virtual/whole.h5", "with_gaps", np.array([0.5, 0, 1.5, 0], "f4"))


def main():
    here = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent)
    for name, write, options in (("types.h5", types, {}), ("chunks.h5", chunks, {}), ("chunks_latest.h5", chunks, dict(libver="latest")), ("values.h5", values, {}),
                                 ("elsewhere.h5", elsewhere, {}), ("user_block.h5", lambda f, n: (f.__setitem__("x", np.arange(3.0)), f.create_dataset("y", data=np.arange(9.0), chunks=(4,)), tensor(n, "x", np.arange(3.0)), tensor(n, "y", np.arange(9.0))), dict(userblock_size=512))):
        with h5py.File(here / name, "w", **options) as f:
            write(f, name)
    virtual(here)
    with h5py.File(here / "nbit.h5", "w") as f:
        nbit(f, "nbit.h5")
    with h5py.File(here / "odd.h5", "w") as f:
        odd(f, "odd.h5")
    data = (here / "odd.h5").read_bytes()
    for old, new in ((b"\0end!\0", b"\0end/\0"), (b"slash!name", b"slash/name"), (b"group!slash", b"group/slash"), (b"link!slash", b"link/slash")):
        assert data.count(old) == 1, (old, data.count(old))
        data = data.replace(old, new)
    (here / "odd.h5").write_bytes(data)
    (here / "expected.txt").write_text("\n".join(LINES) + "\n")


if __name__ == "__main__":
    main()
