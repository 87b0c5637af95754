#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fills safetensors/, npy/, npz/ and zip/ beside this file from the corpus of real files.

    copy_array_cases.py CORPUS

The sound files were written by safetensors 0.8.0, numpy 2.4.6 and ml_dtypes 0.6.0, a few by hand
(CORPUS/generators/make_base.py); the bent ones, st_*, npy_*, npz_* and torch_*, byte by byte
(make_hostile.py). expected.txt says what the writers held in memory, one line per fact, tab-separated:

    FILE tensor  NAME-AS-JSON DTYPE SHAPE SHA256     ("-" where a dtype has no common name)
    FILE value   PATH-AS-JSON VALUE-AS-JSON
    FILE damaged NAME-AS-JSON                        listed, but its bytes cannot be had
    FILE must    refuse|open|open partly             of a bent file: any of what is right
"""
import json
import shutil
import sys
from pathlib import Path

corpus, here = Path(sys.argv[1]), Path(__file__).parent
BIG = {"npz_bomb_1gb.npz", "npz_bomb_lies.npz", "npz_entries_2000.npz", "st_json_deep.safetensors",
       "st_json_unclosed.safetensors", "st_shape_huge_rank.safetensors", "torch_deflate_long.pt"}      # made in the tests
LEFT_OUT = {"model.safetensors", "model_b.safetensors", "padded_unsorted.safetensors", "all_dtypes_b.safetensors", "unaligned.safetensors",
            "model.npz", "model_b.npz", "f4_b.npy"}         # large, and show nothing that the others do not
NUMBERS = {"float64", "float32", "float16", "bfloat16", "bool", "complex64", "complex128", "float4_e2m1fn_x2", "float6_e2m3", "float6_e3m2",
           "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
           "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"}
hostile = json.loads((corpus / "expected/hostile.json").read_text())["cases"]

for family, prefix in (("safetensors", "st_"), ("npy", "npy_"), ("npz", "npz_"), ("zip", "torch_")):
    lines = []
    for path in sorted((corpus / "expected").glob(family + "-*.json")):
        case = json.loads(path.read_text())
        source = corpus / case["open"]
        if not source.is_file() or source.suffix == ".json" or source.name in LEFT_OUT:
            continue
        shutil.copyfile(source, here / family / source.name)
        for t in case.get("tensors", []):
            dtype = t["dtype"] if t["dtype"] in NUMBERS else "-"
            lines.append((source.name, "tensor", json.dumps(t["name"]), dtype, json.dumps(t["shape"]), t["sha256"]))
        for name, value in case.get("values", {}).items():
            lines.append((source.name, "value", json.dumps(name), json.dumps(value)))
        for name in case.get("unreadable") or {}:
            lines.append((source.name, "damaged", json.dumps(name)))
    for case in hostile:
        source = corpus / case["open"]
        if not source.name.startswith(prefix) or not source.is_file() or source.name in BIG:
            continue
        if family == "zip" and any(w in source.name for w in ("tensor_", "run_", "byteorder", "version", "prefix", "data_pkl", "foreign", "storage")):
            continue            # zips without fault
        shutil.copyfile(source, here / family / source.name)
        lines.append((source.name, "must", "|".join([case["must"], *case.get("may", [])]), case["why"]))
    text = "".join("\t".join(line) + "\n" for line in lines)
    (here / family / "expected.txt").write_text(text, encoding="utf-8")
