#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Trains a small GPT with Megatron-Core on CPU processes and writes its state in several forms at once, so that what lies in
them is known to be the same: tp2_pp2/ (4 processes, the optimizer's state by parameter), dp2/ and tp2_dp2/ (bfloat16, the
optimizer distributed over data-parallel processes), each as
    dist/     torch_dist; distributed optimizers as dp_reshardable
    params/   torch_dist with fully_reshardable (dp2 only)
    ranks/    folders mp_rank_XX_YYY, laid out as Megatron-LM's training does
and expected.json: of each, dtype, shape and SHA-256 of every logical tensor of dist/, and in each form the file and the byte
where one element begins, found by searching for the tensor that a process held. Needs megatron-core and torch (0.16.1 with
2.15.0 wrote these).

    make_megatron.py [DIRECTORY]
"""
import argparse
import contextlib
import hashlib
import json
import logging
import os
import random
import shutil
import sys
import tempfile
import warnings
from pathlib import Path

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.overrides import TorchFunctionMode

warnings.simplefilter("ignore")
logging.disable(logging.WARNING)
torch.cuda.current_device = lambda: "cpu"
torch.cuda.synchronize = torch.cuda.empty_cache = lambda *a: None

from megatron.core import dist_checkpointing, parallel_state  # noqa: E402
from megatron.core.dist_checkpointing.dict_utils import nested_values  # noqa: E402
from megatron.core.dist_checkpointing.mapping import ShardedObject, ShardedTensor, apply_factories  # noqa: E402
from megatron.core.distributed import DistributedDataParallel, DistributedDataParallelConfig  # noqa: E402
from megatron.core.models.gpt import GPTModel  # noqa: E402
from megatron.core.models.gpt.gpt_layer_specs import get_gpt_layer_local_spec  # noqa: E402
from megatron.core.optimizer import OptimizerConfig, get_megatron_optimizer  # noqa: E402
from megatron.core.optimizer_param_scheduler import OptimizerParamScheduler  # noqa: E402
from megatron.core.tensor_parallel.random import CudaRNGStatesTracker  # noqa: E402
from megatron.core.transformer import TransformerConfig  # noqa: E402

CudaRNGStatesTracker.fork = lambda self, name=None: contextlib.nullcontext()
SEED, STEPS, LAYERS, WIDTH, FEATURES, WORDS, LENGTH = 4321, 2, 2, 8, 20, 24, 6


class CpuForCuda(TorchFunctionMode):
    """Megatron-Core asks for "cuda" by name in a few places."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        if func is torch.Tensor.cuda:
            return args[0]
        if "cuda" in str(kwargs.get("device")):
            kwargs["device"] = "cpu"
        result = func(*args, **kwargs)
        return result.replace("torch.", "torch.cuda.") if func is torch.Tensor.type and isinstance(result, str) else result


class Trained:
    def __init__(self, tp, pp, distributed):
        parallel_state.initialize_model_parallel(tensor_model_parallel_size=tp, pipeline_model_parallel_size=pp)
        torch.manual_seed(SEED)
        random.seed(SEED)
        dtype = torch.bfloat16 if distributed else torch.float32
        config = TransformerConfig(
            num_layers=LAYERS, hidden_size=WIDTH, ffn_hidden_size=FEATURES, num_attention_heads=2, use_cpu_initialization=True, attention_dropout=0.0, hidden_dropout=0.0, bf16=distributed,
            params_dtype=dtype, pipeline_dtype=dtype, tensor_model_parallel_size=tp, pipeline_model_parallel_size=pp, gradient_accumulation_fusion=False, masked_softmax_fusion=False,
            bias_dropout_fusion=False, bias_activation_fusion=False, apply_rope_fusion=False, persist_layer_norm=False, add_bias_linear=False, gated_linear_unit=tp > 1,
            activation_func=torch.nn.functional.silu)
        gpt = GPTModel(config, get_gpt_layer_local_spec(), vocab_size=WORDS, max_sequence_length=LENGTH, pre_process=parallel_state.is_pipeline_first_stage(),
                       post_process=parallel_state.is_pipeline_last_stage(), share_embeddings_and_output_weights=False, position_embedding_type="none")
        self.model = DistributedDataParallel(config, DistributedDataParallelConfig(use_distributed_optimizer=distributed, grad_reduce_in_fp32=True), gpt.bfloat16() if distributed else gpt)
        self.optimizer = get_megatron_optimizer(
            OptimizerConfig(optimizer="adam", lr=1e-2, min_lr=1e-4, weight_decay=0.1, bf16=distributed, params_dtype=dtype, clip_grad=0.0, use_distributed_optimizer=distributed), [self.model])
        self.scheduler = OptimizerParamScheduler(self.optimizer, init_lr=0.0, max_lr=1e-2, min_lr=1e-4, lr_warmup_steps=1, lr_decay_steps=8, lr_decay_style="cosine", start_wd=0.1, end_wd=0.1,
                                                 wd_incr_steps=8, wd_incr_style="constant")
        self.args = argparse.Namespace(seed=SEED, num_layers=LAYERS, hidden_size=WIDTH, num_attention_heads=2, ffn_hidden_size=FEATURES, padded_vocab_size=WORDS, lr=1e-2, global_batch_size=4,
                                       micro_batch_size=2, iteration=STEPS, consumed_train_samples=4 * STEPS, bf16=distributed, tensor_model_parallel_size=tp, pipeline_model_parallel_size=pp,
                                       expert_model_parallel_size=1, world_size=dist.get_world_size(), use_distributed_optimizer=distributed, ckpt_format="torch_dist")

    def train(self):
        """Gradients are drawn, alike on the processes of one part of the model: a pipeline's schedule is not what is tested."""
        part = parallel_state.get_tensor_model_parallel_rank() + 10 * parallel_state.get_pipeline_model_parallel_rank()
        for step in range(STEPS):
            self.model.zero_grad_buffer()
            self.optimizer.zero_grad()
            for number, parameter in enumerate(self.model.parameters()):
                cut = getattr(parameter, "tensor_model_parallel", False)
                generator = torch.Generator().manual_seed(1000 * step + 10 * number + (7919 * part if cut else 7919 * (part // 10)))
                parameter.main_grad.copy_(torch.randn(parameter.shape, generator=generator))
            self.model.finish_grad_sync()
            self.optimizer.step()
            self.scheduler.step(4)
        return self

    def generators(self):
        """As Megatron-LM's training collects them; of a CUDA generator the seed and the offset, 8 bytes each."""
        part = parallel_state.get_tensor_model_parallel_rank() + 100 * parallel_state.get_pipeline_model_parallel_rank()
        cuda, tracked = (torch.tensor([seed, 4 * STEPS]).view(torch.uint8) for seed in (SEED, SEED + 2718 + part))
        return [{"random_rng_state": random.getstate(), "torch_rng_state": torch.get_rng_state(), "cuda_rng_state": cuda, "rng_tracker_states": {"model-parallel-rng": tracked}}]

    def common(self, **more):
        return {"args": self.args, "checkpoint_version": 3.0, "iteration": STEPS, "opt_param_scheduler": self.scheduler.state_dict(), **more}

    def sharded(self, sharding):
        pp, tp = parallel_state.get_pipeline_model_parallel_rank(), parallel_state.get_tensor_model_parallel_rank()
        shape = parallel_state.get_pipeline_model_parallel_world_size(), parallel_state.get_tensor_model_parallel_world_size()
        metadata = {"distrib_optim_sharding_type": sharding} if sharding else {}
        model = self.model.module.sharded_state_dict(metadata={"singleton_local_shards": False})
        generators = ShardedObject("rng_state", self.generators(), shape, (pp, tp), replica_id=parallel_state.get_data_parallel_rank())
        state = self.common(model=model, rng_state=generators)
        state["optimizer"] = self.optimizer.sharded_state_dict(model, is_loading=False, metadata=metadata)
        return state, metadata


def digest(tensor):
    data = tensor.detach().contiguous().flatten().view(torch.uint8).numpy().tobytes()
    return {"dtype": str(tensor.dtype)[6:], "shape": list(tensor.shape), "sha256": hashlib.sha256(data).hexdigest()}


def held(state):
    """Logical tensors as all processes hold them, by the key under which they are saved."""
    state = dict(state)
    apply_factories(state)
    mine = [(v.key, v.data.detach().clone(), v.global_shape, v.global_offset, v.prepend_axis_num) for v in nested_values(state) if isinstance(v, ShardedTensor)]
    everyone = [None] * dist.get_world_size()
    dist.all_gather_object(everyone, mine)
    whole = {}
    for key, data, shape, offset, prepended in (item for part in everyone for item in part):
        tensor = whole.setdefault(key, torch.zeros(shape, dtype=data.dtype))
        data = data.reshape((1,) * prepended + data.shape)
        tensor[tuple(slice(o, o + s) for o, s in zip(offset, data.shape))] = data
    return {key: digest(tensor) for key, tensor in whole.items()}


def save_dist(trained, path, sharding=None):
    state, metadata = trained.sharded(sharding)
    tensors = held(state)
    if dist.get_rank() == 0:
        path.mkdir(parents=True)
    dist.barrier()
    dist_checkpointing.save(state, str(path), content_metadata=metadata or None)
    return tensors


def save_ranks(trained, path, distributed):
    tp, pp = parallel_state.get_tensor_model_parallel_rank(), parallel_state.get_pipeline_model_parallel_rank()
    folder = path / (f"mp_rank_{tp:02d}" + (f"_{pp:03d}" if parallel_state.get_pipeline_model_parallel_world_size() > 1 else ""))
    state = trained.common(model=trained.model.module.state_dict_for_save_checkpoint(), optimizer=trained.optimizer.state_dict(), rng_state=trained.generators())
    if parallel_state.get_data_parallel_rank() == 0:
        folder.mkdir(parents=True)
        torch.save(state, folder / "model_optim_rng.pt")
    dist.barrier()
    if distributed:
        trained.optimizer.save_parameter_state(str(folder / "distrib_optim.pt"))
    dist.barrier()


def place(directory, tensor, element):
    """Where that element begins, in the only file of the directory that holds the tensor's bytes, and only once."""
    data = tensor.detach().contiguous().flatten().view(torch.uint8).numpy().tobytes()
    found = [(path, path.read_bytes()) for path in sorted(directory.rglob("*")) if path.is_file()]
    found = [(path, content.index(data)) for path, content in found if content.count(data) == 1]
    assert len(found) == 1, (directory, found)
    path, begin = found[0]
    return {"file": str(path.relative_to(directory)), "byte": begin + element * tensor.element_size()}


def marks(case, trained):
    """Element [3, 4] of the last process's part of a layer's weight, or element 5 of a moment of the first parameter."""
    if case == "tp2_pp2":
        weight = dict(trained.model.module.named_parameters())["decoder.layers.0.mlp.linear_fc2.weight"]
        return {form: place(Path(case, form), weight, 3 * weight.shape[1] + 4) for form in ("dist", "ranks")}
    buffers = torch.load(Path(case, "ranks", "mp_rank_00", "distrib_optim.pt"), weights_only=False)
    moment = buffers[0][(torch.bfloat16, torch.float32)]["exp_avg"]
    last = moment[-WIDTH * WORDS // trained.args.tensor_model_parallel_size:]
    return {form: place(Path(case, form), last, 5) for form in ("dist", "params", "ranks") if Path(case, form).exists()} | {"element": len(moment) - len(last) + 5}


def process(number, world, store, case, tp, pp, distributed):
    os.environ.update(GLOO_SOCKET_IFNAME="lo", RANK=str(number), LOCAL_RANK=str(number), WORLD_SIZE=str(world), LOCAL_WORLD_SIZE=str(world))
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)  # memory that nothing was written to is NaN
    dist.init_process_group("gloo", init_method=f"file://{store}/{case}", rank=number, world_size=world)
    with CpuForCuda():
        trained = Trained(tp, pp, distributed).train()
        tensors = save_dist(trained, Path(case, "dist"), "dp_reshardable" if distributed else None)
        if case == "dp2":
            save_dist(trained, Path(case, "params"), "fully_reshardable")
        save_ranks(trained, Path(case, "ranks"), distributed)
    if number == world - 1:
        Path(store, case + ".json").write_text(json.dumps({"tensors": tensors, "element": marks(case, trained)}))
    dist.barrier()
    dist.destroy_process_group()


def main():
    os.chdir(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent)
    expected = {}
    with tempfile.TemporaryDirectory() as store:
        for case, world, tp, pp, distributed in ("tp2_pp2", 4, 2, 2, False), ("dp2", 2, 1, 1, True), ("tp2_dp2", 4, 2, 1, True):
            shutil.rmtree(case, ignore_errors=True)
            mp.start_processes(process, args=(world, store, case, tp, pp, distributed), nprocs=world, start_method="fork")
            expected[case] = json.loads(Path(store, case + ".json").read_text())
    Path("expected.json").write_text(json.dumps(expected, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
