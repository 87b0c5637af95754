# SPDX-License-Identifier: GPL-3.0-or-later
"""Records what a training loop sees, for Forkpoint to compare with another run: fingerprints, and tensors where asked for.

One file to copy beside a training script. It needs numpy and h5py; xxhash makes it fast, torch is needed for its hooks alone.

    from forkpoint_capture import Capture
    with Capture("runs/a", model, optimizer) as capture:         # 1, 2
        for batch in loader:
            with capture.step():                                 # 3
                loss = model(batch)
                capture.loss(loss)                               # 4
                loss.backward()
                capture.grad_norm(clip_grad_norm_(...))          # 5
                optimizer.step()

It never changes the run: it draws from no generator, adds nothing to the graph of autograd and writes to no tensor. An error of
its own (a full disk) ends the recording with a warning, and the run goes on. What is written: resources/docs/trace.md.
"""
from __future__ import annotations

import contextlib
import dataclasses
import errno
import fnmatch
import functools
import math
import os
import platform
import random
import re
import secrets
import struct
import sys
import threading
import time
import warnings
import zlib
from pathlib import Path

import h5py
import numpy as np

try:
    import xxhash
except ImportError:
    xxhash = None
try:
    import zstandard
except ImportError:
    zstandard = None

VERSION = 1
STAGES = ("restored", "optimizer", "rng", "scheduler", "counter", "scaler", "batch", "forward", "loss", "backward", "grad", "grad_norm",
          "update", "weight")


# ---- Fingerprint version 1 (resources/docs/fingerprint.md) -----------------------------------------------------------
# XXH3-128 with seed 0 where xxhash is not installed, after the reference of xxHash 0.8. Long inputs are summed by numpy.

_SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c"
    "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364"
    "eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e")
_MASK = (1 << 64) - 1
_P32 = (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D)
_P64 = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)
_START = np.array([_P32[2], *_P64[:4], _P32[1], _P64[4], _P32[0]], "<u8")
_STRIPE_KEYS = np.stack([np.frombuffer(_SECRET, "<u8", 8, 8 * i) for i in range(16)])
_PAIR = [1, 0, 3, 2, 5, 4, 7, 6]


def _u64(data, at):
    return int.from_bytes(data[at:at + 8], "little")


def _fold(a, b):
    product = a * b
    return (product & _MASK) ^ (product >> 64)


def _avalanche(h):
    h = (h ^ (h >> 37)) * 0x165667919E3779F9 & _MASK
    return h ^ (h >> 32)


def _avalanche64(h):
    h = (h ^ (h >> 33)) * _P64[1] & _MASK
    h = (h ^ (h >> 29)) * _P64[2] & _MASK
    return h ^ (h >> 32)


def _swap(value, size):
    return int.from_bytes(value.to_bytes(size, "little"), "big")


def _mix32(low, high, data, one, other, at):
    low += _fold(_u64(data, one) ^ _u64(_SECRET, at), _u64(data, one + 8) ^ _u64(_SECRET, at + 8))
    low = (low & _MASK) ^ (_u64(data, other) + _u64(data, other + 8) & _MASK)
    high += _fold(_u64(data, other) ^ _u64(_SECRET, at + 16), _u64(data, other + 8) ^ _u64(_SECRET, at + 24))
    return low, (high & _MASK) ^ (_u64(data, one) + _u64(data, one + 8) & _MASK)


def _xxh3_short(data):
    """Of at most 16 bytes: the low and the high half."""
    n = len(data)
    if n == 0:
        return (_avalanche64(_u64(_SECRET, 64) ^ _u64(_SECRET, 72)), _avalanche64(_u64(_SECRET, 80) ^ _u64(_SECRET, 88)))
    word = lambda at: int.from_bytes(_SECRET[at:at + 4], "little")
    if n <= 3:
        low = data[0] << 16 | data[n >> 1] << 24 | data[n - 1] | n << 8
        high = _swap(low, 4)
        high = (high << 13 | high >> 19) & 0xFFFFFFFF
        return _avalanche64(low ^ word(0) ^ word(4)), _avalanche64(high ^ word(8) ^ word(12))
    if n <= 8:
        both = int.from_bytes(data[:4], "little") | int.from_bytes(data[n - 4:], "little") << 32
        product = (both ^ _u64(_SECRET, 16) ^ _u64(_SECRET, 24)) * (_P64[0] + (n << 2) & _MASK)
        low, high = product & _MASK, product >> 64
        high = high + (low << 1) & _MASK
        low ^= high >> 3
        low = (low ^ (low >> 35)) * 0x9FB21C651E98DF25 & _MASK
        return low ^ (low >> 28), _avalanche(high)
    first, last = _u64(data, 0), _u64(data, n - 8)
    product = (first ^ last ^ _u64(_SECRET, 32) ^ _u64(_SECRET, 40)) * _P64[0]
    low, high = (product & _MASK) + (n - 1 << 54) & _MASK, product >> 64
    last ^= _u64(_SECRET, 48) ^ _u64(_SECRET, 56)
    high = high + last + (last & 0xFFFFFFFF) * (_P32[1] - 1) & _MASK
    product = (low ^ _swap(high, 8)) * _P64[1]
    return _avalanche(product & _MASK), _avalanche((product >> 64) + high * _P64[1] & _MASK)


def _xxh3_middle(data):
    """Of 17 to 240 bytes."""
    n = len(data)
    low, high = n * _P64[0] & _MASK, 0
    if n <= 128:
        for i in reversed(range((n - 1) // 32 + 1)):
            low, high = _mix32(low, high, data, 16 * i, n - 16 * (i + 1), 32 * i)
    else:
        for i in range(n // 32):
            if i == 4:
                low, high = _avalanche(low), _avalanche(high)
            low, high = _mix32(low, high, data, 32 * i, 32 * i + 16, 32 * i if i < 4 else 32 * i - 125)
        if n < 160:
            low, high = _avalanche(low), _avalanche(high)
        low, high = _mix32(low, high, data, n - 16, n - 32, 103)
    mixed = low * _P64[0] + high * _P64[3] + n * _P64[1] & _MASK
    return _avalanche(low + high & _MASK), -_avalanche(mixed) & _MASK


def _stripe_sums(stripes, keys):
    """What stripes (rows, stripes, 8 lanes) add to the accumulators; sums of one block do not depend on each other."""
    keyed = stripes ^ keys
    return (stripes[..., _PAIR] + (keyed & np.uint64(0xFFFFFFFF)) * (keyed >> np.uint64(32))).sum(axis=-2, dtype=np.uint64)


def _xxh3_long(rows):
    """Of a matrix (rows, bytes) of more than 240 bytes a row."""
    n = rows.shape[1]
    blocks = (n - 1) // 1024
    words = lambda at, size: np.ascontiguousarray(rows[:, at:at + size]).view("<u8").reshape(len(rows), -1, 8)
    state = np.repeat(_START[None], len(rows), axis=0)
    scramble = np.frombuffer(_SECRET, "<u8", 8, 128)
    if blocks:
        sums = _stripe_sums(words(0, 1024 * blocks).reshape(len(rows), blocks, 16, 8), _STRIPE_KEYS)
        for block in range(blocks):
            state += sums[:, block]
            state = (state ^ (state >> np.uint64(47)) ^ scramble) * np.uint64(_P32[0])
    stripes = (n - 1 - 1024 * blocks) // 64
    if stripes:
        state += _stripe_sums(words(1024 * blocks, 64 * stripes), _STRIPE_KEYS[:stripes])
    state += _stripe_sums(words(n - 64, 64), np.frombuffer(_SECRET, "<u8", 8, 121)[None])
    merged = lambda lanes, at, start: _avalanche(start + sum(
        _fold(lanes[i] ^ _u64(_SECRET, at + 8 * i), lanes[i + 1] ^ _u64(_SECRET, at + 8 * i + 8)) for i in range(0, 8, 2)) & _MASK)
    return [(merged(lanes, 11, n * _P64[0] & _MASK), merged(lanes, 117, ~(n * _P64[1]) & _MASK)) for lanes in state.tolist()]


def _digests_of_rows(rows):
    return [high.to_bytes(8, "big") + low.to_bytes(8, "big") for low, high in _xxh3_long(rows)]


def xxh3_128_fallback(data):
    """XXH3-128 in its canonical form, without xxhash."""
    if len(data) > 240:
        return _digests_of_rows(np.frombuffer(data, np.uint8)[None])[0]
    data = bytes(data)
    low, high = _xxh3_short(data) if len(data) <= 16 else _xxh3_middle(data)
    return high.to_bytes(8, "big") + low.to_bytes(8, "big")


xxh3_128 = xxhash.xxh3_128_digest if xxhash else xxh3_128_fallback
LEAF, FAN_OUT, ROWS_AT_ONCE = 65536, 256, 64


def leaf_digests(stream):
    """Digests of the leaves of a logical stream (bytes-like)."""
    size = len(stream)
    if xxh3_128 is not xxh3_128_fallback:
        return [xxh3_128(stream[i:i + LEAF]) for i in range(0, size, LEAF)]
    whole = size // LEAF
    rows = np.frombuffer(stream, np.uint8, whole * LEAF).reshape(whole, LEAF)
    found = [d for i in range(0, whole, ROWS_AT_ONCE) for d in _digests_of_rows(rows[i:i + ROWS_AT_ONCE])]
    return found + ([xxh3_128(stream[whole * LEAF:])] if size % LEAF else [])


def content_digest(leaves):
    """The root of the tree over the digests of leaves."""
    if not leaves:
        return xxh3_128(b"")
    level = 0
    while len(leaves) > 1:
        level += 1
        groups = [leaves[i:i + FAN_OUT] for i in range(0, len(leaves), FAN_OUT)]
        leaves = [xxh3_128(b"forkpoint-nd" + struct.pack("<III", 1, level, len(g)) + b"".join(g)) for g in groups]
    return leaves[0]


@functools.lru_cache(maxsize=65536)
def _tensor_head(dtype, shape, size):
    name = dtype.encode()
    return (b"forkpoint-tn" + struct.pack("<II", 1, len(name)) + name
            + struct.pack(f"<I{len(shape)}QQ", len(shape), *shape, size))


def tensor_digest(dtype, shape, size, content):
    return xxh3_128(_tensor_head(dtype, tuple(shape), size) + content)


# ---- Policy ----------------------------------------------------------------------------------------------------------

class Numbers:
    """Whole numbers as text: "1-8,100,200-300/10,1000-" (a range may have a stride and no end); empty: all."""

    def __init__(self, text=""):
        self.text, self._parts = str(text), []
        for part in filter(None, self.text.replace(" ", "").split(",")):
            match = re.fullmatch(r"(\d+)(-(\d*)(/(\d+))?)?", part)
            if not match or match[5] and int(match[5]) == 0:
                raise ValueError(f"'{part}' is no number, range or range with stride such as 200-300/10")
            first = int(match[1])
            last = first if match[2] is None else int(match[3]) if match[3] else None
            if last is not None and last < first:
                raise ValueError(f"the range '{part}' ends before it begins")
            self._parts.append((first, last, int(match[5] or 1)))

    def __contains__(self, number):
        return not self._parts or any(number >= first and (last is None or number <= last) and (number - first) % stride == 0
                                      for first, last, stride in self._parts)


@dataclasses.dataclass(frozen=True)
class Select:
    """Which records: stages; names as patterns (`layers.*`; a leading ! leaves out); steps, ranks, micro_batches as Numbers."""
    stages: tuple = ()
    names: tuple = ()
    steps: str = ""
    ranks: str = ""
    micro_batches: str = ""

    def __post_init__(self):
        for field in ("stages", "names"):
            value = getattr(self, field)
            object.__setattr__(self, field, (value,) if isinstance(value, str) else tuple(value))
        numbers = {field: Numbers(getattr(self, field)) for field in ("steps", "ranks", "micro_batches")}
        object.__setattr__(self, "_numbers", numbers)
        object.__setattr__(self, "_named", {})

    def takes_step(self, step, rank):
        return step in self._numbers["steps"] and rank in self._numbers["ranks"]

    def takes(self, stage, name, micro_batch=-1):
        if self.stages and stage not in self.stages:
            return False
        if micro_batch >= 0 and micro_batch not in self._numbers["micro_batches"]:
            return False
        if name not in self._named:
            wanted = [n for n in self.names if not n.startswith("!")]
            unwanted = [n[1:] for n in self.names if n.startswith("!")]
            self._named[name] = ((not wanted or any(fnmatch.fnmatchcase(name, n) for n in wanted))
                                 and not any(fnmatch.fnmatchcase(name, n) for n in unwanted))
        return self._named[name]

    def text(self):
        told = {f.name: getattr(self, f.name) for f in dataclasses.fields(self) if getattr(self, f.name)}
        return "; ".join(f"{name} {value if isinstance(value, str) else ' '.join(value)}" for name, value in told.items()) or "all"


@dataclasses.dataclass(frozen=True)
class Policy:
    """What is recorded (`select`), and of what the bytes are kept, within `budget` bytes a rank.

    `payload`: selections whose bytes are kept. `payload_from`: the folder of the other run's trace: bytes are kept from the
    first record on that differs from the other's.
    """
    select: Select = Select()
    inputs: bool = False
    micro_batch_gradients: bool = True
    statistics: bool = True
    leaves: bool = False
    payload: tuple = ()
    payload_from: object = None
    budget: int = 256 << 20
    segment_steps: int = 16
    compression: str = "gzip"

    def __post_init__(self):
        if isinstance(self.payload, Select):
            object.__setattr__(self, "payload", (self.payload,))
        if self.compression not in ("gzip", "zstd"):
            raise ValueError(f"compression must be gzip or zstd, is '{self.compression}'")
        if self.compression == "zstd" and zstandard is None:
            raise ValueError("compression zstd needs the module zstandard")
        if self.segment_steps < 1 or self.budget < 0:
            raise ValueError("segment_steps must be at least 1, budget at least 0")

    @classmethod
    def from_mismatch(cls, other, **more):
        """The second of two passes: fingerprints, and payload from the first record on that differs from `other`'s."""
        return cls(payload_from=other, **more)

    def facts(self):
        yield 0, "select.stages", " ".join(self.select.stages) or "all"
        yield 0, "select.names", " ".join(self.select.names) or "all"
        yield 0, "select.micro_batches", self.select.micro_batches or "all"
        yield 0, "select.inputs", str(self.inputs)
        yield 0, "select.micro_batch_gradients", str(self.micro_batch_gradients)
        yield 5, "steps", self.select.steps or "all"
        yield 5, "ranks", self.select.ranks or "all"
        yield 5, "payload", " | ".join(s.text() for s in self.payload) or "none"
        yield 5, "payload_from_mismatch", str(self.payload_from is not None)
        yield 5, "budget", str(self.budget)


# ---- The file format (resources/docs/trace.md) -----------------------------------------------------------------------

TENSOR, OP, COLLECTIVE, VALUES, STEP_BEGIN, STEP_END, FAILURE, STOPPED, MARK = range(9)
RECOMPUTED, WITHOUT_GRADIENTS = 1, 2
ABSENT_OVERSIZE, ABSENT_METADATA = 2, 5
RECORD_COLUMNS = dict(role="u1", step="<i8", micro_batch="<i4", sequence="<u8", stage="<u4", name="<u4", scope="<u4", call="<u4", flags="u1",
                      inputs="<u4", outputs="<u4", values="<u4")
TENSOR_COLUMNS = dict(path="<u4", dtype="<u4", rank="u1", bytes="<u8", absence="u1", note="<u4", payload="<i8", leaves="<i8",
                      abs_max="<f8", l2="<f8", nan="<u8", inf="<u8", zero="<u8")
CHUNK = 1 << 20


@dataclasses.dataclass
class Observed:
    """A tensor as it is recorded; `stream`, its logical stream, is not kept beyond the record."""
    path: str
    dtype: str
    shape: tuple
    size: int
    absence: int = 0
    content: bytes = bytes(16)
    tensor: bytes = bytes(16)
    leaves: tuple = ()
    note: str = ""
    stats: tuple = (math.nan, math.nan, 0, 0, 0)
    stream: object = b""


class _Payload:
    """The dataset `payload` of an open segment; whole chunks are written at once."""

    def __init__(self, file, compression):
        self._file, self._compression, self._dataset = file, compression, None
        self._rest, self._size, self._chunks, self._known = bytearray(), 0, 0, {}

    def knows(self, content):
        return self._known.get(content)

    def keep(self, content, stream):
        at = self._size
        self._known[content] = at
        self._rest += stream
        self._size += len(stream)
        for _ in range(len(self._rest) // CHUNK):
            self._write(bytes(self._rest[:CHUNK]), CHUNK)
            del self._rest[:CHUNK]
        return at

    def close(self):
        if self._rest:
            chunk = CHUNK if self._dataset else len(self._rest)
            self._write(bytes(self._rest).ljust(chunk, b"\0"), chunk)
        if self._dataset is not None:
            self._dataset.resize((self._size,))

    def _write(self, data, chunk):
        if self._dataset is None:
            self._dataset = self._create(chunk)
        self._dataset.resize(((self._chunks + 1) * chunk,))
        packed = zlib.compress(data, 4) if self._compression == "gzip" else zstandard.ZstdCompressor(level=3).compress(data)
        self._dataset.id.write_direct_chunk((self._chunks * chunk,), packed)
        self._chunks += 1

    def _create(self, chunk):
        creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        creation.set_chunk((chunk,))
        if self._compression == "gzip":
            creation.set_deflate(4)
        else:  # libhdf5 need not have the filter: whole chunks are handed to it as they are
            creation.set_filter(32015, h5py.h5z.FLAG_OPTIONAL, (3,))
        space = h5py.h5s.create_simple((chunk,), (h5py.h5s.UNLIMITED,))
        return h5py.Dataset(h5py.h5d.create(self._file.id, b"payload", h5py.h5t.STD_U8LE, space, creation))


class _Segment:
    """The segment being written: columns in memory, payload on disk."""

    def __init__(self, path, compression):
        self.path = path
        self.rows, self.tensors, self.digests, self.dims, self.leaves, self.values, self.facts = [], [], [], [], [], [], []
        self._strings, self.steps = {"": 0}, []
        self.file = h5py.File(path, "w", libver=("v110", "v110"))
        self.payload = _Payload(self.file, compression)

    def text(self, value):
        return self._strings.setdefault(value, len(self._strings))

    def observe(self, o, payload, keep_leaves):
        leaf = -1
        if keep_leaves and o.leaves:
            leaf = len(self.leaves)
            self.leaves += o.leaves
        self.tensors.append((self.text(o.path), self.text(o.dtype), len(o.shape), o.size, o.absence, self.text(o.note), payload, leaf, *o.stats))
        self.digests.append((o.content, o.tensor))
        self.dims += o.shape

    def close(self, attributes):
        """Writes the columns; the file may then be renamed."""
        strings = [s.encode("utf-8", "backslashreplace") for s in self._strings]
        self._column("strings/bytes", np.frombuffer(b"".join(strings), "u1"))
        self._column("strings/end", np.cumsum([len(s) for s in strings], dtype="<u8"))
        self._columns("facts", dict(role="u1", name="<u4", value="<u4"), self.facts)
        self._columns("records", RECORD_COLUMNS, self.rows)
        self._columns("tensors", TENSOR_COLUMNS, self.tensors)
        self._column("tensors/dims", np.array(self.dims, "<u8"))
        for i, name in enumerate(("content", "tensor")):
            self._column("tensors/" + name, np.frombuffer(b"".join(d[i] for d in self.digests), "u1").reshape(-1, 16))
        self._columns("values", dict(name="<u4", value="<u4"), self.values)
        if self.leaves:
            self._column("leaves", np.frombuffer(b"".join(self.leaves), "u1").reshape(-1, 16))
        self.payload.close()
        _write_attributes(self.file, dict(attributes, records=len(self.rows), tensors=len(self.tensors), values=len(self.values)))
        self.file.close()

    def _columns(self, group, kinds, rows):
        for i, (name, kind) in enumerate(kinds.items()):
            self._column(f"{group}/{name}", np.array([row[i] for row in rows], kind))

    def _column(self, name, data):
        if data.nbytes <= 128:
            self.file.create_dataset(name, data=data)
        else:
            chunk = (max(1, min(len(data), CHUNK * len(data) // data.nbytes)), *data.shape[1:])
            self.file.create_dataset(name, data=data, chunks=chunk, compression="gzip", compression_opts=6, shuffle=data.itemsize > 1)


def _sync(path):
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sync_folder(path):
    """Its entries. Some file systems have no such thing for folders, and no system but POSIX ones opens them."""
    try:
        if os.name == "posix":
            _sync(path)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise


def _make_folder(folder):
    """With its parents, which are on disk before anything is said to lie in them."""
    missing = [f for f in (folder, *folder.parents) if not f.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for made in missing:
        _sync_folder(made.parent)


def _publish(path, name):
    """Gives a closed file its name for good. A machine that dies may keep a rename and lose the bytes: they go to disk first."""
    _sync(path)
    path.rename(path.with_name(name))
    _sync_folder(path.parent)


def _write_attributes(file, attributes):
    for name, value in attributes.items():
        if isinstance(value, str):
            data = value.encode("utf-8", "backslashreplace")
            file.attrs.create(name, data or b"\0", dtype=h5py.string_dtype("utf-8", max(1, len(data))))
        else:
            file.attrs.create(name, value, dtype="<i8")


class Writer:
    """Records of one rank, in segments: rank_R/steps_A-B.h5 and, at the end, rank_R/end.h5."""

    def __init__(self, folder, rank=0, world_size=1, axes="", run=None, policy=Policy(), facts=()):
        self.folder = Path(folder) / f"rank_{rank}"
        self.policy, self.rank, self.payload_bytes, self.left_out = policy, rank, 0, 0
        self._facts = [*facts, *policy.facts()]
        self._common = dict(format="forkpoint-trace", version=VERSION, kind="segment", fingerprint="forkpoint-1", run=run or secrets.token_hex(16),
                            rank=rank, world_size=world_size, axes=axes, writer="forkpoint_capture.py")
        self._segment, self._segments, self._totals, self._sequence, self._step = None, 0, [0, 0, 0], 0, None
        _make_folder(self.folder)
        if any(self.folder.glob("*.h5")):
            raise FileExistsError(f"{self.folder} holds a trace already; nothing is overwritten")

    def begin_step(self, step):
        if self._segment is None:
            self._segment = _Segment(self.folder / f"steps_{step}.h5.tmp", self.policy.compression)
            if self._segments == 0:
                text = self._segment.text
                self._segment.facts = [(role, text(name), text(value)) for role, name, value in self._facts]
        self._segment.steps.append(step)
        self._step, self._sequence = step, 0
        self.record(STEP_BEGIN)

    def end_step(self):
        self.record(STEP_END)
        if len(self._segment.steps) >= self.policy.segment_steps:
            self._close_segment()

    def record(self, role, stage="", name="", micro_batch=-1, call=0, flags=0, scope="", inputs=(), outputs=(), values=(), keep=False):
        s = self._segment
        s.rows.append((role, self._step, micro_batch, self._sequence, s.text(stage), s.text(name), s.text(scope), call, flags, len(inputs),
                       len(outputs), len(values)))
        self._sequence += 1
        for o in (*inputs, *outputs):
            s.observe(o, self._keep(o) if keep and o.absence == 0 else -1, self.policy.leaves)
        s.values += [(s.text(n), s.text(v)) for n, v in values]

    def close(self, reason="complete"):
        if self._segment is not None:
            self._close_segment()
        path = self.folder / "end.h5.tmp"
        with h5py.File(path, "w", libver=("v110", "v110")) as file:
            records, tensors, values = self._totals
            _write_attributes(file, dict(self._common, kind="end", reason=reason, segments=self._segments, records=records, tensors=tensors,
                                         values=values, payload_bytes=self.payload_bytes, payload_left_out=self.left_out))
        _publish(path, "end.h5")

    def _keep(self, o):
        known = self._segment.payload.knows(o.tensor)
        if known is not None:
            return known
        if self.payload_bytes + o.size > self.policy.budget:
            self.left_out += o.size
            return -1
        self.payload_bytes += o.size
        return self._segment.payload.keep(o.tensor, o.stream)

    def _close_segment(self):
        s, self._segment = self._segment, None
        first, last = s.steps[0], s.steps[-1]
        s.close(dict(self._common, segment=self._segments, first_step=first, last_step=last))
        _publish(s.path, f"steps_{first}-{last}.h5")
        self._segments += 1
        self._totals = [t + len(rows) for t, rows in zip(self._totals, (s.rows, s.tensors, s.values))]


class Strings:
    """The table of strings of an open segment."""

    def __init__(self, file):
        self._data, self._end = file["strings/bytes"][:].tobytes(), file["strings/end"][:].tolist()

    def __getitem__(self, i):
        return self._data[self._end[i - 1] if i else 0:self._end[i]].decode()


class OtherRun:
    """The same rank's records of another run, a segment at a time, as digests and values by identity."""

    def __init__(self, folder, rank):
        self._folder, self._loaded, self._steps, self.selection = Path(folder) / f"rank_{rank}", None, {}, None
        if not self._folder.is_dir():
            raise FileNotFoundError(f"{self._folder} is not there: the other run holds no trace of this rank")

    def step(self, step):
        """(stage, name, micro_batch, flags, call) -> what `_compared` says; None where the step is not recorded (yet)."""
        path = self._segment_of(step)
        if path is not None and path != self._loaded:
            self._load(path)
        return self._steps.get(step) if path is not None else None

    def _segment_of(self, step):
        for path in self._folder.glob("steps_*.h5"):
            match = re.fullmatch(r"steps_(\d+)-(\d+)\.h5", path.name)
            if match and int(match[1]) <= step <= int(match[2]):
                return path
        return None

    def _load(self, path):
        self._loaded, self._steps = path, {}
        with h5py.File(path, "r") as file:
            if file.attrs["version"] != VERSION:
                raise ValueError(f"{path}: version must be {VERSION}")
            text, digests, at, value = Strings(file), file["tensors/tensor"][:], 0, 0
            named = list(zip(*(file["values/" + c][:].tolist() for c in ("name", "value"))))
            columns = [file["records/" + c][:].tolist() for c in "role step stage name micro_batch flags call inputs outputs values".split()]
            for role, step, stage, name, micro_batch, flags, call, inputs, outputs, values in zip(*columns):
                at += inputs + outputs
                value += values
                if role in (TENSOR, VALUES):
                    identity = text[stage], text[name], micro_batch, flags, call
                    self._steps.setdefault(step, {})[identity] = _compared(
                        [digests[i].tobytes() for i in range(at - outputs, at)], [(text[n], text[v]) for n, v in named[value - values:value]])


def _compared(digests, values):
    """What tells two records apart: the tensor digests of their outputs, and their values by name."""
    return digests, sorted(values)


# ---- Tensors of any framework ------------------------------------------------------------------------------------------

ARRAY_DTYPES = {"float64", "float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz",
                "float8_e8m0fnu", "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "int8", "int16", "int32", "int64", "uint8", "uint16",
                "uint32", "uint64", "bool", "complex64", "complex128"}


def _torch():
    """torch where the training uses it; nothing imports it for its own sake."""
    return sys.modules.get("torch")


def _is_tensor(value):
    torch = _torch()
    return torch is not None and isinstance(value, torch.Tensor) or isinstance(value, np.ndarray) or (
        hasattr(value, "__array__") and hasattr(value, "shape") and hasattr(value, "dtype"))


def tensors_in(value, path=""):
    """(path, tensor) of everything in lists, tuples, dictionaries and dataclasses, in their order."""
    below = lambda key: f"{path}.{key}" if path else str(key)
    if _is_tensor(value):
        yield path, value
    elif isinstance(value, dict) or hasattr(value, "items") and hasattr(value, "keys"):
        for key, item in value.items():
            yield from tensors_in(item, below(key))
    elif isinstance(value, (list, tuple)):
        for key, item in enumerate(value):
            yield from tensors_in(item, below(key))
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield from tensors_in(getattr(value, field.name), below(field.name))


def observe(value, path="", statistics=True):
    """A tensor's shape, type, fingerprint and statistics."""
    torch = _torch()
    if torch is not None and isinstance(value, torch.Tensor):
        with torch.no_grad():
            return _observe_torch(torch, value, path, statistics)
    array = np.asarray(value)
    name = array.dtype.name
    if name not in ARRAY_DTYPES:
        return Observed(path, name, array.shape, 0, ABSENT_METADATA, note="a type without a portable form")
    array = np.ascontiguousarray(array, array.dtype if array.dtype.byteorder != ">" else array.dtype.newbyteorder("<")).reshape(array.shape)
    stats = _statistics_of_array(array) if statistics else Observed.stats
    return _fingerprinted(path, name, array.shape, memoryview(array.reshape(-1).view(np.uint8)) if array.size else b"", stats, "")


def _fingerprinted(path, dtype, shape, stream, stats, note):
    leaves = leaf_digests(stream)
    content = content_digest(leaves)
    return Observed(path, dtype, shape, len(stream), 0, content, tensor_digest(dtype, shape, len(stream), content), leaves, note, stats, stream)


def _observe_torch(torch, t, path, statistics):
    note = str(t.device)
    if hasattr(t, "to_local"):
        note += f", local part of {list(t.shape)} {' '.join(map(str, t.placements))}"
        t = t.to_local()
    dtype, shape = str(t.dtype)[6:], tuple(t.shape)
    if t.layout is not torch.strided or t.is_nested or t.device.type == "meta":
        return Observed(path, dtype, shape, 0, ABSENT_METADATA, note=f"{note}, {'nested' if t.is_nested else t.layout}")
    t = t.detach()
    t = t.int_repr() if t.is_quantized else t.resolve_conj().resolve_neg()
    stats = _statistics_of_tensor(torch, t) if statistics else Observed.stats
    t = t.cpu().reshape(-1)
    if t.numel() and t.stride(0) != 1:  # reshape leaves one element as it lies
        t = t.clone(memory_format=torch.contiguous_format)
    stream = memoryview(t.view(torch.uint8).numpy()) if t.numel() else b""
    return _fingerprinted(path, dtype, shape, stream, stats, note)


def _statistics_of_tensor(torch, t):
    """Largest magnitude, 2-norm, and how many are NaN, infinite, zero."""
    if t.is_complex():
        t = torch.view_as_real(t)
    if t.dtype.itemsize == 1 or not t.is_floating_point():
        if "float4" in str(t.dtype):
            return Observed.stats
        t = t.float() if t.is_floating_point() else t.double()
    if t.numel() == 0:
        return 0.0, 0.0, 0, 0, 0
    norm = lambda x, order: torch.linalg.vector_norm(x, order, dtype=torch.float64 if order == 2 else None).item()
    l2, zero = norm(t, 2), t.numel() - int(torch.count_nonzero(t))
    if math.isfinite(l2):
        return norm(t, math.inf), l2, 0, 0, zero
    nan, finite = int(torch.isnan(t).sum()), t[torch.isfinite(t)]
    return (norm(finite, math.inf) if finite.numel() else 0.0, norm(finite, 2) if finite.numel() else 0.0, nan, t.numel() - finite.numel() - nan, zero)


def _statistics_of_array(array):
    if array.dtype.kind == "c":
        array = array.reshape(-1).view(array.real.dtype)
    array = array.astype(np.float64).reshape(-1)
    finite = array[np.isfinite(array)]
    nan = int(np.isnan(array).sum())
    return (float(np.abs(finite).max(initial=0)), float(np.sqrt(np.square(finite).sum())), nan, array.size - finite.size - nan,
            int((array == 0).sum()))


# ---- What a run was made with ------------------------------------------------------------------------------------------

ENVIRONMENT = re.compile(r"(NCCL|TORCH_NCCL|NVTE|MAMBA|CAUSAL_CONV1D|TRITON|CUBLAS|CUDA_DEVICE_MAX|OMP|MKL|PYTHONHASHSEED|TORCH_ALLOW_TF32)")


def environment():
    """Versions and settings that decide about results: facts of the role runtime."""
    yield "python", platform.python_version()
    yield "numpy", np.__version__
    yield "machine", platform.machine()
    torch = _torch()
    if torch is not None:
        yield "torch", torch.__version__
        yield "torch.version.cuda", str(torch.version.cuda)
        yield "torch.num_threads", str(torch.get_num_threads())
        yield "torch.deterministic_algorithms", str(torch.are_deterministic_algorithms_enabled())
        yield "torch.deterministic_warn_only", str(torch.is_deterministic_algorithms_warn_only_enabled())
        yield "torch.float32_matmul_precision", torch.get_float32_matmul_precision()
        for name in ("deterministic", "benchmark", "allow_tf32"):
            yield "torch.backends.cudnn." + name, str(getattr(torch.backends.cudnn, name))
        if torch.cuda.is_initialized():
            yield "torch.cuda.device", torch.cuda.get_device_name()
            yield "torch.backends.cudnn.version", str(torch.backends.cudnn.version())
    for name in sorted(os.environ):
        if ENVIRONMENT.match(name):
            yield "environment." + name, os.environ[name]


def _flat(prefix, value):
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _flat(f"{prefix}.{key}" if prefix else str(key), item)
    else:
        yield prefix, value if isinstance(value, str) else repr(value)


def python_generator():
    _, words, gauss = random.getstate()
    return np.frombuffer(struct.pack(f"<{len(words)}I", *words) + (b"" if gauss is None else struct.pack("<d", gauss)), np.uint8)


def numpy_generator():
    state = np.random.get_state(legacy=False)
    if state["bit_generator"] != "MT19937":
        return None
    key = np.asarray(state["state"]["key"], "<u4").tobytes()
    return np.frombuffer(key + struct.pack("<IId", state["state"]["pos"], state["has_gauss"], state["gauss"]), np.uint8)


# ---- The capture -----------------------------------------------------------------------------------------------------------

WRAPPERS = re.compile(r"(^|\.)(_orig_mod|_fsdp_wrapped_module|_checkpoint_wrapped_module)(?=\.|$)")
ROOT = "<root>"


def _clean(name):
    return WRAPPERS.sub("", name).lstrip(".") or ROOT


def _unwrapped(model):
    """What DistributedDataParallel, DataParallel and torch.compile wrap: names are those of the model itself."""
    while True:
        kind = type(model).__name__
        if kind in ("DistributedDataParallel", "DataParallel"):
            model = model.module
        elif kind == "OptimizedModule":
            model = model._orig_mod
        else:
            return model


class Capture:
    """Records the steps of one rank into `folder`; see the head of this file.

    `model`: the module whose calls count the micro-batches, wrapped or not. `optimizer`: one of torch.optim, or several.
    `recipe`: what tells the run from others (a dictionary); `generators`: torch.Generator by name; `axes`: "pp=0 tp=1".
    """

    def __init__(self, folder, model=None, optimizer=None, policy=Policy(), *, recipe=None, generators=None, rank=None, world_size=None,
                 axes="", run=None, placement=True, first_step=1):
        self.policy, self.model = policy, model
        self.optimizers = list(optimizer) if isinstance(optimizer, (list, tuple)) else [optimizer] if optimizer is not None else []
        self.generators, self._next_step = dict(generators or {}), first_step
        self.rank, self.world_size = self._place(rank, world_size)
        self.first_mismatch = None  #: (step, stage, name, micro_batch) at which payload_from's run parts from this one
        self._lock, self._handles, self._reason = threading.RLock(), [], None
        self._step, self._calls, self._inputs = None, {}, {}
        self._forward_mb = self._backward_mb = -1
        self._evaluates, self._given_mb = False, None
        self._other = OtherRun(policy.payload_from, self.rank) if policy.payload_from is not None else None
        self._writer = None
        if self.rank in Numbers(policy.select.ranks):
            self._writer = Writer(folder, self.rank, self.world_size, axes, run, policy, self._facts(recipe, placement))
        if xxhash is None:
            warnings.warn("forkpoint_capture: the module xxhash is not installed; fingerprints are the same, and hashing takes 10 to 150 times as long")

    @staticmethod
    def _place(rank, world_size):
        torch = _torch()
        known = torch is not None and torch.distributed.is_available() and torch.distributed.is_initialized()
        of = lambda given, ask, name, default: given if given is not None else ask() if known else int(os.environ.get(name, default))
        return (of(rank, lambda: torch.distributed.get_rank(), "RANK", 0),
                of(world_size, lambda: torch.distributed.get_world_size(), "WORLD_SIZE", 1))

    def _facts(self, recipe, placement):
        yield 1, "world_size", str(self.world_size)
        for name, value in environment():
            yield 2, name, value
        for name, value in _flat("", recipe or {}):
            yield 4, name, value
        if placement:
            yield 3, "host", platform.node()
            yield 3, "process", str(os.getpid())
            yield 3, "started", time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())

    # -- life --

    def __enter__(self):
        if self._writer is not None and self.model is not None:
            self._attach()
        return self

    def __exit__(self, kind, error, trace):
        self.close("complete" if kind is None else f"error: {kind.__name__}")

    def close(self, reason="complete"):
        """Takes the hooks off and writes the end marker."""
        for handle in self._handles:
            handle.remove()
        self._handles, writer, self._writer = [], self._writer, None
        if writer is not None:
            try:
                writer.close(self._reason or reason)
            except Exception as error:
                warnings.warn(f"forkpoint_capture: the trace is not complete: {error!r}")

    def step(self, step=None):
        """One step of the optimizer, with all of its micro-batches: a context manager."""
        return self._in_step(step, self._record_surroundings)

    @contextlib.contextmanager
    def _in_step(self, step, first):
        step = self._next_step if step is None else step
        self._next_step = step + 1
        self._safely(self._begin, step, first)
        try:
            yield self
        except BaseException as error:
            self._safely(self._fail, error)
            raise
        self._safely(self._end)

    def each_step(self, function):
        """Decorator: each call of the function is a step."""
        @functools.wraps(function)
        def stepped(*args, **kwargs):
            with self.step():
                return function(*args, **kwargs)
        return stepped

    def _begin(self, step, first):
        if self._writer is None or not self.policy.select.takes_step(step, self.rank):
            return
        self._calls, self._inputs, self._forward_mb, self._backward_mb, self._given_mb = {}, {}, -1, -1, None
        self._writer.begin_step(step)
        self._step = step
        first()

    def _record_surroundings(self):
        self._record_generators()
        self._record_settings(self.optimizers)

    def _record_settings(self, optimizers):
        """Settings of parameter groups. A loop may set the rate within the step: they are told again when the optimizer takes them."""
        for number, (owner, group) in enumerate((o, g) for o in self.optimizers for g in o.param_groups):
            if any(owner is each for each in optimizers):
                settings = [(k, _setting_text(v)) for k, v in group.items()]
                self._record("scheduler", f"group.{number}", values=[(k, text) for k, text in settings if text is not None])

    def _end(self):
        if self._step is not None:
            if self.model is not None:
                self._record_weights()
            self._step = None
            self._writer.end_step()

    def _fail(self, error):
        if self._step is not None:
            self._step = None
            self._writer.record(FAILURE, values=[("exception", type(error).__name__)])

    def _safely(self, function, *args):
        """An error of the recording ends the recording, never the run."""
        if self._reason is not None:
            return
        try:
            with self._lock:
                function(*args)
        except Exception as error:
            self._reason, self._step = f"error: recording stopped: {type(error).__name__}", None
            warnings.warn(f"forkpoint_capture: recording stopped, the run goes on: {error!r}")
            with contextlib.suppress(Exception):
                self._writer.record(STOPPED, values=[("exception", repr(error))])

    # -- what a loop says --

    def batch(self, *tensors, **named):
        """Tensors of the batch under their names; what enters the model is recorded without being told."""
        for name, value in (*((f"input.{i}", t) for i, t in enumerate(tensors)), *named.items()):
            self.tensor("batch", name, value, micro_batch=self._given_mb if self._given_mb is not None else self._forward_mb + 1)

    def loss(self, loss, name="loss"):
        """The loss of the micro-batch at hand, or a number that the loop prints."""
        self._safely(self._record_number, "loss", name, loss, self._forward_mb)

    def grad_norm(self, norm, name="grad_norm"):
        self._safely(self._record_number, "grad_norm", name, norm, -1)

    def gradients(self, micro_batch=-1, named=None):
        """Gradients at hand: of optimizers without torch.optim's hooks, or {name: gradient} of loops that hold them apart."""
        self._safely(self._record_gradients, self._parameters() if named is None else named.items(), micro_batch, named is None)

    def weights(self):
        """Parameters and buffers as they are; at the end of a step they are recorded without being told."""
        self._safely(self._record_weights)

    def tensor(self, stage, name, value, micro_batch=-1):
        """Any tensor, or list or dictionary of tensors, at this point of the run."""
        self._safely(lambda: self._record(stage, name, list(tensors_in(value)), micro_batch))

    def values(self, stage, name, micro_batch=-1, **values):
        """Named scalars, compared as they are."""
        self._safely(lambda: self._record(stage, name, (), micro_batch, values=[(k, _number_text(v)) for k, v in values.items()]))

    def micro_batch(self, number):
        """Which micro-batch comes next, where calls of the model do not tell (pipelines)."""
        self._given_mb = self._forward_mb = self._backward_mb = number

    def state(self, arrays, stage="weight", step=None):
        """A dictionary of arrays of any framework, nested or not: everything that is recorded of a step where none is open."""
        with self._in_step(step, lambda: None) if self._step is None else contextlib.nullcontext():
            self._safely(self._record_state, arrays, stage)

    # -- records --

    def _wants(self, stage, name, micro_batch=-1):
        return self._step is not None and self.policy.select.takes(stage, name, micro_batch)

    def _record(self, stage, name, outputs=(), micro_batch=-1, inputs=(), values=(), flags=0, scope="", select_name=None):
        """Outputs are (path, tensor); inputs were observed before."""
        if not self._wants(stage, select_name or name, micro_batch) or not (outputs or inputs or values):
            return
        key = stage, name, micro_batch, flags
        call = self._calls.get(key, 0)
        self._calls[key] = call + 1
        outputs = self._see(outputs)
        keep = self._keeps(stage, name, micro_batch, (*key, call), outputs, values)
        self._writer.record(TENSOR if inputs or outputs else VALUES, stage, name, micro_batch, call, flags, scope, inputs, outputs, values, keep)

    def _see(self, pairs):
        return [observe(tensor, path, self.policy.statistics) for path, tensor in pairs]

    def _keeps(self, stage, name, micro_batch, identity, outputs, values):
        if self._other is not None and self.first_mismatch is None and (outputs or values):
            records = self._other.step(self._step)
            theirs = records.get(identity) if records is not None else None
            if theirs is not None and theirs != _compared([o.tensor for o in outputs], values) or (
                    theirs is None and records is not None and any(key[0] == stage for key in records)):
                self.first_mismatch = self._step, stage, name, micro_batch
        return self.first_mismatch is not None or any(
            s.takes_step(self._step, self.rank) and s.takes(stage, name, micro_batch) for s in self.policy.payload)

    def _record_state(self, arrays, stage):
        for path, value in _leaves_in(arrays):
            if _is_tensor(value):
                self._record(stage, path, [("", value)])
            elif isinstance(value, (bool, int, float, str)) or value is None:
                self._record(stage, path, values=[("value", _number_text(value))])

    def _record_number(self, stage, name, value, micro_batch):
        is_tensor = _is_tensor(value)
        size = math.prod(value.shape) if is_tensor else 1
        told = [("value", _number_text(value.item() if is_tensor else value))] if size == 1 and not hasattr(value, "to_local") else []
        self._record(stage, name, [("", value)] if is_tensor else (), micro_batch, values=told)

    def _record_generators(self):
        for name, state in (("python", python_generator), ("numpy", numpy_generator)):
            if self._wants("rng", name) and (found := state()) is not None:
                self._record("rng", name, [("", found)])
        torch = _torch()
        if torch is None:
            return
        self._record("rng", "torch.cpu", [("", torch.get_rng_state())])
        if torch.cuda.is_available() and torch.cuda.is_initialized():
            for device in range(torch.cuda.device_count()):
                if torch.cuda.default_generators:
                    self._record("rng", f"torch.cuda:{device}", [("", torch.cuda.get_rng_state(device))])
        for name, generator in self.generators.items():
            self._record("rng", name, [("", generator.get_state())])

    def _parameters(self):
        if self.model is not None:
            return [(_clean(n), p) for n, p in _unwrapped(self.model).named_parameters()]
        return [(f"group.{g}.{i}", p) for o in self.optimizers for g, group in enumerate(o.param_groups) for i, p in enumerate(group["params"])]

    def _record_gradients(self, named, micro_batch, are_parameters):
        for name, value in named:
            value = value.grad if are_parameters else value
            if value is not None:
                self._record("grad", name, [("", value)], micro_batch)

    def _record_weights(self):
        model = _unwrapped(self.model)
        for name, value in (*model.named_parameters(), *model.named_buffers()):
            self._record("weight", _clean(name), [("", value)])

    # -- hooks of torch --

    def _attach(self):
        """Hooks that look and return nothing. Gradients are seen by hooks of tensors: those of modules (full backward hooks) put
        nodes into the graph."""
        select, root = self.policy.select, self.model
        self._handles.append(root.register_forward_pre_hook(self._before_root, prepend=True, with_kwargs=True))
        inner = _unwrapped(root)
        for name, module in inner.named_modules():
            name = _clean(name)
            watched = name if any(select.takes(stage, name) for stage in ("forward", "backward")) else None
            if watched is not None and self.policy.inputs:
                self._handles.append(module.register_forward_pre_hook(functools.partial(self._before_forward, name), with_kwargs=True))
            if watched is not None or module is inner:
                self._handles.append(module.register_forward_hook(functools.partial(self._after_forward, name)))
        for name, parameter in inner.named_parameters():
            if self.policy.micro_batch_gradients and parameter.requires_grad and select.takes("grad", _clean(name)):
                hook = functools.partial(self._safely, self._accumulated, _clean(name))
                self._handles.append(parameter.register_post_accumulate_grad_hook(hook))
        for optimizer in self.optimizers:
            if hasattr(optimizer, "register_step_pre_hook"):
                self._handles.append(optimizer.register_step_pre_hook(self._before_optimizer))
                self._handles.append(optimizer.register_step_post_hook(self._after_optimizer))

    def _is_blind(self):
        """Where nothing may be looked at: traced by a compiler, captured into a CUDA graph, outside of steps."""
        torch = _torch()
        if self._step is None or self._reason is not None:
            return True
        compiling = getattr(torch.compiler, "is_compiling", None)
        return compiling is not None and compiling() or torch.cuda.is_available() and torch.cuda.is_current_stream_capturing()

    def _before_root(self, module, args, kwargs):
        if self._is_blind() or _in_backward():
            return
        self._evaluates = not _torch().is_grad_enabled()
        if not self._evaluates:
            self._forward_mb = self._forward_mb + 1 if self._given_mb is None else self._given_mb
        tensors = [*tensors_in(list(args)), *tensors_in(kwargs)]
        self._safely(lambda: self._record("batch", "input", tensors, self._micro_batch(), flags=WITHOUT_GRADIENTS * self._evaluates))

    def _before_forward(self, name, module, args, kwargs):
        """Inputs are looked at before the call, which may write to them."""
        if not self._is_blind():
            self._safely(self._see_inputs, name, args, kwargs)

    def _see_inputs(self, name, args, kwargs):
        if self._wants("forward", name, self._backward_mb if _in_backward() else self._micro_batch()):
            self._inputs.setdefault(name, []).append(self._see([*tensors_in(list(args)), *tensors_in(kwargs)]))

    def _micro_batch(self):
        return -1 if self._evaluates else self._forward_mb

    def _after_forward(self, name, module, args, output):
        if self._is_blind():
            return
        recomputes = _in_backward()
        micro_batch = self._backward_mb if recomputes else self._micro_batch()
        flags = RECOMPUTED if recomputes else WITHOUT_GRADIENTS * self._evaluates
        self._safely(self._record_forward, name, output, micro_batch, flags)

    def _record_forward(self, name, output, micro_batch, flags):
        outputs = list(tensors_in(output))
        inputs = self._inputs[name].pop() if self._inputs.get(name) else ()
        self._record("forward", name, outputs, micro_batch, inputs, flags=flags, scope=name.rpartition(".")[0])
        if not _torch().is_grad_enabled():
            return
        for path, tensor in outputs:
            if hasattr(tensor, "register_hook") and tensor.requires_grad:
                told = name if len(outputs) == 1 else f"{name}:{path}"
                tensor.register_hook(functools.partial(self._on_gradient, told, name, micro_batch))

    def _on_gradient(self, name, module_name, micro_batch, gradient):
        if not self._is_blind():
            self._backward_mb = micro_batch
            self._safely(lambda: self._record("backward", name, [("", gradient)], micro_batch, scope=module_name.rpartition(".")[0],
                                              select_name=module_name))

    def _accumulated(self, name, parameter):
        if not self._is_blind() and parameter.grad is not None:
            self._record("grad", name, [("", parameter.grad)], self._backward_mb)

    def _before_optimizer(self, optimizer, args, kwargs):
        if not self._is_blind():
            members = {id(p) for group in optimizer.param_groups for p in group["params"]}
            self._safely(self._record_gradients, [(n, p) for n, p in self._parameters() if id(p) in members], -1, True)
            self._safely(self._record_settings, [optimizer])

    def _after_optimizer(self, optimizer, args, kwargs):
        if not self._is_blind():
            self._safely(self._record_update, optimizer)

    def _record_update(self, optimizer):
        for name, parameter in self._parameters():
            for key, value in optimizer.state.get(parameter, {}).items():
                if _is_tensor(value):
                    self._record("update", f"{name}.{key}", [("", value)], select_name=name)
                elif isinstance(value, (bool, int, float)):
                    self._record("update", f"{name}.{key}", values=[("value", _number_text(value))], select_name=name)


def _in_backward():
    """Whether autograd runs: a forward pass is then a recomputation."""
    return _torch()._C._current_graph_task_id() != -1


def _setting_text(value):
    """A setting of a parameter group as Python prints it, None for the parameters themselves; a rate may be a tensor."""
    if _is_tensor(value) and value.numel() == 1:
        value = value.item()
    return repr(value) if isinstance(value, (bool, int, float, str, tuple)) or value is None else None


def _number_text(value):
    return repr(value.item() if isinstance(value, np.generic) else value)


def _leaves_in(value, path=""):
    """(path, item) of everything that is no container."""
    if isinstance(value, dict) or isinstance(value, (list, tuple)):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _leaves_in(item, f"{path}.{key}" if path else str(key))
    else:
        yield path, value
