#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes expected.txt: what the files of this folder hold, as torch itself wrote them down.

    make_expectations.py CORPUS

CORPUS is the corpus of real files; its generators/make_base.py (make_torch, make_dtensor) wrote the
files with torch 2.15.0 and numpy 2.4.6, and hashed the arrays in memory into CORPUS/expected.

One line per fact, fields separated by tabs: FILE tensor NAME DTYPE SHAPE SHA256, or
FILE value NAME JSON. A dtype of "-" has no common name and is not compared.
"""
import json
import sys
from pathlib import Path

corpus, here = Path(sys.argv[1]), Path(__file__).parent
OWN = {"uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64", "float16", "bfloat16", "float32", "float64", "bool",
       "complex32", "complex64", "complex128", "bcomplex32", "bits8", "bits16", "bits1x8", "bits2x4", "bits4x2", "float4_e2m1fn_x2",
       "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"}
OURS = {"(int_repr)"}       # expectations that name something no file names
with open(here / "expected.txt", "w", encoding="utf-8") as out:
    for path in sorted((corpus / "expected").glob("torch-*.json")):
        case = json.loads(path.read_text())
        file = case["open"].rsplit("/", 1)[1]
        if not (here / file).exists():
            continue
        for key in ("tensors", "arrays", "reachable"):
            for t in case.get(key, []):
                name = t["name"]
                if any(o in name for o in OURS) or file == "nested_jagged.pt":
                    continue
                if case.get("unnamed"):
                    name = file.rsplit(".", 1)[0]
                if file.startswith(("objects", "nested")) and name == "parameter_list.0":
                    name = "parameter_list._parameters.0"        # an attribute, shown where the file has it
                dtype = t["dtype"] if t["dtype"] in OWN else "-"
                print(file, "tensor", name, dtype, json.dumps(t["shape"]), t["sha256"], sep="\t", file=out)
        for name, value in case.get("values", {}).items():
            print(file, "value", name, json.dumps(value), sep="\t", file=out)
