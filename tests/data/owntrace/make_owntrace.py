#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two tiny traces by plain h5py, from resources/docs/trace.md alone: make_owntrace.py [OUT]

Needs python3-h5py, python3-numpy and python3-xxhash. `a` and `b` are two ranks over three steps each; in b, one element
of what fc1 returns in step 2 on rank 1 is another one, and so is what follows from it. `expected.json` says what is in
both, from the arrays and not from the files.
"""
import json
import struct
import sys
from pathlib import Path

import h5py
import numpy as np
from xxhash import xxh3_128

STEP_BEGIN, STEP_END, TENSOR, VALUES = 4, 5, 0, 3


def fingerprint(dtype, shape, stream):
    """content, tensor and leaves of fingerprint.md, for streams of at most 256 leaves"""
    leaves = [xxh3_128(stream[i:i + 65536]).digest() for i in range(0, len(stream), 65536)]
    content = leaves[0] if len(leaves) == 1 else xxh3_128(b"").digest() if not leaves else xxh3_128(
        b"forkpoint-nd" + struct.pack("<III", 1, 1, len(leaves)) + b"".join(leaves)).digest()
    name = dtype.encode()
    head = b"forkpoint-tn" + struct.pack("<II", 1, len(name)) + name + struct.pack("<I", len(shape))
    dims = b"".join(struct.pack("<Q", d) for d in shape)
    return content, xxh3_128(head + dims + struct.pack("<Q", len(stream)) + content).digest(), leaves


class Segment:
    def __init__(self):
        self.strings, self.rows, self.tensors, self.values, self.facts = {"": 0}, [], [], [], []
        self.payload, self.leaves, self.sequence, self.step = b"", [], 0, None

    def text(self, value):
        return self.strings.setdefault(value, len(self.strings))

    def record(self, role, step, stage="", name="", micro_batch=-1, inputs=(), outputs=(), values=(), call=0, scope="", flags=0):
        if step != self.step:
            self.step, self.sequence = step, 0
        self.rows.append((role, step, micro_batch, self.sequence, self.text(stage), self.text(name), self.text(scope), call,
                          flags, len(inputs), len(outputs), len(values)))
        self.sequence += 1
        self.tensors += [*inputs, *outputs]
        self.values += [(self.text(n), self.text(v)) for n, v in values]

    def tensor(self, path, dtype, array, keep=False, leaves=False, absence=0, note="cpu"):
        stream = array.tobytes()
        content, whole, digests = fingerprint(dtype, array.shape, stream) if absence == 0 else (bytes(16), bytes(16), [])
        at = -1
        if keep:
            at = len(self.payload)
            self.payload += stream
        leaf = -1
        if leaves:
            leaf = len(self.leaves)
            self.leaves += digests
        numbers = array.astype("float64") if array.dtype.kind == "f" else None
        stats = (float(abs(numbers).max()), float(np.sqrt((numbers ** 2).sum())), int((numbers == 0).sum())) if numbers is not None and numbers.size else (
            float("nan"), float("nan"), 0)
        return (self.text(path), self.text(dtype), array.shape, len(stream), absence, content, whole, self.text(note), at, leaf, stats)

    def write(self, path, run, rank, number, first, last):
        path.parent.mkdir(parents=True, exist_ok=True)
        half = path.with_name(path.name + ".tmp")
        with h5py.File(half, "w", libver=("v110", "v110")) as f:
            attributes(f, "segment", run, rank, segment=number, first_step=first, last_step=last,
                       records=len(self.rows), tensors=len(self.tensors), values=len(self.values))
            data = [s.encode() for s in self.strings]
            column(f, "strings/bytes", np.frombuffer(b"".join(data), "u1"))
            column(f, "strings/end", np.cumsum([len(d) for d in data]).astype("<u8"))
            for i, (name, kind) in enumerate([("role", "u1"), ("name", "<u4"), ("value", "<u4")]):
                column(f, "facts/" + name, np.array([r[i] for r in self.facts], kind))
            names = "role:u1 step:<i8 micro_batch:<i4 sequence:<u8 stage:<u4 name:<u4 scope:<u4 call:<u4 flags:u1 inputs:<u4 outputs:<u4 values:<u4"
            for i, spec in enumerate(names.split()):
                name, kind = spec.split(":")
                column(f, "records/" + name, np.array([r[i] for r in self.rows], kind))
            t = self.tensors
            column(f, "tensors/path", np.array([r[0] for r in t], "<u4"))
            column(f, "tensors/dtype", np.array([r[1] for r in t], "<u4"))
            column(f, "tensors/rank", np.array([len(r[2]) for r in t], "u1"))
            column(f, "tensors/dims", np.array([d for r in t for d in r[2]], "<u8"))
            column(f, "tensors/bytes", np.array([r[3] for r in t], "<u8"))
            column(f, "tensors/absence", np.array([r[4] for r in t], "u1"))
            column(f, "tensors/content", np.frombuffer(b"".join(r[5] for r in t), "u1").reshape(-1, 16))
            column(f, "tensors/tensor", np.frombuffer(b"".join(r[6] for r in t), "u1").reshape(-1, 16))
            column(f, "tensors/note", np.array([r[7] for r in t], "<u4"))
            column(f, "tensors/payload", np.array([r[8] for r in t], "<i8"))
            column(f, "tensors/leaves", np.array([r[9] for r in t], "<i8"))
            column(f, "tensors/abs_max", np.array([r[10][0] for r in t], "<f8"))
            column(f, "tensors/l2", np.array([r[10][1] for r in t], "<f8"))
            column(f, "tensors/zero", np.array([r[10][2] for r in t], "<u8"))
            for name in ("nan", "inf"):
                column(f, "tensors/" + name, np.zeros(len(t), "<u8"))
            column(f, "values/name", np.array([r[0] for r in self.values], "<u4"))
            column(f, "values/value", np.array([r[1] for r in self.values], "<u4"))
            if self.payload:
                column(f, "payload", np.frombuffer(self.payload, "u1"))
            if self.leaves:
                column(f, "leaves", np.frombuffer(b"".join(self.leaves), "u1").reshape(-1, 16))
        half.rename(path)


def column(f, name, data):
    if data.nbytes < 256:
        f.create_dataset(name, data=data)
    else:
        f.create_dataset(name, data=data, chunks=data.shape, compression="gzip")


def attributes(f, kind, run, rank, **more):
    texts = {"format": "forkpoint-trace", "kind": kind, "fingerprint": "forkpoint-1", "run": run, "axes": f"pp=0 tp={rank}",
             "writer": "make_owntrace.py"}
    if "reason" in more:
        texts["reason"] = more.pop("reason")
    for name, value in texts.items():
        value = value.encode()
        f.attrs.create(name, value, dtype=h5py.string_dtype("utf-8", max(len(value), 1)))
    for name, value in {"version": 1, "rank": rank, "world_size": 2, **more}.items():
        f.attrs.create(name, value, dtype="<i8")


def arrays(rank, step, fork):
    """Everything of one step, and what differs in the fork."""
    ids = (np.arange(8) * (step + 1) + rank).reshape(2, 4).astype("<i8")
    hidden = (np.arange(6).reshape(2, 3) / 8 + step).astype("<f4")
    if fork and rank == 1 and step >= 2:
        hidden[1, 2] = np.nextafter(hidden[1, 2], np.float32(100)) if step == 2 else hidden[1, 2] + 1
    loss = np.array(hidden.sum() / 4, "<f4")
    grad = (np.frombuffer(hidden.tobytes(), "<u2")[:4] | 1).astype("<u2")  # bfloat16 bits
    weight = np.arange(40000, dtype="<f4") * np.float32(loss)
    return ids, hidden, loss, grad, weight


def write_run(folder, run, fork):
    expected = []
    for rank in (0, 1):
        counts = [0, 0, 0]
        for number, steps in enumerate([(1, 2), (3, 3)]):
            s = Segment()
            if number == 0:
                for role, name, value in [(0, "select.stages", "batch,forward,loss,grad,weight"), (1, "world_size", "2"), (2, "torch", "2.15.0"),
                                          (3, "host", "alpha"), (4, "seed", "1234"), (5, "payload", "from step 2")]:
                    s.facts.append((role, s.text(name), s.text(value)))
            for step in range(steps[0], steps[1] + 1):
                ids, hidden, loss, grad, weight = arrays(rank, step, fork)
                s.record(STEP_BEGIN, step)
                s.record(VALUES, step, "scheduler", "group.0", values=[("lr", repr(0.001 * step))])
                s.record(TENSOR, step, "batch", "input", 0, outputs=[s.tensor("", "int64", ids, keep=step == 2)])
                for call, flags in ((0, 0), (1, 0), (0, 1)):  # called twice, then recomputed
                    s.record(TENSOR, step, "forward", "layers.0.fc1", 0, call=call, scope="layers.0", flags=flags,
                             inputs=[s.tensor("0", "int64", ids), s.tensor("1", "float32", hidden, absence=1)],
                             outputs=[s.tensor("", "float32", hidden, keep=step == 2)])
                s.record(TENSOR, step, "loss", "loss", 0, outputs=[s.tensor("", "float32", loss)], values=[("value", repr(float(loss)))])
                s.record(TENSOR, step, "grad", "layers.0.fc1.wéight", outputs=[s.tensor("", "bfloat16", grad, keep=step == 2)])
                s.record(TENSOR, step, "weight", "layers.0.fc1.wéight",
                         outputs=[s.tensor("", "float32", weight, leaves=True, note="cpu, local shard of [80000]")])
                s.record(STEP_END, step)
            names = list(s.strings)
            tensors = iter(s.tensors)
            for r in s.rows:
                ins, outs = ([next(tensors) for _ in range(n)] for n in r[9:11])
                expected.append({"rank": rank, "segment": number, "role": r[0], "step": r[1], "micro_batch": r[2], "sequence": r[3],
                                 "stage": names[r[4]], "name": names[r[5]], "call": r[7], "flags": r[8],
                                 "inputs": [describe(names, t) for t in ins], "outputs": [describe(names, t) for t in outs]})
            s.write(folder / f"rank_{rank}" / f"steps_{steps[0]}-{steps[1]}.h5", run, rank, number, *steps)
            counts = [c + len(x) for c, x in zip(counts, (s.rows, s.tensors, s.values))]
            kept = len(s.payload) + (kept if number else 0)
        half = folder / f"rank_{rank}" / "end.h5.tmp"
        with h5py.File(half, "w", libver=("v110", "v110")) as f:
            attributes(f, "end", run, rank, reason="complete", segments=2, records=counts[0], tensors=counts[1], values=counts[2],
                       payload_bytes=kept, payload_left_out=0)
        half.rename(half.with_suffix(""))
    return expected


def describe(names, t):
    return {"path": names[t[0]], "dtype": names[t[1]], "shape": list(t[2]), "bytes": t[3], "absence": t[4],
            "content": t[5].hex(), "tensor": t[6].hex(), "payload": t[8], "leaves": t[9]}


def main(out):
    document = {name: write_run(out / name, f"{number:032x}", number == 2) for number, name in ((1, "a"), (2, "b"))}
    lines = {name: ",\n".join("  " + json.dumps(r, ensure_ascii=False) for r in rows) for name, rows in document.items()}
    (out / "expected.json").write_text("{\n" + ",\n".join(f' "{n}": [\n{text}\n ]' for n, text in lines.items()) + "\n}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent)
