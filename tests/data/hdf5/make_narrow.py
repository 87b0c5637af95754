# SPDX-License-Identifier: GPL-3.0-or-later
"""Files whose addresses and lengths have other than 8 bytes (H5Pset_sizes): make_narrow.py [FOLDER]; needs h5py 3.16 from PyPI (HDF5 2.0.0).

narrow/*.h5 hold what make_newest.py and make_newest_values.py write, in the newest format where the worker reads parts itself;
expected_narrow.txt is of the same form.
"""
import sys
from pathlib import Path

import h5py
import make_hdf5
import make_newest
import make_newest_values
import numpy as np

LINES = []


def write(path, address, length, fill, libver="latest"):
    settings, access = h5py.h5p.create(h5py.h5p.FILE_CREATE), h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    settings.set_sizes(address, length)
    access.set_libver_bounds(h5py.h5f.LIBVER_EARLIEST if libver == "earliest" else h5py.h5f.LIBVER_LATEST, h5py.h5f.LIBVER_LATEST)
    make_hdf5.LINES.clear()
    make_newest.LINES.clear()
    with h5py.File(h5py.h5f.create(bytes(path), fapl=access, fcpl=settings)) as file:
        fill(file)
        endless = [name for name in file if isinstance(file[name], h5py.Dataset) and file[name].maxshape and file[name].maxshape.count(None) == 1]
    for line in make_hdf5.LINES + make_newest.LINES:
        # HDF5 1.10 takes a length of 4 bytes without a limit for a number, and finds no dimension for such an index.
        if length == 8 or not any(line.split("\t")[2].split(".")[0] == name for name in endless):
            LINES.append("narrow/" + line.removeprefix("virtual/"))


def virtual(file):
    """Of the file itself, by names that stand once and by selections of any kind."""
    name = Path(file.filename).name
    own = file["own"] = np.arange(40, 60, dtype="f4").reshape(4, 5)
    layout, whole = h5py.VirtualLayout((9, 5), "f4"), np.full((9, 5), -1, "f4")
    source = h5py.VirtualSource(file["own"])
    for target, part in ((np.s_[0:8:2], np.s_[0:4]), (np.s_[1:4:2, 0:5:2], np.s_[2:4, 0:5:2])):
        layout[target] = source[part]
        whole[target] = own[part]
    file.create_virtual_dataset("boxes", layout, fillvalue=-1)
    assert np.array_equal(file["boxes"][...], whole)
    make_hdf5.tensor(name, "boxes", whole)
    file["word"] = ["a", "bc", "def"]
    layout = h5py.VirtualLayout((4,), h5py.string_dtype())
    layout[1:4] = h5py.VirtualSource(file["word"])
    file.create_virtual_dataset("words", layout)
    for i, text in enumerate(file["words"].asstr()[...]):
        make_hdf5.value(name, f"words.{i}", text)


def some_indexes(file):
    every, create, ramp = np.s_[...], make_newest.create, make_newest.ramp
    create(file, "fixed", [(every, ramp(9, 7))], chunks=(2, 3), shape=(9, 7), compression="gzip", fletcher32=True)
    create(file, "extensible", [(every, ramp(9, 7))], maxshape=(None, 7), chunks=(2, 3), shape=(9, 7))
    create(file, "btree_one", [(np.s_[3:20, :15], ramp(17, 15))], maxshape=(None, None), chunks=(1, 1), shape=(30, 16))


def main():
    here = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent)
    (here / "narrow").mkdir(exist_ok=True)
    for name, address, length, fill in (("indexes", 4, 4, make_newest.indexes), ("indexes_4_8", 4, 8, some_indexes), ("indexes_8_4", 8, 4, some_indexes),
                                        ("dense", 4, 4, make_newest_values.dense), ("dense_8_4", 8, 4, make_newest_values.dense),
                                        ("texts", 4, 4, make_newest_values.filtered_texts), ("regions", 4, 4, make_newest_values.regions),
                                        ("virtual", 4, 4, virtual), ("virtual_2_2", 2, 2, virtual)):
        write(here / f"narrow/{name}.h5", address, length, fill)
    for name, fill in (("regions_earliest", make_newest_values.regions), ("virtual_earliest", virtual)):
        write(here / f"narrow/{name}.h5", 4, 4, fill, "earliest")
    (here / "expected_narrow.txt").write_text("\n".join(LINES) + "\n")


if __name__ == "__main__":
    main()
