# SPDX-License-Identifier: GPL-3.0-or-later
"""What HDF5 2.0 writes beside chunks, in its newest format: make_newest_values.py [FOLDER]; needs h5py 3.16 from PyPI (HDF5 2.0.0).

dense_latest.h5: attributes that are too many for a header, in fractal heaps. regions_latest.h5, regions_earliest.h5: references to regions
by every kind of selection, in the versions of both formats. virtual/newest.h5 and virtual/old_header.h5 show themselves and the parts.h5 of
make_hdf5.py, in both formats. filtered_texts.h5: what lies in heaps, in filtered chunks of each index. expected_newest_values.txt is as expected.txt of make_hdf5.py,
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


def space(shape, *boxes):
    """A selection of boxes that is no grid: pairs of begin and size."""
    selection = h5py.h5s.create_simple(shape)
    selection.select_none()
    for begin, size in boxes:
        selection.select_hyperslab(begin, size, op=h5py.h5s.SELECT_OR)
    return selection


def regions(file):
    name = Path(file.filename).name
    x, y = np.arange(6, dtype="u1"), np.arange(60, dtype="u1").reshape(6, 10)
    file["x"], file["g/y"] = x, y
    tensor(name, "x", x)
    tensor(name, "g.y", y)
    y = file["g/y"]
    strides = h5py.h5s.create_simple((6, 10))
    strides.select_hyperslab((0, 1), (2, 2), (3, 4), (2, 3))
    for n, region, text in (("box", y.regionref[1:3, 2:4], "/g/y [1:3, 2:4]"), ("steps", y.regionref[0:6:2, 1:9:3], "/g/y [0:5:2, 1:8:3]"),
                            ("all", y.regionref[...], "/g/y [...]"), ("line", file["x"].regionref[4:], "/x [4:6]"),
                            ("points", y.regionref[(y[...] % 25 == 3)], "/g/y (0, 3) (2, 8) (5, 3)"),
                            ("blocks", strides, "/g/y [0:5:3:2, 1:8:4:3]"),
                            ("apart", space((6, 10), ((3, 4), (1, 3)), ((0, 0), (2, 2))), "/g/y [0:2, 0:2] [3:4, 4:7]"),
                            ("nothing", space((6, 10)), "/g/y []")):
        if isinstance(region, h5py.h5s.SpaceID):
            region = h5py.h5r.create(file.id, b"g/y", h5py.h5r.DATASET_REGION, region)
        file.attrs.create(n, region, dtype=h5py.regionref_dtype)
        value(name, n, text)
    many = y[...] % 7 != 3
    file.attrs["long"] = y.regionref[many]
    text = "/g/y " + " ".join(f"({i}, {j})" for i, j in zip(*np.nonzero(many))) + "\0"
    value(name, "long", {"numbers": 0, "sha256": hashlib.sha256(text.encode()).hexdigest()})
    file.create_dataset("list", (2,), h5py.regionref_dtype)[1] = y.regionref[:, 1]
    value(name, "list.0", "null reference")
    value(name, "list.1", "/g/y [0:6, 1:2]")


def virtual(file):
    name = "virtual/" + Path(file.filename).name
    own = file["own"] = np.arange(40, 60, dtype="f4").reshape(4, 5)
    a = np.arange(12, dtype="f4").reshape(3, 4)  # of parts.h5

    def show(dataset, shape, *mappings):
        layout, whole = h5py.VirtualLayout(shape, "f4"), np.full(shape, -1, "f4")
        for target, source, part, array in mappings:
            layout[target] = source[part]
            whole[target] = array[part].reshape(whole[target].shape)
        file.create_virtual_dataset(dataset, layout, fillvalue=-1)
        assert np.array_equal(file[dataset][...], whole)
        tensor(name, dataset, whole)

    self, parts = h5py.VirtualSource(file["own"]), h5py.VirtualSource("parts.h5", "a", (3, 4))
    every = np.s_[:, :]
    own = file["own"][...]
    show("boxes", (8, 5), (np.s_[0:4], self, every, own), (np.s_[4:7, 0:4], parts, every, a))
    # Four of one file and one dataset: names that stand once.
    show("shared", (6, 4), (np.s_[0, 0:2], parts, np.s_[0, 0:2], a), (np.s_[1, 1:3], parts, np.s_[1, 2:4], a),
         (np.s_[2], parts, np.s_[2], a), (np.s_[4], self, np.s_[3, 0:4], own), (np.s_[5, 0:1], self, np.s_[0, 4:5], own))
    show("with_gaps", (9, 5), (np.s_[0:8:2], self, np.s_[0:4], own), (np.s_[1:4:2, 0:5:2], self, np.s_[2:4, 0:5:2], own))
    show("turned", (5, 4), (np.s_[::2, 1], self, np.s_[1, 0:3], own), (np.s_[1:4:2, 0:2], parts, np.s_[0:3:2, 2:4], a))
    for dataset, target, source in (("all_with_gaps", h5py.h5s.create_simple((8, 5)), h5py.h5s.create_simple((4, 5))),
                                    ("no_grid", space((8, 5), ((0, 0), (1, 3)), ((3, 1), (1, 2))), space((4, 5), ((0, 0), (1, 5)))),
                                    ("grows", h5py.h5s.create_simple((8, 5), (h5py.h5s.UNLIMITED, 5)), h5py.h5s.create_simple((4, 5), (h5py.h5s.UNLIMITED, 5)))):
        settings = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        settings.set_layout(h5py.h5d.VIRTUAL)
        if dataset == "all_with_gaps":
            target.select_hyperslab((0, 0), (4, 1), (2, 1), (1, 5))
        elif dataset == "grows":
            target.select_hyperslab((0, 0), (h5py.h5s.UNLIMITED, 1), (1, 1), (1, 5))
            source.select_hyperslab((0, 0), (h5py.h5s.UNLIMITED, 1), (1, 1), (1, 5))
        settings.set_virtual(target, b".", b"own", source)
        h5py.h5d.create(file.id, dataset.encode(), h5py.h5t.IEEE_F32LE, target, settings)
    file["text"] = ["a", "b"]
    layout = h5py.VirtualLayout((2,), h5py.string_dtype())
    layout[:] = h5py.VirtualSource(file["text"])
    file.create_virtual_dataset("texts", layout)


def filtered_texts(file):
    name = Path(file.filename).name
    text, gzip = h5py.string_dtype(), dict(compression="gzip")

    def create(dataset, written, dtype, shape=None, maxshape=None, **options):
        target = file.create_dataset(dataset, shape or written.shape, dtype, maxshape=maxshape, **options)
        target[tuple(slice(0, n) for n in written.shape)] = written
        return file[dataset][...].ravel()

    def tell(dataset, elements, show):
        for i, each in enumerate(elements):
            value(name, f"{dataset}.{i}", show(each))

    words = np.array(["one", "", "three", "v\u00e4", "a longer text, of more than one line\n" * 3], object)
    decoded = lambda each: each.decode()
    tell("fixed", create("fixed", words, text, chunks=(2,), shuffle=True, **gzip), decoded)
    tell("extensible", create("extensible", words, text, (9,), (None,), chunks=(2,), shuffle=True), decoded)
    grid = np.array([[f"{i} {j}" for j in range(4)] for i in range(3)], object)
    tell("tree", create("tree", grid, text, (4, 5), (None, None), chunks=(2, 3), **gzip), decoded)
    tell("cube", create("cube", np.array([["x", "y"], ["z", "w"]], object).reshape(2, 1, 2), text, (2, 3, 3), chunks=(1, 2, 2), **gzip), decoded)
    tell("never", create("never", words[:0], text, (2,), (None,), chunks=(2,), **gzip), decoded)
    numbers = np.empty(3, object)
    numbers[:] = [np.array([1, -2, 3]), np.array([], int), np.array([2**31 - 1])]
    shown = lambda each: "[" + ", ".join(str(x) for x in each.tolist()) + "]"
    tell("integers", create("integers", numbers, h5py.vlen_dtype("<i4"), (4,), (8,), chunks=(2,), **gzip), shown)
    numbers[:] = [each.astype(">i4") for each in numbers]
    create("turned", numbers, h5py.vlen_dtype(">i4"), chunks=(2,), **gzip)
    tell("turned", numbers, shown)  # h5py 3.16 reads them back in the wrong order of bytes
    halves = np.empty(2, object)
    halves[:] = [np.array([0.5, -0.25]), np.array([1e300])]
    tell("floats", create("floats", halves, h5py.vlen_dtype("<f8"), chunks=(1,), **gzip), lambda each: "[0.5, -0.25]" if len(each) == 2 else "[1e+300]")
    tell("bytes", create("bytes", np.array([b"ab", b"cde", b""]), "S3", (5,), (None,), chunks=(2,), **gzip), decoded)
    targets = np.array([file["fixed"].ref, file["tree"].ref], h5py.ref_dtype)
    tell("references", create("references", targets, h5py.ref_dtype, chunks=(1,), **gzip), lambda each: file[each].name)
    region = file.create_dataset("regions", (2,), h5py.regionref_dtype, chunks=(1,), **gzip)
    region[0], region[1] = file["fixed"].regionref[1:3], file["tree"].regionref[0, :]
    value(name, "regions.0", "/fixed [1:3]")
    value(name, "regions.1", "/tree [0:1, 0:5]")
    table = np.array([(i, f"row {i}", i / 2, f"note {i}") for i in range(5)], [("id", "<i4"), ("name", text), ("x", "<f8"), ("note", text)])
    file.create_dataset("table", data=table, chunks=(2,), maxshape=(None,), **gzip)
    for part in ("name", "note"):
        tell(f"table.{part}", table[part], str)
    tensor(name, "table.id", table["id"])
    tensor(name, "table.x", table["x"])
    # Told and not read.
    file.create_dataset("filled", (3,), text, chunks=(2,), fillvalue="?", **gzip)
    file.create_dataset("long_chunks", (3,), text, chunks=(300_000,), maxshape=(None,), **gzip)[:] = "x"


def main():
    here = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent)
    with h5py.File(here / "dense_latest.h5", "w", **LATEST) as file:
        dense(file)
    with h5py.File(here / "filtered_texts.h5", "w", **LATEST) as file:
        filtered_texts(file)
    for libver in ("latest", "earliest"):
        with h5py.File(here / f"regions_{libver}.h5", "w", libver=(libver, "latest")) as file:
            regions(file)
    for name, libver in (("newest", "latest"), ("old_header", "earliest")):
        with h5py.File(here / f"virtual/{name}.h5", "w", libver=(libver, "latest")) as file:
            virtual(file)
    (here / "expected_newest_values.txt").write_text("\n".join(LINES) + "\n")


if __name__ == "__main__":
    main()
