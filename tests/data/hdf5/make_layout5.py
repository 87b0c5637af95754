# SPDX-License-Identifier: GPL-3.0-or-later
"""layout5.h5 as only HDF5 2.0 and newer write and read it: make_layout5.py OUT; needs h5py 3.16 from PyPI (HDF5 2.0.0).

Filtered chunks under the newest format have dataset layout messages of version 5; `plain` has one of version 4.
"""
import sys

import h5py
import numpy as np

with h5py.File(sys.argv[1], "w", libver=("latest", "latest")) as file:
    file.create_dataset("fixed", data=np.arange(64, dtype="<u2").reshape(8, 8), chunks=(4, 4), compression="gzip")
    file.create_dataset("plain", data=np.arange(4, dtype="<i4"))
