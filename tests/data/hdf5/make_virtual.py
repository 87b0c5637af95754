# SPDX-License-Identifier: GPL-3.0-or-later
"""Virtual datasets of every kind that HDF5 writes: make_virtual.py [FOLDER]; needs h5py 3.16 from PyPI (HDF5 2.0.0).

virtual/every_latest.h5 and virtual/every_earliest.h5 show themselves, virtual/series/*.h5 and what is not there; expected_virtual.txt is as
expected.txt of make_hdf5.py, with the elements as h5py reads them by default (view LAST_AVAILABLE, no gap between numbered sources).
"""
import sys
from pathlib import Path

import h5py
import numpy as np
from make_hdf5 import LINES, tensor, value
from make_newest_values import space as boxes

EVER = h5py.h5s.UNLIMITED
ALL = h5py.h5s.ALL


def space(shape, start=None, count=None, stride=None, block=None):
    """A space that grows where its count does; without start all of it."""
    ones = (1,) * len(shape)
    limits = tuple(EVER if start is not None and count[i] == EVER else n for i, n in enumerate(shape))
    made = h5py.h5s.create_simple(shape, limits)
    if start is not None:
        made.select_hyperslab(start, count, stride or ones, block or ones)
    return made


def show(file, name, target, *sources, dtype=h5py.h5t.IEEE_F32LE, fill=-1.0, fill_dtype="f4"):
    settings = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    settings.set_layout(h5py.h5d.VIRTUAL)
    if fill is not None:
        settings.set_fill_value(np.array(fill, fill_dtype))
    for own, source_file, dataset, source in sources:
        settings.set_virtual(own, source_file, dataset, source)
    h5py.h5d.create(file.id, name.encode(), dtype, target, settings)


def tell(file, names):
    """What h5py reads, once all is written."""
    relative = "virtual/" + Path(file.filename).name
    for name in names:
        a = file[name][...]
        if a.dtype == object or a.dtype.kind == "S":
            if a.size == 0:
                value(relative, name, None)
            for i, text in enumerate(a.ravel()):
                value(relative, f"{name}.{i}" if a.shape else name, text.decode() if isinstance(text, bytes) else shown(text))
        elif a.dtype.names:
            for member in a.dtype.names:
                if a.dtype[member] == object:
                    for i, text in enumerate(a[member].ravel()):
                        value(relative, f"{name}.{member}.{i}", text.decode())
                else:
                    tensor(relative, f"{name}.{member}", a[member])
        else:
            tensor(relative, name, a)


def shown(item):
    if isinstance(item, np.ndarray):
        return "[" + ", ".join(str(n) for n in item) + "]"
    return item.decode() if isinstance(item, bytes) else str(item)


def sources(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for i in range(3):
        with h5py.File(folder / f"part{i}.h5", "w") as f:
            f["a"] = np.arange(4, dtype="f4") + 10 * i
            f[f"b{i}"] = np.arange(2, dtype="f4") + 100 * i
            f["word"] = np.array([f"{'xyz'[i] * n}" for n in range(1, 4)], h5py.string_dtype())
            f["code"] = np.array([b"one", b"two", b"six"], "S4")
    with h5py.File(folder / "100%.h5", "w") as f:
        f["a"] = np.arange(4, dtype="f4") + 50
        f["big"] = np.arange(6, dtype=">i2")
        f["again"] = h5py.SoftLink("/g/linked")
        f["g/linked"] = np.arange(3, dtype="f4") + 70
        f["outside"] = h5py.ExternalLink("part0.h5", "/a")


def numbers(f):
    x = f.create_dataset("x", (3, 5), "f4", maxshape=(None, 5))
    x[...] = np.arange(15).reshape(3, 5)
    flat = f["flat"] = np.arange(40, dtype="f4") + 300
    rows = space((1, 5), (0, 0), (EVER, 1), block=(1, 5))
    column = lambda start, stride, block=1: space((10,), (start,), (EVER,), (stride,), (block,))
    four = space((4,))
    part, own = b"series/part%b.h5", space((1, 4), (0, 0), (EVER, 1), block=(1, 4))
    show(f, "grows", space((1, 5), (0, 0), (EVER, 1), block=(1, 5)), (rows, b".", b"x", rows))
    show(f, "grows_with_gaps", rows, (space((1, 5), (1, 0), (EVER, 1), (3, 1), (2, 5)), b".", b"x", rows))
    show(f, "grows_twice", column(0, 1), (column(0, 2), b"series/part0.h5", b"a", column(0, 1)), (column(1, 3), b"series/part1.h5", b"a", column(1, 1)))
    show(f, "grows_beside_missing", column(0, 1), (column(0, 2), b"series/part0.h5", b"a", column(0, 1)), (column(1, 2), b"series/none.h5", b"a", column(0, 1)))
    show(f, "part_of_block", column(0, 1), (column(0, 5, 2), b"series/part0.h5", b"a", column(0, 3, 2)))
    show(f, "grows_from_nothing", column(0, 1), (column(0, 1), b"series/none.h5", b"a", column(0, 1)))
    show(f, "numbered", own, (own, part, b"a", four))
    show(f, "numbered_apart", own, (space((1, 4), (1, 0), (EVER, 1), (2, 1), (1, 4)), part, b"a", four))
    show(f, "numbered_datasets", space((1, 2), (0, 0), (EVER, 1), block=(1, 2)), (space((1, 2), (0, 0), (EVER, 1), block=(1, 2)), part, b"b%b", space((2,))))
    show(f, "numbered_from_nothing", own, (own, b"series/no%b.h5", b"a", four))
    show(f, "limited_beside_growing", column(0, 1), (column(0, 1), b"series/part0.h5", b"a", column(1, 1)), (space((10,), (6,), (4,)), b"series/part1.h5", b"a", four))
    show(f, "percent", four, (four, b"series/100%%.h5", b"a", four))
    show(f, "linked", space((3,)), (space((3,)), b"series/100%%.h5", b"again", space((3,))))
    show(f, "missing_file", space((8,)), (space((8,), (1,), (4,)), b"series/none.h5", b"a", four), (space((8,), (4,), (4,)), b"series/part1.h5", b"a", four))
    show(f, "missing_dataset", space((8,)), (space((8,), (1,), (4,)), b"series/part0.h5", b"z", four))
    show(f, "overlapping", space((6,)), (space((6,), (0,), (4,)), b"series/part0.h5", b"a", four), (space((6,), (2,), (4,)), b"series/part1.h5", b"a", four))
    show(f, "overlapping_otherwise", space((6,)), (space((6,), (2,), (4,)), b"series/part1.h5", b"a", four), (space((6,), (0,), (4,)), b"series/part0.h5", b"a", four))
    show(f, "of_virtual", space((8,)), (space((8,), (1,), (4,)), b".", b"overlapping", space((6,), (1,), (4,))))
    show(f, "of_both_orders", space((6,)), (space((6,)), b"series/100%%.h5", b"big", space((6,))), dtype=h5py.h5t.STD_I16LE, fill=0, fill_dtype="i2")
    irregular = boxes((8, 5), ((0, 0), (2, 3)), ((3, 1), (1, 2)), ((3, 4), (2, 1)))
    show(f, "no_grid", space((8, 5)), (irregular, b".", b"flat", space((40,), (5,), (10,))))
    show(f, "no_grid_of_no_grid", space((8, 5)), (irregular, b".", b"x", boxes((3, 5), ((0, 0), (2, 4)), ((2, 1), (1, 1)), ((2, 3), (1, 1)))))
    show(f, "reshaped", space((4, 6)), (space((4, 6), (0, 0), (4, 3), (1, 2)), b".", b"flat", space((40,), (1,), (4,), (9,), (3,))))
    show(f, "all_with_gaps", space((6, 5)), (space((6, 5), (0, 0), (3, 1), (2, 1), (1, 5)), b".", b"x", space((3, 5))))
    show(f, "scalar", h5py.h5s.create(h5py.h5s.SCALAR), (h5py.h5s.create(h5py.h5s.SCALAR), b".", b"one", h5py.h5s.create(h5py.h5s.SCALAR)))
    f["one"] = np.float32(7)
    del flat
    return [n for n in f if n != "x"]


def texts(f):
    before = set(f)
    f["note"] = np.array(["a", "bcd", "", "ünï"], h5py.string_dtype())
    f["lists"] = h5py.Empty("f4")
    del f["lists"]
    lists = f.create_dataset("lists", (2,), h5py.vlen_dtype("i4"))
    lists[0], lists[1] = [1, 2, 3], [4]
    table = np.zeros(3, np.dtype([("n", "<i4"), ("word", h5py.string_dtype())]))
    table["n"], table["word"] = [1, 2, 3], ["p", "qr", "s"]
    f["table"] = table
    word = h5py.h5t.py_create(h5py.string_dtype(), logical=True)
    three, grown = space((3,)), space((1, 3), (0, 0), (EVER, 1), block=(1, 3))
    show(f, "words", space((8,)), (space((8,), (0,), (4,)), b".", b"note", space((4,))), (space((8,), (5,), (3,)), b"series/part1.h5", b"word", three), dtype=word, fill=None)
    layout = h5py.VirtualLayout((2, 5), "S4")
    layout[0, 0:3] = h5py.VirtualSource("series/part0.h5", "code", (3,))
    layout[1, 1:4] = h5py.VirtualSource("series/part2.h5", "code", (3,))
    f.create_virtual_dataset("codes", layout)
    show(f, "numbered_words", grown, (grown, b"series/part%b.h5", b"word", three), dtype=word, fill=None)
    show(f, "overlapping_words", space((4,)), (space((4,)), b".", b"note", space((4,))), (space((4,), (1,), (3,)), b"series/part1.h5", b"word", three), dtype=word, fill=None)
    show(f, "words_of_virtual", space((4,)), (space((4,)), b".", b"words", space((8,), (2,), (4,))), dtype=word, fill=None)
    show(f, "shown_lists", space((3,)), (space((3,), (1,), (2,)), b".", b"lists", space((2,))), dtype=f["lists"].id.get_type(), fill=None)
    show(f, "shown_table", space((4,)), (space((4,), (0,), (3,)), b".", b"table", three), dtype=f["table"].id.get_type(), fill=None)
    return sorted(set(f) - before)


def refused(f):
    """What must not be shown, h5py does not read either, or shows a part of: of what has grown within a virtual dataset the first row alone."""
    four = space((4,))
    show(f, "of_a_link_outside", four, (four, b"series/100%%.h5", b"outside", four))
    show(f, "of_other_numbers", four, (four, b"series/part0.h5", b"a", four), dtype=h5py.h5t.IEEE_F64LE)
    show(f, "of_shorter_text", space((3,)), (space((3,)), b"series/part0.h5", b"code", space((3,))), dtype=h5py.h5t.py_create(np.dtype("S2")), fill=None)
    show(f, "too_few", space((6,)), (space((6,)), b"series/part0.h5", b"a", space((6,))))
    show(f, "itself", four, (four, b".", b"itself", four))
    show(f, "of_growing", space((4, 3)), (space((4, 3), (0, 0), (3, 3)), b".", b"numbered", space((3, 4), (0, 1), (3, 3))))
    show(f, "above", four, (four, b"../types.h5", b"a", four))


def main():
    here = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent) / "virtual"
    sources(here / "series")
    for name, libver in (("every_latest.h5", "latest"), ("every_earliest.h5", ("earliest", "v110"))):
        with h5py.File(here / name, "w", libver=libver) as f:
            names = numbers(f) + texts(f)
            refused(f)
        with h5py.File(here / name) as f:
            tell(f, names)
    (here.parent / "expected_virtual.txt").write_text("\n".join(LINES) + "\n")


if __name__ == "__main__":
    main()
