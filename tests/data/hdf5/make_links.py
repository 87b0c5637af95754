# SPDX-License-Identifier: GPL-3.0-or-later
"""References to objects that have several hard links: make_links.py [FOLDER]; needs h5py.

links_earliest.h5, links_latest.h5, links_turned.h5: the same names lead to the same objects, in two formats and made in two orders;
expected_links.txt is as expected.txt of make_hdf5.py. The name expected of an object is the first, in the order of names and a group's
content before what follows the group, that h5py finds to lead to it.
"""
import sys
from pathlib import Path

import h5py
import numpy as np
from make_hdf5 import LINES, value

LINKS = {"/zz": "/aa", "/g2": "/g1", "/h": "/g1/y", "/type": "/alike"}


def first_name(file, reference, group="/"):
    if file[reference] == file[group]:
        return group
    for name in sorted(file[group]):
        path = group.rstrip("/") + "/" + name
        if file[reference] == file[path]:
            return path
        if isinstance(file[path], h5py.Group) and (found := first_name(file, reference, path)):
            return found
    return None


def link_all(file, is_turned):
    """Each object under one name, then under its other."""
    pairs = [(second, first) if is_turned else (first, second) for second, first in LINKS.items()]
    for made, other in pairs:
        if made.startswith("/g") and "y" not in made:
            file.create_group(made)
            file[other] = file[made]
    for made, other in pairs:
        if made not in file:
            file[made] = np.dtype("f4") if made in ("/type", "/alike") else np.arange(6.0)
            file[other] = file[made]


def write(file):
    name = Path(file.filename).name
    objects = sorted({*LINKS.keys(), *LINKS.values(), "/"})
    for i, path in enumerate(objects):
        file.attrs[f"to{i}"] = file[path].ref
    file.attrs.create("region", file["zz"].regionref[1:3], dtype=h5py.regionref_dtype)
    list_ = file.create_dataset("list", (len(objects) + 1,), h5py.ref_dtype)
    for i, path in enumerate(objects):
        list_[i] = file[path].ref
    pairs = file.create_dataset("pairs", 1, h5py.vlen_dtype(h5py.ref_dtype))
    pairs[0] = np.array([file["zz"].ref, file["h"].ref], h5py.ref_dtype)
    for i in range(len(objects)):
        value(name, f"to{i}", first_name(file, file.attrs[f"to{i}"]))
        value(name, f"list.{i}", first_name(file, list_[i]))
    value(name, f"list.{len(objects)}", "null reference")
    value(name, "region", first_name(file, file.attrs["region"]) + " [1:3]")
    value(name, "pairs.0", "[" + ", ".join(f'"{first_name(file, each)}"' for each in pairs[0]) + "]")


def main():
    here = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent)
    for kind, libver in (("earliest", "earliest"), ("latest", "latest"), ("turned", "latest")):
        with h5py.File(here / f"links_{kind}.h5", "w", libver=libver) as file:
            link_all(file, kind == "turned")
            write(file)
    (here / "expected_links.txt").write_text("\n".join(LINES) + "\n")


if __name__ == "__main__":
    main()
