#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes sharded/ and bin_sharded/ with their real writers, and expected.json with the SHA-256 of every
tensor as torch holds it. Needs torch, transformers and safetensors (2.15.0, 5.24.0 and 0.8.0 wrote these).

    make_hf.py [DIRECTORY]
"""
import hashlib
import json
import sys
from pathlib import Path

import torch
from transformers import LlamaConfig, LlamaForCausalLM


def digests(state):
    flat = lambda t: t.detach().contiguous().flatten().view(torch.uint8).numpy().tobytes()
    return {name: hashlib.sha256(flat(t)).hexdigest() for name, t in sorted(state.items())}


def llama(vocabulary, inner, heads):
    torch.manual_seed(1234)
    return LlamaForCausalLM(LlamaConfig(vocab_size=vocabulary, hidden_size=16, intermediate_size=inner, num_hidden_layers=2, num_attention_heads=2,
                                        num_key_value_heads=heads, max_position_embeddings=32, tie_word_embeddings=False))


root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent)
model = llama(96, 40, 1)
model.save_pretrained(root / "sharded", max_shard_size="20KB")
expected = {"sharded": digests(model.state_dict())}

state = llama(64, 24, 1).to(torch.bfloat16).state_dict()
folder = root / "bin_sharded"
folder.mkdir(exist_ok=True)
items = list(state.items())
shards = {f"pytorch_model-0000{i}-of-00002.bin": dict(part) for i, part in ((1, items[:len(items) // 2]), (2, items[len(items) // 2:]))}
for name, part in shards.items():
    torch.save(part, folder / name)
size = sum(t.numel() * t.element_size() for t in state.values())
index = {"metadata": {"total_size": size}, "weight_map": {n: name for name, part in shards.items() for n in part}}
(folder / "pytorch_model.bin.index.json").write_text(json.dumps(index, indent=2))
expected["bin_sharded"] = digests(state)
(root / "expected.json").write_text(json.dumps(expected, indent=1))
