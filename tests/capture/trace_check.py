#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether folders hold traces as resources/docs/trace.md specifies them: trace_check.py FOLDER...

Shares no code with the module that writes them; fingerprints come from tests/gpu/fingerprint_oracle.py. 77 where python3-h5py,
python3-numpy or python3-xxhash is missing.
"""
import re
import sys
from pathlib import Path

try:
    import h5py
    import numpy as np
except ImportError as missing:
    print(f"not run: {missing}")
    sys.exit(77)

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "gpu"))
import fingerprint_oracle as oracle  # noqa: E402

TENSOR, VALUES, STEP_BEGIN, STEP_END, FAILURE = 0, 3, 4, 5, 6


class Segment:
    """One file, read into lists; `problems` says where it is not as specified."""

    def __init__(self, path):
        self.path, self.problems = path, []
        with h5py.File(path, "r") as f:
            self.attributes = {k: v.decode().rstrip("\0") if isinstance(v, bytes) else int(v) for k, v in f.attrs.items()}
            data, end = f["strings/bytes"][:].tobytes(), f["strings/end"][:].tolist()
            self.strings = [data[a:b].decode() for a, b in zip([0, *end], end)]
            table = lambda group: {name: d[:].tolist() for name, d in f[group].items() if d.ndim == 1}
            records, tensors, values, facts = (table(g) for g in ("records", "tensors", "values", "facts"))
            dims, digests = tensors.pop("dims"), [f["tensors/" + n][:] for n in ("content", "tensor")]
            payload = payload_of(f["payload"]) if "payload" in f else b""
            leaves = f["leaves"][:] if "leaves" in f else np.zeros((0, 16), "u1")
        self.facts = [(r, self.strings[n], self.strings[v]) for r, n, v in zip(facts["role"], facts["name"], facts["value"])]
        self.tensors = []
        for i, rank in enumerate(tensors["rank"]):
            shape, dims = dims[:rank], dims[rank:]
            row = {n: c[i] for n, c in tensors.items()}
            row.update(shape=shape, path=self.strings[row["path"]], dtype=self.strings[row["dtype"]], note=self.strings[row["note"]],
                       content=digests[0][i].tobytes(), tensor=digests[1][i].tobytes(), kept=None)
            self._check_tensor(row, payload, leaves)
            self.tensors.append(row)
        self._say(bool(dims), "dimensions are left over")
        self._join(records, values)
        counts = {"records": len(self.records), "tensors": len(self.tensors), "values": len(values["name"])}
        for name, count in counts.items():
            self._say(self.attributes[name] != count, f"says {self.attributes[name]} {name}, holds {count}")

    def _say(self, applies, text):
        if applies:
            self.problems.append(f"{self.path.name}: {text}")

    def _check_tensor(self, t, payload, leaves):
        if t["absence"]:
            return self._say(any(t["content"] + t["tensor"]), "a digest of a tensor that is absent")
        head = len(t["dtype"]).to_bytes(4, "little") + t["dtype"].encode() + len(t["shape"]).to_bytes(4, "little")
        dims = b"".join(d.to_bytes(8, "little") for d in t["shape"]) + t["bytes"].to_bytes(8, "little")
        whole = oracle.digest(b"forkpoint-tn" + oracle.u32(1) + head + dims + t["content"])
        self._say(whole != t["tensor"], f"the digest of a tensor {t['dtype']} {t['shape']} does not follow from its content")
        if t["payload"] >= 0:
            t["kept"] = payload[t["payload"]:t["payload"] + t["bytes"]]
            self._say(oracle.content(t["kept"]) != t["content"], "a payload does not have the digest of its content")
        if t["leaves"] >= 0:
            count = -(-t["bytes"] // oracle.LEAF)
            nodes = [d.tobytes() for d in leaves[t["leaves"]:t["leaves"] + count]]
            self._say(root(nodes) != t["content"], "leaves do not lead to the content digest")

    def _join(self, records, values):
        at, told, self.records = 0, 0, []
        columns = list(records)
        for row in zip(*records.values()):
            r = dict(zip(columns, row))
            r.update({c: self.strings[r[c]] for c in ("stage", "name", "scope")})
            ends = at + r["inputs"], at + r["inputs"] + r["outputs"]
            count = r["values"]
            r["values"] = [(self.strings[n], self.strings[v]) for n, v in
                           zip(values["name"][told:told + count], values["value"][told:told + count])]
            r["inputs"], r["outputs"] = self.tensors[at:ends[0]], self.tensors[ends[0]:ends[1]]
            at, told = ends[1], told + count
            self.records.append(r)
        self._say(at != len(self.tensors) or told != len(values["name"]), "records do not share out the tensors and values")
        self._check_steps()

    def _check_steps(self):
        seen, last = set(), None
        for r in self.records:
            if last is None or r["step"] != last["step"]:
                self._say(r["role"] != STEP_BEGIN or r["sequence"] != 0, f"step {r['step']} does not begin")
                self._say(last is not None and last["role"] not in (STEP_END, FAILURE), f"the step before {r['step']} does not end")
            else:
                self._say(r["sequence"] != last["sequence"] + 1, f"sequence {r['sequence']} follows {last['sequence']}")
            identity = (r["step"], r["micro_batch"], r["stage"], r["name"], r["flags"], r["call"])
            self._say(r["role"] in (TENSOR, VALUES) and identity in seen, f"two records of {identity}")
            seen.add(identity)
            last = r
        if self.records:
            steps = (self.records[0]["step"], self.records[-1]["step"])
            named = re.fullmatch(r"steps_(\d+)-(\d+)\.h5", self.path.name)
            self._say(not named or (int(named[1]), int(named[2])) != steps, "its name says other steps than its records")
            self._say((self.attributes["first_step"], self.attributes["last_step"]) != steps, "says other steps than its records")


def payload_of(dataset):
    """Its bytes; zstd, which h5py knows by a plug-in alone, chunk by chunk."""
    if dataset.chunks is None or dataset.id.get_create_plist().get_filter(0)[0] != 32015:
        return dataset[:].tobytes()
    import zstandard
    chunks = [dataset.id.read_direct_chunk((at,))[1] for at in range(0, len(dataset), dataset.chunks[0])]
    return b"".join(zstandard.ZstdDecompressor().decompress(c) for c in chunks)[:len(dataset)]


def root(nodes):
    if not nodes:
        return oracle.digest(b"")
    level = 0
    while len(nodes) > 1:
        level += 1
        groups = [nodes[i:i + oracle.FAN_OUT] for i in range(0, len(nodes), oracle.FAN_OUT)]
        nodes = [oracle.digest(b"forkpoint-nd" + oracle.u32(1) + oracle.u32(level) + oracle.u32(len(g)) + b"".join(g)) for g in groups]
    return nodes[0]


class Trace:
    """The segments of one rank, in order, with what is wrong with them together."""

    def __init__(self, folder):
        names = [p.name for p in folder.iterdir()]
        self.problems = [f"{n} is not renamed" for n in names if n.endswith(".tmp")]
        self.problems += [f"{n} has no business here" for n in names if not re.fullmatch(r"(steps_\d+-\d+|end)\.h5(\.tmp)?", n)]
        self.segments = sorted((Segment(folder / n) for n in names if re.fullmatch(r"steps_\d+-\d+\.h5", n)), key=lambda s: s.attributes["segment"])
        self.records = [r for s in self.segments for r in s.records]
        self.facts = [f for s in self.segments for f in s.facts]
        for number, s in enumerate(self.segments):
            self.problems += s.problems
            if s.attributes["segment"] != number:
                self.problems.append(f"segment {number} is missing")
            if number and s.facts:
                self.problems.append(f"segment {number} tells facts again")
        self.end = None
        if not (folder / "end.h5").exists():
            self.problems.append("there is no end marker")
            return
        with h5py.File(folder / "end.h5", "r") as f:
            self.end = {k: v.decode().rstrip("\0") if isinstance(v, bytes) else int(v) for k, v in f.attrs.items()}
        self._check_end()

    def _check_end(self):
        sums = {n: sum(s.attributes[n] for s in self.segments) for n in ("records", "tensors", "values")}
        for name, count in {**sums, "segments": len(self.segments)}.items():
            if self.end[name] != count:
                self.problems.append(f"the end marker says {self.end[name]} {name}, there are {count}")
        for name, value in (("format", "forkpoint-trace"), ("version", 1), ("fingerprint", "forkpoint-1"), ("kind", "end"), ("reason", "complete")):
            if self.end[name] != value:
                self.problems.append(f"{name} of the end marker is {self.end[name]}")
        for s in self.segments:
            for name in ("format", "version", "fingerprint", "run", "rank", "world_size", "axes"):
                if s.attributes[name] != self.end[name]:
                    self.problems.append(f"{s.path.name} and the end marker disagree on {name}")

    def find(self, stage, name=None, **more):
        return [r for r in self.records if r["stage"] == stage and name in (None, r["name"]) and all(r[k] == v for k, v in more.items())]


def ranks_of(folder):
    return sorted(folder.glob("rank_*"))


if __name__ == "__main__":
    failed = False
    for folder in map(Path, sys.argv[1:]):
        ranks = ranks_of(folder)
        if not ranks:
            sys.exit(f"{folder} holds no trace")
        for rank in ranks:
            trace = Trace(rank)
            print(f"{folder.name}/{rank.name}: {len(trace.segments)} segments, {len(trace.records)} records"
                  + "".join(f"\n  {p}" for p in trace.problems))
            failed = failed or bool(trace.problems)
    sys.exit(failed)
