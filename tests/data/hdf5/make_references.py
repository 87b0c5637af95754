# SPDX-License-Identifier: GPL-3.0-or-later
"""References as HDF5 1.12 and newer have them (H5T_STD_REF): make_references.py [FOLDER]; needs h5py 3.16 from PyPI (HDF5 2.0.0), whose
library is called by hand, as h5py has no such type.

references_latest.h5, references_earliest.h5: to an object, a region and an attribute, in a dataset, in filtered chunks and in an attribute;
expected_references.txt is as expected.txt of make_hdf5.py, of what was referred to.
"""
import ctypes
import sys
from pathlib import Path

import h5py
import numpy as np
from make_hdf5 import LINES, tensor, value
from make_newest import loaded_library

Id, REFERENCE_BYTES = ctypes.c_int64, 64
TARGETS = ["/x", "/g/y [1:3, 2:4]", "/x @ note", "null reference", "/g"]


def library():
    made = loaded_library()
    for name, result, arguments in (("H5Rcreate_object", ctypes.c_int, [Id, ctypes.c_char_p, Id, ctypes.c_void_p]),
                                    ("H5Rcreate_region", ctypes.c_int, [Id, ctypes.c_char_p, Id, Id, ctypes.c_void_p]),
                                    ("H5Rcreate_attr", ctypes.c_int, [Id, ctypes.c_char_p, ctypes.c_char_p, Id, ctypes.c_void_p]),
                                    ("H5Dcreate2", Id, [Id, ctypes.c_char_p, Id, Id, Id, Id, Id]), ("H5Dwrite", ctypes.c_int, [Id, Id, Id, Id, Id, ctypes.c_void_p]),
                                    ("H5Acreate2", Id, [Id, ctypes.c_char_p, Id, Id, Id, Id]), ("H5Awrite", ctypes.c_int, [Id, Id, ctypes.c_void_p]),
                                    ("H5Dclose", ctypes.c_int, [Id]), ("H5Aclose", ctypes.c_int, [Id])):
        getattr(made, name).restype, getattr(made, name).argtypes = result, arguments
    return made


def write(file, hdf5):
    name, reference = Path(file.filename).name, Id.in_dll(hdf5, "H5T_STD_REF_g").value
    x, y = np.arange(6.0), np.arange(60, dtype="u1").reshape(6, 10)
    file["x"], file["g/y"] = x, y
    file["x"].attrs["note"] = 5
    tensor(name, "x", x)
    tensor(name, "g.y", y)
    value(name, "x.note", 5)
    stored = (ctypes.c_ubyte * (REFERENCE_BYTES * len(TARGETS)))()
    at = [ctypes.addressof(stored) + REFERENCE_BYTES * i for i in range(len(TARGETS))]
    region = h5py.h5s.create_simple((6, 10))
    region.select_hyperslab((1, 2), (2, 2))
    assert hdf5.H5Rcreate_object(file.id.id, b"/x", 0, at[0]) >= 0
    assert hdf5.H5Rcreate_region(file.id.id, b"/g/y", region.id, 0, at[1]) >= 0
    assert hdf5.H5Rcreate_attr(file.id.id, b"/x", b"note", 0, at[2]) >= 0
    assert hdf5.H5Rcreate_object(file.id.id, b"/g", 0, at[4]) >= 0
    space, chunked = h5py.h5s.create_simple((len(TARGETS),)), h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    chunked.set_chunk((2,))
    chunked.set_deflate(6)
    for dataset, settings in ((b"list", 0), (b"chunked", chunked.id)):
        made = hdf5.H5Dcreate2(file.id.id, dataset, reference, space.id, 0, settings, 0)
        assert hdf5.H5Dwrite(made, reference, 0, 0, 0, at[0]) >= 0 and hdf5.H5Dclose(made) >= 0
    group = file["g"]
    made = hdf5.H5Acreate2(group.id.id, b"refs", reference, space.id, 0, 0)
    assert hdf5.H5Awrite(made, reference, at[0]) >= 0 and hdf5.H5Aclose(made) >= 0
    for where in ("list", "chunked", "g.refs"):
        for i, target in enumerate(TARGETS):
            value(name, f"{where}.{i}", target)


def main():
    here, hdf5 = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent), library()
    for libver in ("latest", "earliest"):
        with h5py.File(here / f"references_{libver}.h5", "w", libver=(libver, "latest")) as file:
            write(file, hdf5)
    (here / "expected_references.txt").write_text("\n".join(LINES) + "\n")


if __name__ == "__main__":
    main()
