#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names and shapes of the parameters of small models, as transformers writes them into model.safetensors.

Run once by hand: python make_names.py (torch, transformers 5.24.0 and safetensors); writes names.json beside itself.
"""
import json
import pathlib
import tempfile

import transformers
from safetensors import safe_open

SIZES = dict(hidden_size=8, intermediate_size=16, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
             vocab_size=10, max_position_embeddings=16, tie_word_embeddings=False)


def models():
    yield "llama", transformers.LlamaForCausalLM(transformers.LlamaConfig(**SIZES))
    yield "qwen2", transformers.Qwen2ForCausalLM(transformers.Qwen2Config(**SIZES))
    yield "qwen3", transformers.Qwen3ForCausalLM(transformers.Qwen3Config(**SIZES, head_dim=2))
    yield "mixtral", transformers.MixtralForCausalLM(transformers.MixtralConfig(**SIZES, num_local_experts=2))
    yield "qwen3_moe", transformers.Qwen3MoeForCausalLM(transformers.Qwen3MoeConfig(
        **SIZES, num_experts=2, num_experts_per_tok=1, moe_intermediate_size=4, head_dim=2))
    yield "gpt_neox", transformers.GPTNeoXForCausalLM(transformers.GPTNeoXConfig(
        hidden_size=8, intermediate_size=16, num_hidden_layers=2, num_attention_heads=2, vocab_size=10))
    yield "gpt2", transformers.GPT2LMHeadModel(transformers.GPT2Config(
        n_embd=8, n_layer=2, n_head=2, vocab_size=10, n_positions=16, tie_word_embeddings=False))


def saved_names(model):
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        with safe_open(pathlib.Path(folder) / "model.safetensors", "pt") as file:
            return {name: list(file.get_slice(name).get_shape()) for name in sorted(file.keys())}


def main():
    names = {family: saved_names(model) for family, model in models()}
    pathlib.Path(__file__).with_name("names.json").write_text(json.dumps(names, indent=1) + "\n")


main()
