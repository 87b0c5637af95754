# SPDX-License-Identifier: GPL-3.0-or-later
"""Seeds for fuzz_hdf5_metadata of the files of tests/data/hdf5: hdf5_metadata_seeds.py FOLDER."""
import sys
from pathlib import Path

MOST = 48 << 10
WIDE, NARROW = 2 + 3 * 2, 1 + 3 * 1  # addresses and lengths of 8 bytes, of 4


def places(data, signature):
    at = data.find(signature)
    while at >= 0:
        yield at
        at = data.find(signature, at + 1)


def main():
    folder, here = Path(sys.argv[1]), Path(__file__).parent.parent / "data/hdf5"
    folder.mkdir(parents=True, exist_ok=True)
    kinds = {b"FAHD": (8, 0), b"EAHD": (8, 1), b"BTHD": (8, 2), b"FRHP": (4, 0), b"OHDR": (6, 0), b"GCOL": (2, 1)}
    for file in sorted(here.glob("**/*.h5")):
        data = file.read_bytes()
        widths = NARROW if file.parent.name == "narrow" else WIDE
        for signature, (what, kind) in kinds.items():
            for at in list(places(data, signature))[:3]:
                # Of the head, which takes the place of a part of the superblock, and what is near to the block.
                begin = max(0, at - MOST // 2) if len(data) > MOST else 0
                if begin:
                    continue
                rest = bytes((kind, 2, 4, 4, 15, 15, 8, 8, 1, 1))
                head = bytes((what, widths)) + at.to_bytes(4, "little") + rest
                (folder / f"{file.stem}_{signature.decode()}_{at}").write_bytes(head + data[16:MOST])
    tree, heap = 5, b"FRHP"
    for name in ("dense_latest.h5", "narrow/dense.h5"):
        data = (here / name).read_bytes()
        for n, at in enumerate(places(data, heap)):
            names = data.find(b"BTHD", at)
            head = bytes((tree, NARROW if "/" in name else WIDE)) + at.to_bytes(4, "little") + max(names, 0).to_bytes(4, "little") + bytes(6)
            (folder / f"dense_{n}_{Path(name).stem}").write_bytes(head + data[16:MOST])


if __name__ == "__main__":
    main()
