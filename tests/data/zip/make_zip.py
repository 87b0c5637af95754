#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes mixed.zip, zip64.zip and members.txt beside this file, with Python's own zipfile.

members.txt: ARCHIVE NAME METHOD SIZE SHA256, tab-separated, in directory order."""
import hashlib
import random
import zipfile
from pathlib import Path

here = Path(__file__).parent
random.seed(7)
members = [("a/empty", b"", 0), ("a/stored", bytes(range(256)) * 3, 0), ("näme/😀", b"utf-8", 0), ("zeros", bytes(70000), 8),
           ("words", b" ".join(random.choice([b"loss", b"grad", b"step"]) for _ in range(9000)), 8), ("noise", random.randbytes(2000), 8)]
with open(here / "members.txt", "w", encoding="utf-8") as out:
    for archive, zip64 in (("mixed.zip", False), ("zip64.zip", True)):
        with zipfile.ZipFile(here / archive, "w") as z:
            for name, data, method in members:
                info = zipfile.ZipInfo(name)
                info.compress_type = method
                with z.open(info, "w", force_zip64=zip64) as f:
                    f.write(data)
                print(archive, name, method, len(data), hashlib.sha256(data).hexdigest(), sep="\t", file=out)
            z.comment = b"made by zipfile"
