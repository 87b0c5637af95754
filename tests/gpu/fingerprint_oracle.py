#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fingerprint version 1, written from resources/docs/fingerprint.md; needs python3-xxhash.

    fingerprint_oracle.py            prints the vectors
    fingerprint_oracle.py FILE       compares them with FILE; 77 where xxhash is missing
"""
import json
import struct
import sys

try:
    from xxhash import xxh3_128
except ImportError:
    print("python3-xxhash is not installed")
    sys.exit(77)

LEAF, FAN_OUT = 65536, 256
u32, u64 = struct.Struct("<I").pack, struct.Struct("<Q").pack


def digest(data):
    return xxh3_128(data).digest()


def content(stream):
    if not stream:
        return digest(b"")
    level, nodes = 0, [digest(stream[i:i + LEAF]) for i in range(0, len(stream), LEAF)]
    while len(nodes) > 1:
        level += 1
        groups = [nodes[i:i + FAN_OUT] for i in range(0, len(nodes), FAN_OUT)]
        nodes = [digest(b"forkpoint-nd" + u32(1) + u32(level) + u32(len(g)) + b"".join(g)) for g in groups]
    return nodes[0]


def tensor(dtype, shape, stream):
    name = dtype.encode()
    dims = b"".join(map(u64, shape))
    return digest(b"forkpoint-tn" + u32(1) + u32(len(name)) + name + u32(len(shape)) + dims + u64(len(stream)) + content(stream))


def checkpoint(tensors):
    rows = sorted((name.encode(), d) for name, d in tensors)
    named = b"".join(u64(len(name)) + name + d for name, d in rows)
    return (digest(b"forkpoint-nm" + u32(1) + u64(len(rows)) + named),
            digest(b"forkpoint-ct" + u32(1) + u64(len(rows)) + b"".join(sorted(d for _, d in rows))))


def pattern(size):
    block = bytes((i * 131 + (i >> 8) * 7 + 3) & 255 for i in range(65536))
    # 131 * 65536 and 7 * 256 are multiples of 256, so the pattern repeats
    return (block * (size // 65536 + 1))[:size]


CASES = [("uint8", [0]), ("float32", []), ("bfloat16", [3, 0, 5]), ("uint8", [1]), ("bfloat16", [8, 16]), ("float32", [8, 8]), ("int64", [8192]),
         ("uint8", [65537]), ("float32", [1000, 257]), ("uint8", [256 * LEAF]), ("uint8", [256 * LEAF + 1]), ("float4_e2m1fn_x2", [7])]
BYTES = {"uint8": 1, "float32": 4, "bfloat16": 2, "int64": 8, "float4_e2m1fn_x2": 1}


def vectors():
    rows, named = [], []
    for i, (dtype, shape) in enumerate(CASES):
        size = BYTES[dtype]
        for dim in shape:
            size *= dim
        stream = pattern(size)
        d = tensor(dtype, shape, stream)
        named.append((f"layer.{i}", d))
        rows.append({"name": named[-1][0], "dtype": dtype, "shape": shape, "bytes": size, "content": content(stream).hex(), "tensor": d.hex()})
    both = checkpoint(named)
    empty = checkpoint([])
    return {"tensors": rows, "named": both[0].hex(), "contents": both[1].hex(), "empty_named": empty[0].hex(), "empty_contents": empty[1].hex()}


if __name__ == "__main__":
    text = json.dumps(vectors(), indent=1) + "\n"
    if len(sys.argv) < 2:
        print(text, end="")
    elif open(sys.argv[1]).read() != text:
        sys.exit("the vectors differ from " + sys.argv[1])
    else:
        print(len(CASES), "tensors agree")
