#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fingerprint files against a reading of resources/docs/fpx.md that shares no code with the writer:

    fpx_oracle.py CLI SAMPLES

Files that the program wrote of the bundled runs and of tensors made here are taken apart, their digests computed anew
from the elements, their catalogues compared with `inspect --json`. Then comparisons that use them. 77: no xxhash module.
"""
import ctypes.util
import hashlib
import json
import math
import os
import pickle
import signal
import struct
import subprocess
import sys
import tempfile
import time

try:
    from xxhash import xxh3_128
except ImportError:
    print("python3-xxhash is not installed")
    sys.exit(77)

LEAF, FAN_OUT = 65536, 256
CLASSES = "weights optimizer scheduler counter rng data scaler recipe topology container bookkeeping unknown".split()
TYPES = "none bool int float str bytes numbers opaque empty link".split()
failed = 0


def check(what, got, expected):
    global failed
    if got != expected:
        failed += 1
        print(f"{what}:\n  got      {str(got)[:300]}\n  expected {str(expected)[:300]}")


def unzstd(frame, size):
    name = ctypes.util.find_library("zstd")
    if name is None:
        print("libzstd is not found")
        sys.exit(77)
    lib = ctypes.CDLL(name)
    lib.ZSTD_decompress.restype = ctypes.c_size_t
    out = ctypes.create_string_buffer(size)
    got = lib.ZSTD_decompress(out, ctypes.c_size_t(size), frame, ctypes.c_size_t(len(frame)))
    return out.raw if got == size else None


class Body:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, n):
        assert self.at + n <= len(self.data), "ends inside an item"
        self.at += n
        return self.data[self.at - n:self.at]

    def number(self, form):
        return struct.unpack("<" + form, self.take(struct.calcsize("<" + form)))[0]

    u8 = lambda self: self.number("B")
    u32 = lambda self: self.number("I")
    u64 = lambda self: self.number("Q")
    i64 = lambda self: self.number("q")
    f64 = lambda self: self.number("d")
    text = lambda self: self.take(self.u32()).decode("utf-8", "surrogateescape")
    digest = lambda self: self.take(16)

    def flag(self):
        value = self.u8()
        assert value in (0, 1)
        return bool(value)

    def many(self, item):
        return [item() for _ in range(self.u64())]

    def optional(self, item):
        there, value = self.flag(), item()
        return value if there else None

    def error(self):
        return [self.text() for _ in range(4)]

    def diagnostics(self):
        return self.many(lambda: [self.u8()] + self.error())

    def path(self):
        keys = []
        for _ in range(self.u32()):
            kind, number, text = self.u8(), self.i64(), self.text()
            keys.append(number if kind == 1 and not text else text)
        return keys

    def digests(self):
        d = {"content": self.digest(), "level": self.u8(), "nodes": self.many(self.digest)}
        if self.flag():
            d["facts"] = {"finite": self.u64(), "nan": self.u64(), "inf": self.u64(), "rms": self.optional(self.f64)}
        return d

    def tensor(self):
        t = {"path": self.path(), "name": self.text(), "class": self.text(), "dtype": self.text(), "bits": self.u32(),
             "packing": self.u32()}
        t["shape"] = [self.u64() for _ in range(self.u32())]
        t["files"] = [self.u32() for _ in range(self.u32())]
        t["order"], t["execution"], t["owner"], t["known"], t["note"] = self.u64(), self.u64(), self.u32(), self.flag(), self.text()
        if self.flag():
            t["digests"] = self.digests()
        else:
            t["error"] = self.error()
        return t

    def value(self):
        v = {"path": self.path(), "name": self.text(), "class": self.text(), "file": self.u32(), "type": TYPES[self.u8()]}
        kinds = [lambda: None, self.flag, self.i64, self.u64, self.f64, self.text]
        v["value"], v["count"], v["sha256"] = kinds[self.u8()](), self.u64(), self.text()
        return v

    def checkpoint(self):
        c = {"step": self.optional(self.i64), "named": self.optional(self.i64), "complete": self.flag(), "path": self.text(),
             "format": self.text(), "whole": self.flag(), "files": self.many(self.text)}
        c["owners"] = self.many(lambda: [(self.text(), self.i64()) for _ in range(self.u32())])
        c["tensors"], c["values"], c["diagnostics"] = self.many(self.tensor), self.many(self.value), self.diagnostics()
        return c


def read(path):
    data = open(path, "rb").read()
    check("magic", data[:8], bytes.fromhex("894650580d0a1a0a"))
    version, compression, stored, size = struct.unpack("<IIQQ", data[8:32])
    check("version", version, 2)
    check("stored length", stored, len(data) - 64)
    raw = data[64:] if compression == 0 else unzstd(data[64:], size)
    check("body length", len(raw), size)
    check("checksum", hashlib.sha256(data[:32] + raw).digest(), data[32:64])
    body = Body(raw)
    check("version of fingerprints", body.u32(), 1)
    run = {"format": body.text(), "complete": body.flag(), "diagnostics": body.diagnostics(), "checkpoints": body.many(body.checkpoint)}
    check("behind the last item", len(raw) - body.at, 0)
    return run


def levels(stream):
    nodes = [xxh3_128(stream[i:i + LEAF]).digest() for i in range(0, len(stream), LEAF)] or [xxh3_128(b"").digest()]
    all_levels = [nodes]
    while len(nodes) > 1:
        groups = [nodes[i:i + FAN_OUT] for i in range(0, len(nodes), FAN_OUT)]
        head = b"forkpoint-nd" + struct.pack("<II", 1, len(all_levels))
        nodes = [xxh3_128(head + struct.pack("<I", len(g)) + b"".join(g)).digest() for g in groups]
        all_levels.append(nodes)
    return all_levels


class Cli:
    def __init__(self, program, folder):
        self.program = program
        self.env = {**os.environ, "XDG_CACHE_HOME": os.path.join(folder, "cache")}

    def run(self, *arguments, expect=None):
        done = subprocess.run([self.program, *arguments], capture_output=True, env=self.env)
        if expect is not None:
            check(f"exit status of {' '.join(arguments)}: {done.stderr.decode()[:200]}", done.returncode, expect)
        return done

    def json(self, *arguments, expect=None):
        return json.loads(self.run(*arguments, "--json", expect=expect).stdout)


def plain(value):
    """A value as `inspect` writes it."""
    if value["type"] in ("bytes", "numbers"):
        return {"type": value["type"], "count": value["count"], "sha256": value["sha256"]}
    return value["value"]


def catalogue(cli, fpx, run):
    for checkpoint in read(fpx)["checkpoints"]:
        step = [] if checkpoint["step"] is None else ["--step", str(checkpoint["step"])]
        shown = cli.json("inspect", run, *step, "--digest", "sha256", expect=0)
        check("tensors", [t["name"] for t in checkpoint["tensors"]], [t["name"] for t in shown["tensors"]])
        for ours, theirs in zip(checkpoint["tensors"], shown["tensors"]):
            check(ours["name"], [ours[k] for k in ("path", "class", "dtype", "shape")],
                  [theirs[k] for k in ("path", "class", "dtype", "shape")])
            check(ours["name"] + ", files", [checkpoint["files"][f] for f in ours["files"]], theirs.get("files", []))
        check("values", [v["name"] for v in checkpoint["values"]], [v["name"] for v in shown["values"]])
        for ours, theirs in zip(checkpoint["values"], shown["values"]):
            check(ours["name"], [ours["path"], ours["class"], ours["type"]], [theirs["path"], theirs["class"], theirs["type"]])
            if ours["type"] in ("bool", "int", "str"):
                expected = theirs["value"]
                check(ours["name"], plain(ours), int(expected) if ours["type"] == "int" and isinstance(plain(ours), int) else expected)
        digests = cli.json("fingerprint", run, *step, "--no-index", expect=0)["tensors"]
        check("contents", [t["digests"]["content"].hex() for t in checkpoint["tensors"]], [t["content"] for t in digests])


def safetensors(path, tensors):
    header, data = {}, b""
    for name, dtype, shape, raw in tensors:
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def made(cli, folder):
    """Tensors whose digests and facts are computed here."""
    numbers = struct.pack("<40000f", *(math.sin(i) for i in range(40000)))
    odd = struct.pack("<5f", 1.5, math.nan, -math.inf, math.inf, 2.0)
    long = bytes((i * 131 + (i >> 8) * 7 + 3) & 255 for i in range(LEAF)) * 257
    path, fpx = os.path.join(folder, "made.safetensors"), os.path.join(folder, "made.fpx")
    tensors = [("empty", "F32", [0], b""), ("long", "U8", [len(long)], long), ("numbers", "F32", [40000], numbers), ("odd", "F32", [5], odd)]
    safetensors(path, tensors)
    cli.run("fingerprint", path, "--out", fpx, expect=0)
    for (name, _, _, raw), tensor in zip(tensors, read(fpx)["checkpoints"][0]["tensors"]):
        tree = levels(raw)
        check(name + ", content", tensor["digests"]["content"], tree[-1][0])
        check(name + ", level", tensor["digests"]["level"], 0)
        check(name + ", nodes", tensor["digests"]["nodes"], tree[0] if len(tree[0]) > 1 else [])
        facts = tensor["digests"].get("facts")
        check(name + ", facts are of floats", facts is not None, name != "long")
        if facts:
            values = [v for v in struct.unpack(f"<{len(raw) // 4}f", raw)]
            finite = [v for v in values if math.isfinite(v)]
            check(name + ", counts", [facts["finite"], facts["nan"], facts["inf"]],
                  [len(finite), sum(map(math.isnan, values)), sum(map(math.isinf, values))])
            rms = math.sqrt(math.fsum(v * v for v in finite) / len(finite)) if finite else None
            check(name + ", rms", facts["rms"] is None, rms is None)
            if rms:
                check(name + ", rms", abs(facts["rms"] / rms - 1) < 1e-12, True)
    return path, fpx, tensors


def rows(document):
    return {row["name"]: row for row in document["tensors"]}


def comparisons(cli, folder, path, fpx, tensors):
    verdict = cli.json("compare", fpx, path, "--no-index", expect=0)["verdict"]
    check("against itself", [verdict["outcome"], verdict["strength"]], ["identical", "xxh3-128"])
    check("both files", cli.json("compare", fpx, fpx, expect=0)["verdict"]["strength"], "xxh3-128")
    # One element of the last leaf of `long`, and element 20000 of `numbers`: leaf 1.
    raw = {name: bytearray(data) for name, _, _, data in tensors}
    raw["long"][256 * LEAF + 5] ^= 1
    raw["numbers"][4 * 20000] ^= 1
    other, other_fpx = os.path.join(folder, "other.safetensors"), os.path.join(folder, "other.fpx")
    safetensors(other, [(n, d, s, bytes(raw[n])) for n, d, s, _ in tensors])
    cli.run("fingerprint", other, "--out", other_fpx, expect=0)
    for a, b in ((fpx, other_fpx), (fpx, other), (path, other_fpx)):
        document = cli.json("compare", a, b, "--no-index", expect=1)
        check("strength", document["verdict"]["strength"], "xxh3-128")
        found = rows(document)
        check("statuses", [found[n]["status"] for n in ("empty", "long", "numbers", "odd")],
              ["identical", "different", "different", "identical"])
        for name, where in (("long", f"elements {256 * LEAF}-{257 * LEAF - 1} (bytes {256 * LEAF}-{257 * LEAF - 1})"),
                            ("numbers", "elements 16384-32767 (bytes 65536-131071)")):
            check(name + ", place", where in found[name]["reason"], True)
            check(name + ", statistics", [k for k in found[name] if k in ("different_elements", "max_abs", "first_index", "rms")], [])
        # Whether floats differ within a tolerance only elements would tell; bytes have none.
        tolerant = cli.json("compare", a, b, "--no-index", "--atol", "1e9", expect=1)
        check("tolerance", [rows(tolerant)[n]["status"] for n in ("numbers", "long")], ["not-compared", "different"])
        cli.json("compare", a, b, "--no-index", "--atol", "1e9", "--exclude", "long", expect=3)
    check("elements are refused", cli.run("elements", fpx, other, "--tensor", "numbers").returncode in (2, 3), True)
    cli.run("extract", fpx, "--tensor", "numbers", "-o", os.path.join(folder, "x"), expect=2)
    check("inspect", len(cli.json("inspect", fpx, expect=0)["tensors"]), 4)
    printed = cli.json("fingerprint", path, "--no-index")["tensors"]
    check("fingerprint of it", cli.json("fingerprint", fpx, expect=0)["tensors"], printed)
    cli.run("fingerprint", path, "--out", path, expect=2)  # never over what is read


def numbers(cli, folder):
    """Long lists, which are one value: equal by value whatever wrote them, and not by their bits alone."""
    lists = {"ints": list(range(100)), "floats": [float(i) for i in range(100)], "mixed": [0.0, *range(1, 100)],
             "bits": [0x3FF0000000000000] * 100, "ones": [1.0] * 100, "long": [7] * 70000, "long_floats": [7.0] * 70000}
    files = {name: os.path.join(folder, name + ".pkl") for name in lists}
    for name, items in lists.items():
        with open(files[name], "wb") as file:
            pickle.dump(items, file)
        cli.run("fingerprint", files[name], "--out", files[name] + ".fpx", "--no-index", expect=0)
        value = read(files[name] + ".fpx")["checkpoints"][0]["values"][0]
        kinds = "".join("f" if isinstance(item, float) else "i" for item in items)
        told = {"i": "int", "f": "float"}.get("".join(sorted(set(kinds)))) or hashlib.sha256(kinds.encode()).hexdigest()
        whole = hashlib.sha256(struct.pack(f"<{len(items)}q", *map(int, items))).hexdigest()
        check(name, value["value"], f"{told}\n{whole}\n")
    for a, b, strict, status in (("ints", "floats", False, 0), ("ints", "floats", True, 1), ("ints", "mixed", False, 0),
                                 ("floats", "mixed", False, 0), ("floats", "mixed", True, 1), ("ints", "ints", True, 0),
                                 ("bits", "ones", False, 1), ("bits", "ones", True, 1), ("long", "long_floats", False, 0),
                                 ("ints", "ones", False, 1)):
        for left, right in ((files[a], files[b]), (files[a] + ".fpx", files[b]), (files[a] + ".fpx", files[b] + ".fpx")):
            cli.run("compare", left, right, "--no-index", *(["--strict-values"] if strict else []), expect=status)


def series(cli, folder, samples):
    names = {}
    for run in ("A", "C"):
        names[run] = os.path.join(folder, run + ".fpx")
        cli.run("fingerprint", os.path.join(samples, run), "--out", names[run], expect=0)
        catalogue(cli, names[run], os.path.join(samples, run))
    expected = cli.json("compare", *(os.path.join(samples, run) for run in "AC"), "--no-index", expect=1)
    for a, b in ((names["A"], names["C"]), (names["A"], os.path.join(samples, "C"))):
        got = cli.json("compare", a, b, "--no-index", expect=1)
        for key in ("step", "counts", "steps", "values", "by_class"):
            check("series, " + key, got.get(key), expected.get(key))
        check("series, statuses", [(r["name"], r["status"]) for r in got["tensors"]],
              [(r["name"], r["status"]) for r in expected["tensors"]])
        check("series, first", got["first_divergence"]["name"], expected["first_divergence"]["name"])


def npy(path, values):
    text = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({len(values)},), }}"
    text += " " * (-(len(text) + 11) % 64) + "\n"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\0" + struct.pack("<H", len(text)) + text.encode() + struct.pack(f"<{len(values)}f", *values))


def traces(cli, folder):
    """Of a run with a trace the tensors of every step are carried, and no pair of files is said to be equal."""
    for run, first in (("t1", 1.0), ("t2", 1.0), ("t3", 1.5)):
        for step in range(2):
            for name, value in (("x", first if step == 0 else 2.0), *((f"y{i}", 3.0) for i in range(9))):
                npy(os.path.join(folder, run, f"step_{step}", "rank_0", name + ".npy"), [value] * 8)
        told = cli.run("fingerprint", os.path.join(folder, run), "--out", os.path.join(folder, run + ".fpx"), expect=0).stderr.decode()
        check("the trace is told", "has a trace, whose records a fingerprint file does not carry" in told, True)
    def outcome(a, b, expect):
        return cli.json("compare", os.path.join(folder, a), os.path.join(folder, b), expect=expect)["verdict"]["outcome"]
    check("equal traces", outcome("t1", "t2", 0), "identical")
    check("unlike traces", outcome("t1", "t3", 1), "different")
    check("files of equal traces", outcome("t1.fpx", "t2.fpx", 3), "undecided")
    check("files of unlike traces", outcome("t1.fpx", "t3.fpx", 1), "different")
    check("their steps", [step["step"] for step in cli.json("compare", os.path.join(folder, "t1.fpx"), os.path.join(folder, "t3.fpx"),
                                                             expect=1)["steps"]], [0, 1])
    log = os.path.join(folder, "log.csv")
    with open(log, "w") as file:
        file.write("step,loss\n1,0.5\n2,0.25\n")
    told = cli.run("fingerprint", log, "--out", log + ".fpx", expect=2).stderr.decode()
    check("a log is refused", "no tensors, which a fingerprint file does not carry" in told, True)


def size_of(path):
    try:
        return os.path.getsize(path)
    except FileNotFoundError:
        return 0


def interrupted(cli, folder):
    """Killed at any time: the same command goes on and ends with the same bytes."""
    path, whole, out = (os.path.join(folder, n) for n in ("big.safetensors", "whole.fpx", "killed.fpx"))
    block = os.urandom(1 << 20)
    safetensors(path, [(f"t{i:02}", "U8", [len(block)], block[i:] + block[:i]) for i in range(48)])
    time.sleep(2.1)  # younger files are not relied on
    cli.run("fingerprint", path, "--out", whole, "--no-index", expect=0)
    for _ in range(6):
        process = subprocess.Popen([cli.program, "fingerprint", path, "--out", out, "--no-index", "--threads", "1"], env=cli.env,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 20
        size = size_of(out + ".resume")
        # Until something is journalled beyond what was there.
        while process.poll() is None and time.monotonic() < deadline:
            if size_of(out + ".resume") > size:
                break
        process.send_signal(signal.SIGKILL)
        process.wait()
        if os.path.exists(out):  # it was done sooner than it could be killed
            os.remove(out)
    went_on = False
    if os.path.exists(out + ".resume"):
        with open(out + ".resume", "r+b") as journal:
            begun = journal.read(16)
            whole_record = len(begun) == 16 and size_of(out + ".resume") >= 32 + struct.unpack("<Q", begun[8:])[0]
            journal.seek(0, os.SEEK_END)
            journal.write(b"\x40\0\0\0\0\0\0\0half")  # as if it had died in the middle of a record
        went_on = whole_record
    done = cli.run("fingerprint", path, "--out", out, "--no-index", expect=0)
    if went_on:
        check("says that it went on", b"went on" in done.stderr, True)
    check("the same file", open(out, "rb").read(), open(whole, "rb").read())
    check("no journal is left", os.path.exists(out + ".resume"), False)
    with open(out + ".resume", "w") as foreign:
        foreign.write("notes of mine")
    cli.run("fingerprint", path, "--out", out, "--no-index", expect=2)
    check("what is no journal stays", open(out + ".resume").read(), "notes of mine")


def main():
    with tempfile.TemporaryDirectory() as folder:
        cli = Cli(sys.argv[1], folder)
        comparisons(cli, folder, *made(cli, folder))
        numbers(cli, folder)
        series(cli, folder, sys.argv[2])
        traces(cli, folder)
        interrupted(cli, folder)
    print("failed" if failed else "ok")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
