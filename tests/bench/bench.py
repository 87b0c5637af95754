#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Prints how long Forkpoint takes against what one would otherwise run, beside the goals:

    tests/bench/bench.py BUILD [--size MIB] [--pairs N] [--threads N] [--folder DIR] [--only WORD]

Rows of others need hdf5-tools, b3sum, xxhash, and numpy and torch in the Python that runs this; what is missing is said.
BUILD is a build folder with forkpoint-cli and bench_kernels (cmake --build BUILD --target forkpoint-cli
bench_kernels). Files of SIZE MiB a side are made in DIR and removed. Both sides of a row run in turn, PAIRS times after
one that warms up; the ratio is the median of the ratios of the turns. A peer that is not installed is said to be.
Nothing here passes or fails: rates depend on the machine, and on who else uses it.
"""
import argparse
import collections
import json
import os
import pickle
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import types
import zipfile

BLOCK = 16 << 20
NUMPY = """
import sys, json, struct, numpy
def load(path):
    with open(path, "rb") as file:
        size = struct.unpack("<Q", file.read(8))[0]
        header = json.loads(file.read(size))
        return {k: numpy.frombuffer(file.read(v["data_offsets"][1] - v["data_offsets"][0]), "<f4") for k, v in header.items()}
a, b = load(sys.argv[1]), load(sys.argv[2])
for k in a:
    x, y = a[k].astype("f8"), b[k].astype("f8")
    d = numpy.abs(x - y)
    print(k, (a[k] != b[k]).sum(), d.max(), d.mean(), numpy.sqrt((d * d).mean()), (x * y).sum() / numpy.sqrt((x * x).sum() * (y * y).sum()))
"""

TORCH = """
import sys, torch
a, b = torch.load(sys.argv[1]), torch.load(sys.argv[2])
for k in a:
    x, y = a[k].double(), b[k].double()
    d = (x - y).abs()
    print(k, int((a[k] != b[k]).sum()), float(d.max()), float(d.mean()), float((d * d).mean().sqrt()),
          float((x * y).sum() / ((x * x).sum() * (y * y).sum()).sqrt()))
"""
H5IMPORT = """PATH layer.0
INPUT-CLASS FP
INPUT-SIZE 32
INPUT-BYTE-ORDER LE
RANK 1
DIMENSION-SIZES {}
OUTPUT-CLASS FP
OUTPUT-SIZE 32
OUTPUT-ARCHITECTURE IEEE
OUTPUT-BYTE-ORDER LE
"""


# The rows of Bench.large_files, which makes 3 files for them.
LARGE = ("verdict on identical files", "verdict on identical files, cold", "verdict on identical files, torch zip",
         "fingerprint, 1 thread", "fingerprint, 2 threads", "full statistics, 100 % differing f32", "full statistics, numpy script of five figures",
         "full statistics, torch script of five figures")


def write_torch(path, tensors):
    """What torch.save writes of a dictionary of float32 tensors: (name, bytes, repeated block)."""
    torch, utils = types.ModuleType("torch"), types.ModuleType("torch._utils")
    kept = {name: sys.modules.get(name) for name in ("torch", "torch._utils")}
    sys.modules.update({"torch": torch, "torch._utils": utils})

    class FloatStorage:
        pass

    def _rebuild_tensor_v2(*_):
        pass

    FloatStorage.__module__, FloatStorage.__qualname__, torch.FloatStorage = "torch", "FloatStorage", FloatStorage
    _rebuild_tensor_v2.__module__, _rebuild_tensor_v2.__qualname__ = "torch._utils", "_rebuild_tensor_v2"
    utils._rebuild_tensor_v2 = _rebuild_tensor_v2

    class Storage:
        def __init__(self, key, count):
            self.key, self.count = key, count

    class Tensor:
        def __init__(self, storage):
            self.storage = storage

        def __reduce__(self):
            return utils._rebuild_tensor_v2, (self.storage, 0, (self.storage.count,), (1,), False, collections.OrderedDict())

    class Pickler(pickle.Pickler):
        def persistent_id(self, item):
            return ("storage", torch.FloatStorage, item.key, "cpu", item.count) if isinstance(item, Storage) else None

    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        with archive.open("archive/data.pkl", "w") as file:
            Pickler(file, protocol=2).dump({name: Tensor(Storage(str(i), size // 4)) for i, (name, size, _) in enumerate(tensors)})
        archive.writestr("archive/byteorder", "little")
        for i, (_, size, block) in enumerate(tensors):
            with archive.open(f"archive/data/{i}", "w", force_zip64=True) as file:
                while size > 0:
                    size -= file.write(block[:min(size, len(block))])
        archive.writestr("archive/version", "3\n")
    for name, module in kept.items():
        if module is None:
            del sys.modules[name]
        else:
            sys.modules[name] = module


def write_hdf5(path, size, block):
    """With h5import, the same numbers as the other formats have; False where it is not installed."""
    if shutil.which("h5import") is None:
        return False
    with open(path + ".raw", "wb") as raw:
        left = size
        while left > 0:
            left -= raw.write(block[:min(left, len(block))])
    with open(path + ".conf", "w") as conf:
        conf.write(H5IMPORT.format(size // 4))
    done = subprocess.run(["h5import", path + ".raw", "-c", path + ".conf", "-o", path], capture_output=True)
    os.remove(path + ".raw")
    os.remove(path + ".conf")
    return done.returncode == 0


def importable(module):
    return subprocess.run([sys.executable, "-c", "import " + module], capture_output=True).returncode == 0


def write_safetensors(path, tensors):
    """tensors: (name, dtype, bytes of an element, size, repeated block)."""
    header, at = {}, 0
    for name, dtype, width, size, _ in tensors:
        header[name] = {"dtype": dtype, "shape": [size // width], "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header, separators=(",", ":")).encode()   # of a million tensors 100 MB may be the header
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for _, _, _, size, block in tensors:
            if block is None:
                file.truncate(8 + len(text) + at)   # a hole
                continue
            while size > 0:
                size -= file.write(block[:min(size, len(block))])
        file.flush()
        os.fsync(file.fileno())


def float_blocks():
    """Numbers between 2^-7 and 2^-5 of either sign, and the same with every last byte changed."""
    a = bytearray(os.urandom(BLOCK))
    a[3::4] = bytes(a[3::4]).translate(bytes(0x3C | (i & 0x80) for i in range(256)))
    b = bytearray(a)
    b[0::4] = bytes(b[0::4]).translate(bytes((i + 1 + i % 7) & 255 for i in range(256)))
    return bytes(a), bytes(b)


def forget(*paths):
    for path in paths:
        with open(path, "rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


# The peak of a child counts what its parent held when it was started: a small parent in between.
PEAK = """
import os, subprocess, sys
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print(os.wait4(process.pid, 0)[2].ru_maxrss * 1024)
"""


def peak_of(command):
    return int(subprocess.run([sys.executable, "-S", "-c", PEAK, *command], capture_output=True, text=True, check=True).stdout)


def timed(command, cold=()):
    forget(*cold)
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    status = process.wait()
    return time.perf_counter() - start, status


class Table:
    def __init__(self, pairs, only):
        self.pairs, self.only = pairs, only
        print(f"{'what':48} {'against':14} {'goal':>7} {'ratio':>7} {'from to':>13} {'ours':>9} {'peer':>9}")

    def wanted(self, what):
        return self.only is None or self.only in what

    def note(self, what, text):
        if self.wanted(what):
            print(f"{what:48} {text}", flush=True)

    def row(self, what, goal, ours, peer, statuses=(0, 1), cold=()):
        if not self.wanted(what):
            return
        if shutil.which(peer[0]) is None:
            seconds = sorted(timed(ours, cold)[0] for _ in range(3))[1]
            print(f"{what:48} {os.path.basename(peer[0]):14} {goal:7.2f}  not installed; ours {seconds:.3f} s", flush=True)
            return
        turns = []
        for turn in range(self.pairs + 1):
            mine, theirs = timed(ours, cold), timed(peer, cold)
            if mine[1] not in statuses or theirs[1] not in (0, 1):
                sys.exit(f"{what}: ended with {mine[1]} and {theirs[1]}")
            if turn > 0:
                turns.append((mine[0] / theirs[0], mine[0], theirs[0]))
        turns.sort()
        middle = turns[len(turns) // 2][0]
        seconds = [sorted(t[i] for t in turns)[len(turns) // 2] for i in (1, 2)]
        print(f"{what:48} {os.path.basename(peer[0]):14} {goal:7.2f} {middle:7.3f} {turns[0][0]:6.3f} {turns[-1][0]:6.3f} "
              f"{seconds[0]:8.3f}s {seconds[1]:8.3f}s", flush=True)


def kernels(table, build, goals):
    program = os.path.join(build, "tests", "bench_kernels")
    if not table.wanted("in memory") or not os.path.exists(program):
        return
    print("in memory, one thread, time on the processor: against reading both sides once, and pairs a second")
    for line in subprocess.run([program, str(table.pairs)], capture_output=True, text=True, check=True).stdout.splitlines():
        row = json.loads(line)
        goal = goals.get((row["type"], row["data"]), "")
        print(f"    {row['type']:14} {row['data']:10} {row['stats']:6.2f} GB/s  {row['ratio']:.2f} of reading  "
              f"{row['pairs']:.2f} G pairs/s  with both fingerprints {row['with_digests']:.2f} x   {goal}", flush=True)


def hdf5(table, cli, threads, path, size):
    """Two equal files, stored as they are and gzipped in chunks of 256 KiB."""
    rows = (("compare, HDF5 contiguous", 0.30, {}), ("compare, HDF5 gzip in chunks", 0.60, dict(chunks=(64, 1024), compression="gzip", shuffle=True)))
    for what, goal, options in rows:
        if not table.wanted(what):
            continue
        try:
            import h5py
            import numpy
        except ImportError:
            table.note(what, "h5py is not installed")
            continue
        files = [path("a.h5"), path("b.h5")]
        block = numpy.frombuffer(float_blocks()[0], "<f4").reshape(-1, 1024).copy()
        block.view("u4")[...] &= 0xFFFFF000   # as much as trained weights have that gzip can find
        with h5py.File(files[0], "w") as file:
            data = file.create_dataset("x", (size // 4096, 1024), "<f4", **options)
            for row in range(0, data.shape[0], block.shape[0]):   # no two chunks alike
                data[row:row + block.shape[0]] = numpy.roll(block, row // block.shape[0], axis=1)[:data.shape[0] - row]
        shutil.copyfile(*files)
        table.row(what, goal, [cli, "compare", *threads, *files], ["h5diff", "-q", *files])
        for name in files:
            os.remove(name)


class Bench:
    def __init__(self, table, cli, options, folder):
        self.table, self.cli, self.folder = table, cli, folder
        self.size, self.sparse = options.size << 20, options.sparse << 30
        self.compare = [cli, "compare", "--no-index", "--threads", options.threads]

    def path(self, name):
        return os.path.join(self.folder, name)

    def large_files(self):
        table, cli = self.table, self.cli
        if not any(map(table.wanted, LARGE)):
            return
        block_a, block_b = float_blocks()
        sides = (("a", block_a), ("same", block_a), ("other", block_b))
        a, same, other = (self.path(name + ".safetensors") for name, _ in sides)
        for name, block in sides:
            write_safetensors(self.path(name + ".safetensors"), [(f"layer.{i}", "F32", 4, self.size // 8, block) for i in range(8)])
        table.row("verdict on identical files", 0.25, [*self.compare, a, same], ["cmp", a, same])
        table.row("verdict on identical files, cold", 0.40, [*self.compare, a, same], ["cmp", a, same], cold=(a, same))
        table.row("fingerprint, 1 thread", 1.10, [cli, "fingerprint", "--no-index", "--threads", "1", a], ["xxhsum", "-H2", a])
        table.row("fingerprint, 2 threads", 0.40, [cli, "fingerprint", "--no-index", "--threads", "2", a], ["b3sum", "--num-threads", "2", a])
        self.statistics(a, other, block_a, block_b)
        for name in (a, same, other):
            os.remove(name)

    def statistics(self, a, other, block_a, block_b):
        what = "full statistics, 100 % differing f32"
        if self.table.wanted(what):
            h5 = [self.path("a.h5"), self.path("other.h5")]
            if all(write_hdf5(name, self.size, block) for name, block in zip(h5, (block_a, block_b))):
                self.table.row(what, 0.10, [*self.compare, a, other], ["h5diff", "-q", *h5])
            else:
                self.table.note(what, "h5diff and h5import are not installed")
            for name in filter(os.path.exists, h5):
                os.remove(name)
        if self.table.wanted("full statistics, numpy"):
            self.script("numpy", NUMPY, 0.10, a, other)
        pt = [self.path(name) for name in ("a.pt", "same.pt", "other.pt")]
        if self.table.wanted("torch zip") or self.table.wanted("full statistics, torch"):
            for name, block in zip(pt, (block_a, block_a, block_b)):
                write_torch(name, [(f"layer.{i}", self.size // 8, block) for i in range(8)])
            self.table.row("verdict on identical files, torch zip", 0.25, [*self.compare, pt[0], pt[1]], ["cmp", pt[0], pt[1]])
            self.script("torch", TORCH, 0.05, pt[0], pt[2])
            for name in pt:
                os.remove(name)

    def script(self, module, text, goal, a, b):
        what = f"full statistics, {module} script of five figures"
        if not importable(module):
            self.table.note(what, f"{module} is not installed")
            return
        script = self.path(module + "_figures.py")
        with open(script, "w") as file:
            file.write(text)
        self.table.row(what, goal, [*self.compare, a, b], [sys.executable, script, a, b])

    def many_tensors(self):
        if self.table.wanted("20,000 tensors of 1 KiB"):
            block = os.urandom(1024)
            small = [self.path("small_a.safetensors"), self.path("small_b.safetensors")]
            for name in small:
                write_safetensors(name, [(f"layer.{i}", "F32", 4, 1024, block) for i in range(20000)])
            self.table.row("20,000 tensors of 1 KiB", 4.0, [*self.compare, *small], ["cmp", *small])
        what = "open: 1.3 M tensors"
        if self.table.wanted(what):
            count, many = 1_300_000, self.path("many.safetensors")
            write_safetensors(many, [(f"l.{i}", "F32", 4, 4, b"1234") for i in range(count)])
            open_it = [self.cli, "extract", many, "--tensor", "l.0", "-o", self.path("one")]
            runs = [timed(open_it) for _ in range(self.table.pairs)]
            if any(status for _, status in runs):
                sys.exit("the file of 1.3 M tensors was refused")
            seconds = sorted(seconds for seconds, _ in runs)[self.table.pairs // 2]
            self.table.note(what, f"goals 3 s, 1 KB a tensor: {seconds:.2f} s, {peak_of(open_it) / count:.0f} bytes a tensor")
            os.remove(many)

    def sparse_files(self):
        sparse = [self.path("sparse_a.safetensors"), self.path("sparse_b.safetensors")]
        if self.table.wanted("peak memory"):
            for name in sparse:
                write_safetensors(name, [("hole", "F32", 4, 8 << 30, None)])
            self.table.note("peak memory, 2 x 8 GiB sparse",
                            f"goal 66 MiB + catalogue: {peak_of([*self.compare, *sparse]) / 2**20:.1f} MiB")
        what = "warm pair from the index"
        if self.table.wanted(what):
            for name in sparse:
                write_safetensors(name, [(f"hole.{i}", "F32", 4, self.sparse // 16, None) for i in range(8)])
            time.sleep(2.1)   # younger files are not remembered
            indexed = [self.cli, "compare", *sparse]
            cold = timed(indexed)[0]
            warm = sorted(timed(indexed)[0] for _ in range(self.table.pairs))[self.table.pairs // 2]
            self.table.note(f"{what}, {self.sparse >> 30} GiB sparse", f"goal 2 s: {warm:.3f} s, read first in {cold:.1f} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("--size", type=int, default=1024)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--threads", default="2")
    parser.add_argument("--folder")
    parser.add_argument("--sparse", type=int, default=100, help="GiB of the pair that comes from the index")
    parser.add_argument("--only")
    options = parser.parse_args()
    cli = os.path.join(options.build, "forkpoint-cli")
    table = Table(options.pairs, options.only)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        os.environ["XDG_CACHE_HOME"] = os.path.join(folder, "cache")   # nothing is spared by what the user compared
        bench = Bench(table, cli, options, folder)
        bench.large_files()
        hdf5(table, cli, ["--no-index", "--threads", options.threads], bench.path, bench.size)
        bench.many_tensors()
        bench.sparse_files()
    goals = {("float32", "identical"): "goal 0.80 of reading", ("bfloat16", "identical"): "goal 0.75 of reading",
             ("float16", "identical"): "goal 0.75 of reading", ("float32", "100 %"): "goal 1 G pairs/s, 1.15 x",
             ("bfloat16", "100 %"): "goal 1 G pairs/s, 1.15 x", ("float8_e4m3fn", "100 %"): "goal 2 G pairs/s, 1.15 x"}
    kernels(table, options.build, goals)


if __name__ == "__main__":
    main()
