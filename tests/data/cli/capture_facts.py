# SPDX-License-Identifier: GPL-3.0-or-later
"""Prints what tests/app/tst_captures.cpp expects of the bundled captures, by h5py and numpy alone (python3-h5py, python3-numpy):
which record of which two runs differs first, and how many elements of the tensors kept of it do."""
import pathlib

import h5py
import numpy as np

CAPTURES = pathlib.Path(__file__).resolve().parents[3] / "resources" / "samples" / "captures"


def records(run):
    """(step, micro_batch, stage, name, flags, call) -> [values, digests, kept arrays], in order."""
    found = {}
    for path in sorted((CAPTURES / run).glob("rank_0/steps_*.h5")):
        with h5py.File(path) as f:
            data, end = f["strings/bytes"][:].tobytes(), f["strings/end"][:].tolist()
            text = lambda i: data[end[i - 1] if i else 0:end[i]].decode()
            dtypes, sizes, starts = (f["tensors/" + n][:].tolist() for n in ("dtype", "bytes", "payload"))
            content = f["tensors/content"][:]
            payload = f["payload"][:].tobytes()
            values = [(text(n), text(v)) for n, v in zip(f["values/name"], f["values/value"])]
            columns = [f["records/" + c][:].tolist() for c in "step micro_batch stage name flags call inputs outputs values".split()]
            row = value = 0
            for step, micro_batch, stage, name, flags, call, inputs, outputs, own in zip(*columns):
                rows = range(row, row + inputs + outputs)
                kept = [np.frombuffer(payload[starts[i]:starts[i] + sizes[i]], text(dtypes[i])) for i in rows if starts[i] >= 0]
                digests = [content[i].tobytes().hex() for i in rows]
                found[step, micro_batch, text(stage), text(name), flags, call] = values[value:value + own], digests, kept
                row, value = row + inputs + outputs, value + own
    return found


a = records("A")
for other in "CDF":
    b = records(other)
    common = [key for key in a if key in b and key[2]]
    first = next(key for key in common if a[key][:2] != b[key][:2])
    print("A", other, len(common), "records in common; first that differs:", first)
    before = [key for key in common[:common.index(first)] if key[0] == first[0]]
    print("  before it in its step:", len(before), "records, the last", before[-1][2:4])
    for x, y in zip(a[first][2], b[first][2]):
        x, y = (z.view(f"u{z.itemsize}") for z in (x, y))
        print("  elements that differ:", int((x != y).sum()), "of", x.size, "the first", int(np.flatnonzero(x != y)[0]))
    sizes = {run: sum(p.stat().st_size for p in (CAPTURES / run).rglob("*.h5")) for run in ("A", other)}
    print("  bytes on disk:", sizes)
