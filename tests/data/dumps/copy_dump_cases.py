#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fills the folders beside this file with small parts of real dumps: copy_dump_cases.py DUMPS

DUMPS holds what the tools wrote while two runs of one tiny model trained: torch 2.15 DebugMode, mindstudio-probe 26.2, SGLang 0.5.23,
torchtitan's activation tracer, nvdlfw-inspect 0.2.2. Files are copied; long ones keep their first records, and a torchtitan log of 8 records
says so in its title. expected.json says what the tensors of msprobe and SGLang are, by torch.
"""
import hashlib
import json
import shutil
import sys
from pathlib import Path

dumps, here = Path(sys.argv[1]), Path(__file__).resolve().parent
for folder in ("debugmode", "msprobe", "sglang", "torchtitan", "nvdlfw"):
    shutil.rmtree(here / folder, ignore_errors=True)


def put(source, target):
    target = here / target
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(source if isinstance(source, bytes) else source.read_bytes())


for pair in ("two-elements-swapped", "one-ulp", "the-same-with-a-nan"):
    for side in "AB":
        for kind in ("hash_tensor", "norm"):
            put(dumps / "debugmode/blind" / pair / f"{side}-{kind}.json", f"debugmode/{pair}/{side}-{kind}.json")
step = dumps / "debugmode/hash_tensor/step1/A"
logs = json.loads((step / "logs.json").read_text())
lines = (step / "debug_string.txt").read_text().splitlines()[:60]
logs["logs"] = logs["logs"][:60]
put(json.dumps(logs).encode(), "debugmode/both/logs.json")
put(("\n".join(lines) + "\n").encode(), "debugmode/both/debug_string.txt")

for kind in ("statistics", "md5", "xor", "tensor"):
    for number in (0, 1):
        rank = f"step{number}/rank0"
        put(dumps / "msprobe/blind" / kind / rank / "dump.json", f"msprobe/{kind}/{rank}/dump.json")
        for payload in sorted((dumps / "msprobe/blind" / kind / rank).glob("dump_tensor_data/*")):
            put(payload, f"msprobe/{kind}/{rank}/dump_tensor_data/{payload.name}")

for run in "AC":
    for index in (1, 2, 10):
        for file in (dumps / "sglang" / run).glob(f"*___dump_index={index}___*"):
            put(file, f"sglang/{run}/{file.name}")
    text = (dumps / "torchtitan/step1" / run / "numerics/rank_0_activations.log").read_text()
    title, *blocks = text.split("\n[")
    cut = title.replace(title.splitlines()[0], "Total captured activations: 8") + "\n[" + "\n[".join(blocks[:8])
    put(cut.encode(), f"torchtitan/{run}/rank_0_activations.log")
    log = (dumps / "nvdlfw-inspect" / run / "nvdlfw_inspect_statistics_logs/nvdlfw_inspect_globalrank-0.log").read_text()
    put("".join(log.splitlines(keepends=True)[:24]).encode(), f"nvdlfw/{run}/nvdlfw_inspect_globalrank-0.log")

import torch  # noqa: E402

expected = {}
for file in sorted([*here.glob("msprobe/tensor/**/*.pt"), *here.glob("sglang/**/*.pt")]):
    found = torch.load(file, weights_only=False)
    tensor = found["value"] if isinstance(found, dict) else found
    expected[str(file.relative_to(here))] = hashlib.sha256(tensor.detach().contiguous().numpy().tobytes()).hexdigest()
(here / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")
