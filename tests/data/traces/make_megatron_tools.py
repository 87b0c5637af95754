#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Small files as Megatron's determinism tools and its router tracer lay them out: make_megatron_tools.py OUT

No tool is run: members, their order, indentation and file names are those of the tools' documents; values are made here.
A is the baseline. In B one element of one collective's input is one unit in the last place higher, one operation is called
once more, one case is not deterministic, and the scores of one token are exchanged in the second step. `tools.json` has what
numpy and hashlib say of every tensor.
"""
from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

import numpy as np

EXPECTED: dict[str, object] = {}


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def bf16(values: np.ndarray) -> bytes:
    """Values that bfloat16 has exactly."""
    bits = np.asarray(values, dtype="<f4").view("<u4")
    assert not (bits & 0xFFFF).any()
    return (bits >> 16).astype("<u2").tobytes()


def write(path: Path, document: dict) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=2, allow_nan=False) + "\n")


def context(world: int) -> dict:
    return {"revision": "0123456789abcdef0123456789abcdef01234567", "dirty": False, "world_size": world, "gpu": "Some GPU",
            "capability": [9, 0], "torch": "2.9.0", "topology": "GPU0\tX\n" * 40}


def layout(shape: list[int], dtype: str, grad: bool) -> dict:
    stride, step = [], 1
    for size in reversed(shape):
        stride.insert(0, step)
        step *= size
    return {"shape": shape, "stride": stride, "dtype": dtype, "requires_grad": grad}


def signature(op: str, implementation: str, phase: str, inputs: list[dict], **more) -> dict:
    return {"op_id": op, "implementation": implementation, "phase": phase, "deterministic_algorithms": True,
            "runtime": {"fill_uninitialized_memory": True, "tf32": False}, "inputs": inputs, **more}


def inventory(folder: Path, calls: int) -> None:
    for rank in (0, 1):
        swiglu = signature("swiglu", "torch.compile:bias_swiglu", "forward", [layout([2, 4], "torch.bfloat16", True)])
        attention = signature("attention", "te:fused", "forward_backward",
                              [layout([2, 1, 4], "torch.bfloat16", True)] * 3, configuration={"causal": True})
        write(folder / f"rank-{rank}.json",
              {"schema_version": 1, "kind": "determinism_inventory", "recipe_id": "dense-test", "rank": rank, "context": context(2),
               "complete": True, "truncated": False,
               "operations": [{"signature": swiglu, "calls": 3, "site": "layers:swiglu"},
                              {"signature": attention, "calls": calls if rank == 1 else 2, "site": "layers:attention"}],
               "capture_issues": [], "context_after": context(2)})


def collectives(folder: Path, bump: bool) -> None:
    for rank in (0, 1):
        target = folder / f"rank-{rank}"
        target.mkdir(parents=True, exist_ok=True)

        def keep(name: str, shape: list[int], dtype: str, data: bytes, grad: bool) -> dict:
            (target / f"{sha(data)}.bin").write_bytes(data)
            EXPECTED[f"{folder.name}/{rank}/{name}"] = sha(data)
            return {**layout(shape, dtype, grad), "storage_offset": 0, "sha256": sha(data)}

        def event(call: int, case: str, tensor: dict, **more) -> dict:
            collective = {"capture_schema": 1, "case": case, "group_ranks": [0, 1], "group_rank": rank, "size": 2, "backend": "nccl",
                          "nccl_version": [2, 27, 3], "device_uuid": f"GPU-{folder.name}{rank}", "nccl_environment": {"NCCL_ALGO": "Ring"},
                          "group_options": None, "input": tensor, "grad_enabled": True, "warn_only": False, **more}
            inputs = [{key: tensor[key] for key in ("shape", "stride", "dtype", "requires_grad")}]
            phase = "forward_backward" if "gradient" in more else "forward"
            return {"call_id": call, "signature": signature("tensor_parallel_mappings", "mcore:" + case, phase, inputs,
                                                            configuration={"collective": collective}), "site": "mappings:" + case}

        reduced = bf16(np.arange(8, dtype="<f4").reshape(2, 4) - rank)
        x = keep("reduce", [2, 4], "torch.bfloat16", reduced, True)
        gradient = keep("gradient", [2, 4], "torch.bfloat16", bf16(np.full((2, 4), 0.5, "<f4")), False)
        gathered = np.array([[0.1, -0.0, 3.0], [1e-40, 5.0, 6.0]], dtype="<f4") * (rank + 1)
        if bump and rank == 1:
            gathered[1, 1] = np.nextafter(gathered[1, 1], np.float32(np.inf))
        y = keep("gather_last", [2, 3], "torch.float32", gathered.tobytes(), False)
        write(target / "manifest.json",
              {"schema_version": 1, "recipe_id": "dense-test", "rank": rank, "context": context(2), "complete": True, "truncated": False,
               "kind": "collective_recipe_capture",
               "events": [event(0, "reduce", x), event(1, "gather_last", y),
                          event(0, "reduce", x, gradient=gradient, backward_grad_enabled=False)],
               "capture_issues": [], "bytes_written": sum(p.stat().st_size for p in target.glob("*.bin")), "context_after": context(2)})


def evidence(folder: Path, broken: bool) -> None:
    for rank, process in ((0, 101), (1, 102)):
        def case(status: str) -> dict:
            return {"declaration": {"op_id": "swiglu"},
                    "observations": [{"status": status, "rank": rank, "signature": signature("swiglu", "torch.compile:bias_swiglu", "forward", []),
                                      "protocol": {"replays": 3}}], "test_complete": True, "reason": None}
        bad = broken and rank == 0
        write(folder / f"rank-{rank}-{process}.json",
              {"schema_version": 1, "evidence_scope": "operator", "run_id": f"run-{folder.name}", "rank": rank, "context": context(2),
               "inventory": ["kernels/test_swiglu.py"], "cases": {
                   "kernels/test_swiglu.py::test_replay[bf16]": case("verified_nondeterministic" if bad else "verified_deterministic"),
                   "kernels/test_swiglu.py::test_replay[fp32]": case("verified_deterministic")},
               "complete": True, "exit_status": 1 if bad else 0})


def router(folder: Path, swap: bool) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    hidden, scores, lines = bytearray(), bytearray(), []
    for step in (5, 6):
        for block, mtp, layer in (("decoder", None, 1), ("decoder", None, 2), ("mtp", 0, 1)):
            states = (np.arange(12, dtype="<f4").reshape(3, 4) + layer) * step
            logits = np.array([[4, 3, 2, 1], [1, 2, 3, 4], [0, 8, 4, 16]], dtype="<f4") / layer
            if swap and (step, block, layer) == (6, "decoder", 2):
                logits[2] = logits[2][[0, 1, 3, 2]]
            top = np.argsort(-logits, axis=1, kind="stable")[:, :2].astype("<i4")
            record = {"step": step, "stage": "pre_dispatch", "block": block, "layer": layer, "rank": 0, "num_tokens": 3, "topk": 2}
            if mtp is not None:
                record["mtp_idx"] = mtp
            name = f"{folder.name}/{step}/{block}.{layer}" if mtp is None else f"{folder.name}/{step}/{block}.{mtp}.{layer}"
            for key, blob, values, label in (("hs", hidden, states, "hidden_states"), ("logit", scores, logits, "logits")):
                data = bf16(values)
                record.update({f"{key}_offset": len(blob), f"{key}_bytes": len(data), f"{key}_shape": list(values.shape)})
                blob.extend(data)
                EXPECTED[f"{name}/{label}"] = sha(data)
            record["top_indices"] = top.tolist()
            EXPECTED[f"{name}/top_indices"] = sha(top.tobytes())
            lines.append(json.dumps(record) + "\n")
    (folder / "router_trace_rank0.jsonl").write_text("".join(lines))
    (folder / "hidden_states_rank0.bin").write_bytes(hidden)
    (folder / "logits_rank0.bin").write_bytes(scores)


def main() -> None:
    out = Path(sys.argv[1])
    for side in "AB":
        inventory(out / "inventory" / side, 3 if side == "B" else 2)
        collectives(out / "collectives" / side, side == "B")
        evidence(out / "evidence" / side, side == "B")
        router(out / "router" / side, side == "B")
    (out / "tools.json").write_text(json.dumps(EXPECTED, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
