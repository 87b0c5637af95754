# SPDX-License-Identifier: GPL-3.0-or-later
"""Prints what tests/app/tst_cli.cpp expects of the bundled runs, without torch and without our code:
Python's zipfile and pickle read the checkpoints, struct and xxhsum -H2 look at the bytes."""
import hashlib
import pathlib
import pickle
import struct
import subprocess
import sys
import zipfile

SAMPLES = pathlib.Path(__file__).resolve().parents[3] / "resources" / "samples"


class Plain(dict):
    """Takes the attributes that torch pickles beside an OrderedDict."""


class Stub:
    """Any other object; of a numpy array the state holds shape and bytes."""

    state = ()

    def __init__(self, *arguments):
        pass

    def __setstate__(self, state):
        self.state = state


class Reader(pickle.Unpickler):
    def persistent_load(self, pid):
        return pid[2]  # the key of the storage

    def find_class(self, module, name):
        if name == "_rebuild_tensor_v2":
            return lambda storage, offset, shape, stride, *rest: ("tensor", storage, offset, tuple(shape))
        if (module, name) == ("collections", "OrderedDict"):
            return Plain
        if (module, name) == ("_codecs", "encode"):  # how protocol 2 spells bytes
            return lambda text, encoding: text.encode(encoding)
        return Stub


def tensors(path):
    """Dotted name -> (storage bytes, shape). The samples hold contiguous float32 and uint8 tensors."""
    archive = zipfile.ZipFile(path)
    root = next(n for n in archive.namelist() if n.endswith("/data.pkl"))[: -len("data.pkl")]
    found = {}

    def walk(value, name):
        if isinstance(value, dict):
            for key, item in value.items():
                walk(item, name + [str(key)])
        elif isinstance(value, (list, tuple)) and value[:1] != ("tensor",):
            for i, item in enumerate(value):
                walk(item, name + [str(i)])
        elif isinstance(value, Stub) and len(value.state) == 5 and isinstance(value.state[4], bytes):
            found[".".join(name)] = (value.state[4], value.state[1])
        elif isinstance(value, tuple):
            found[".".join(name)] = (archive.read(f"{root}data/{value[1]}"), value[3])

    walk(Reader(archive.open(root + "data.pkl")).load(), [])
    return found


def main():
    runs = {r: {s: tensors(SAMPLES / r / f"step_{s:06}.pt") for s in (4, 8, 12) if (SAMPLES / r / f"step_{s:06}.pt").exists()} for r in "ACD"}
    for other in "CD":
        for step in sorted(runs[other]):
            a, b = runs["A"][step], runs[other][step]
            differing = [n for n in a if a[n] != b.get(n)]
            print(f"A {other} step {step}: {len(a)} tensors, {len(differing)} differ")
    for name in ("model.lm_head.weight", "model.embed_tokens.weight"):
        a, c = runs["A"][12].get(name), runs["C"][12].get(name)
        if not a:
            continue
        words = [struct.unpack(f"<{len(x[0]) // 4}I", x[0]) for x in (a, c)]
        where = [i for i, (x, y) in enumerate(zip(*words)) if x != y]
        digest = subprocess.run(["xxhsum", "-H2"], input=a[0], capture_output=True, check=True).stdout.split()[0].decode()
        print(name, a[1], len(a[0]), "bytes", "sha256", hashlib.sha256(a[0]).hexdigest(), "xxh128", digest)
        print("  A:C at 12:", len(where), "differ, first", where[0], "last", where[-1],
              f"bits {words[0][where[0]]:08x} {words[1][where[0]]:08x}")
    raw = (SAMPLES.parents[1] / "tests/data/npy/f4.npy").read_bytes()
    data = raw[10 + int.from_bytes(raw[8:10], "little"):]
    print("f4.npy", len(data), "xxh128", subprocess.run(["xxhsum", "-H2"], input=data, capture_output=True, check=True).stdout.split()[0].decode(),
          "sha256", hashlib.sha256(data).hexdigest())
    return 0


if __name__ == "__main__":
    sys.exit(main())
