#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tabs, trailing space, missing last newline and paths of a machine in our text files: python3 tests/check_text.py

Test data, the bundled runs and the licence are what others wrote and are left as they are. Prints file:line: what.
"""
from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path, PurePosixPath

sys.dont_write_bytecode = True
from check_boundaries import tree_files  # noqa: E402

TEXT = {".cpp", ".h", ".cu", ".cuh", ".py", ".sh", ".cmake", ".md", ".txt", ".json", ".qrc", ".svg", ".css"}
BARE = {"run", "test", ".clang-format", ".clang-tidy", ".gitignore"}
FOREIGN = re.compile(r"LICENSE$|tests/data/|resources/samples/\w+/")
# A folder that only one machine has; /usr, /etc, /proc, /dev and /tmp are everywhere.
# Tests may make up a home folder, but not read a working folder outside the tree.
MACHINE = re.compile(r"(?<![\w.>/}*])/(work|home|root|mnt|Users)/\w")
OUTSIDE = re.compile(r"(?<![\w.>/}*])/work/\w")


def is_ours(path: PurePosixPath) -> bool:
    return not FOREIGN.match(str(path)) and (path.suffix in TEXT or path.name in BARE or path.parts[0] == ".ci")


def problems_of(path: PurePosixPath, text: str) -> list[str]:
    problems = []
    machine = OUTSIDE if path.parts[0] == "tests" else MACHINE
    for number, line in enumerate(text.split("\n"), 1):
        if "\t" in line:
            problems.append(f"{path}:{number}: tab")
        if line != line.rstrip():
            problems.append(f"{path}:{number}: space at the end of the line")
        if machine.search(line):
            problems.append(f"{path}:{number}: path of one machine")
    if text and not text.endswith("\n"):
        problems.append(f"{path}:{text.count(chr(10)) + 1}: no newline at the end of the file")
    return problems


def check(root: Path) -> list[str]:
    problems = []
    for path in filter(is_ours, tree_files(root)):
        problems += problems_of(path, (root / path).read_text(encoding="utf-8", errors="replace"))
    return problems


def self_test() -> int:
    planted = (("model/a.h", "x\ty\n", 1), ("model/b.h", "x \n", 1), ("model/c.h", "x", 1), ("README.md", "see /home/me/x\n", 1),
               ("run", "cd /root/x\n", 1), ("tests/e.cpp", "/home/me/x\n", 0), ("tests/f.cpp", "/" + "work/x\n", 1), ("model/d.h", "a / b\nhttps://example.org/home/x\n", 0), ("LICENSE", "a\t\n", 0),
               ("resources/samples/A/metrics.jsonl", "x", 0))
    with tempfile.TemporaryDirectory() as folder:
        for name, text, _ in planted:
            (Path(folder) / name).parent.mkdir(parents=True, exist_ok=True)
            (Path(folder) / name).write_text(text)
        found = [p.split(":")[0] for p in check(Path(folder))]
    wrong = [name for name, _, expected in planted if found.count(name) != expected]
    for name in wrong:
        print(f"{name}: {found.count(name)} complaints")
    print(f"{len(planted) - len(wrong)} passed, {len(wrong)} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    if "--self-test" in sys.argv[1:]:
        sys.exit(self_test())
    complaints = check(Path(__file__).resolve().parents[1])
    print("\n".join(complaints) or "text is clean")
    sys.exit(1 if complaints else 0)
