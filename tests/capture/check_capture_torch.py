#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""forkpoint_capture under torch: it changes no bit of a run, and records what is there. 77 where torch is missing.

Each kind of training runs twice, without and with the capture; weights, buffers, optimizer state and generators are compared bit
for bit. What is recorded is held to tensors that the loop itself kept.
"""
import contextlib
import os
import random
import shutil
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "resources" / "capture")]
try:
    import torch
except ImportError as missing:
    print(f"not run: {missing}")
    sys.exit(77)
from trace_check import Trace, oracle  # noqa: E402
import numpy as np  # noqa: E402
from torch import distributed, multiprocessing, nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402
from torch.utils.checkpoint import checkpoint  # noqa: E402
from forkpoint_capture import RECOMPUTED, WITHOUT_GRADIENTS, Capture, Policy, Select  # noqa: E402


class Model(nn.Module):
    """With what hooks could disturb: in-place functions, views, a module called twice, buffers, dropout, several outputs."""

    def __init__(self, recompute=None):
        super().__init__()
        self.embed = nn.Embedding(11, 16)
        self.block = nn.Sequential(nn.Linear(16, 16), nn.ReLU(inplace=True), nn.Dropout(0.25))
        self.norm = nn.BatchNorm1d(16)
        self.rnn = nn.GRU(16, 16, batch_first=True)
        self.head = nn.Linear(16, 11, bias=False)
        self.recompute = recompute

    def forward(self, ids, scale=None):
        x = self.embed(ids)
        for _ in range(2):
            x = x + (self.block(x) if self.recompute is None else checkpoint(self.block, x, use_reentrant=self.recompute == "reentrant"))
        x, _ = self.rnn(self.norm(x.transpose(1, 2)).transpose(1, 2))
        return self.head(x if scale is None else x * scale)


def seed():
    random.seed(5)
    np.random.seed(5)
    torch.manual_seed(5)
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)


def state_of(model, optimizer):
    """Everything that must not change, as bytes."""
    local = lambda t: t.to_local() if hasattr(t, "to_local") else t
    tensors = [*model.state_dict().values(), *(v for s in optimizer.state.values() for v in s.values() if torch.is_tensor(v)), torch.get_rng_state()]
    return [local(t).detach().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes() for t in tensors] + [
        repr(random.getstate()), repr(np.random.get_state())]


def train(folder=None, policy=Policy(), recompute=None, autocast=False, micro_batches=2, wrap=lambda m: m, steps=3, rank=0, sgd=False, looked=None,
          scaler=None, rates={}):
    """The loop with the five lines; `looked` takes what the loop itself sees, `rates` are set before the step begins."""
    seed()
    model = wrap(Model(recompute))
    make = torch.optim.SGD if sgd else torch.optim.AdamW
    optimizer = make(model.parameters(), lr=0.01, **({"momentum": 0.9} if sgd else {}))
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0) if scaler else None
    capture = Capture(folder, model, optimizer, policy, recipe={"lr": 0.01}) if folder else None
    with capture or contextlib.nullcontext():
        for step in range(1, steps + 1):
            optimizer.param_groups[0]["lr"] = rates.get(step, optimizer.param_groups[0]["lr"])
            with capture.step(step) if capture else contextlib.nullcontext():
                for m in range(micro_batches):
                    ids = (torch.arange(24).reshape(4, 6) * (step + m + 3 * rank) + torch.randint(0, 3, (4, 6))) % 11
                    with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
                        logits = model(ids, scale=torch.tensor(0.5))
                    loss = F.cross_entropy(logits.float().flatten(0, 1), ids.flatten()) / micro_batches
                    (scaler.scale(loss) if scaler else loss).backward()
                    if capture:
                        capture.loss(loss)
                    if looked is not None:
                        looked[step, m] = {"ids": ids.clone(), "logits": logits.detach().clone(), "loss": loss.item(),
                                           "grads": {n: p.grad.clone() for n, p in model.named_parameters()}}
                if scaler:
                    scaler.unscale_(optimizer)
                norm = nn.utils.clip_grad_norm_(model.parameters(), 0.5)
                if capture:
                    capture.grad_norm(norm)
                if looked is not None:
                    looked[step] = {"norm": norm.item(), "clipped": {n: p.grad.clone() for n, p in model.named_parameters()}}
                (scaler.step(optimizer), scaler.update()) if scaler else optimizer.step()
                if looked is not None:
                    looked[step]["weights"] = {n: p.detach().clone() for n, p in model.state_dict().items()}
                    looked[step]["moments"] = {n: optimizer.state[p]["exp_avg"].clone() for n, p in model.named_parameters() if not sgd}
                optimizer.zero_grad()
            with torch.no_grad():
                model(torch.zeros(2, 6, dtype=torch.int64))  # not in a step: not recorded
    return state_of(model, optimizer)


def digest(tensor):
    t = tensor.detach().clone(memory_format=torch.contiguous_format)
    return oracle.tensor(str(t.dtype)[6:], list(t.shape), t.reshape(-1).view(torch.uint8).numpy().tobytes())


def worker(rank, world, kind, folder):
    """One process of two: trains twice, and keeps the capture of the second."""
    distributed.init_process_group("gloo", init_method=f"file://{folder}/meet-{kind}", rank=rank, world_size=world)
    if kind == "ddp":
        wrap = nn.parallel.DistributedDataParallel
    else:
        from torch.distributed.device_mesh import init_device_mesh
        from torch.distributed.fsdp import fully_shard
        mesh = init_device_mesh("cpu", (world,))

        def wrap(model):
            fully_shard(model.block, mesh=mesh)
            return fully_shard(model, mesh=mesh)
    options = dict(wrap=wrap, rank=rank, recompute="plain", steps=2)
    plain = train(**options)
    same = plain == train(f"{folder}/{kind}", Policy(inputs=True), **options)
    Path(f"{folder}/{kind}-{rank}-{same}").touch()
    distributed.destroy_process_group()


class InFolder(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def trace(self, name="t", rank=0):
        trace = Trace(self.folder / name / f"rank_{rank}")
        self.assertEqual(trace.problems, [])
        return trace


class NeverChangesTheRun(InFolder):
    def test_every_kind_of_training(self):
        for number, kind in enumerate((dict(), dict(micro_batches=1), dict(recompute="plain"), dict(recompute="reentrant"), dict(autocast=True),
                                       dict(recompute="plain", autocast=True), dict(sgd=True), dict(scaler=True))):
            with self.subTest(**kind):
                name = f"t{number}"
                everything = Policy(inputs=True, leaves=True, payload=Select())
                self.assertEqual(train(**kind), train(self.folder / name, everything, **kind))
                trace = self.trace(name)
                self.assertEqual({r["stage"] for r in trace.records if r["stage"]},
                                 {"rng", "scheduler", "batch", "forward", "loss", "backward", "grad", "grad_norm", "update", "weight"})

    def test_a_change_would_be_seen(self):
        class Draws(Capture):
            def _record_generators(self):
                torch.rand(1)

        with unittest.mock.patch(f"{__name__}.Capture", Draws):
            drawn = train(self.folder / "t", steps=2)
        self.assertNotEqual(train(steps=2), drawn)

    def test_two_captures_are_equal(self):
        train(self.folder / "t")
        train(self.folder / "u")
        told = lambda t: [(r["step"], r["stage"], r["name"], r["micro_batch"], r["call"], [o["tensor"] for o in r["outputs"]]) for r in t.records]
        self.assertEqual(told(self.trace("t")), told(self.trace("u")))

    def test_hooks_are_gone_afterwards(self):
        model = Model()
        optimizer = torch.optim.AdamW(model.parameters())
        with Capture(self.folder / "t", model, optimizer):
            self.assertTrue(model.block._forward_hooks)
        self.assertFalse(any(m._forward_hooks or m._forward_pre_hooks for m in model.modules()))
        self.assertFalse(any(p._post_accumulate_grad_hooks for p in model.parameters()))
        self.assertFalse(optimizer._optimizer_step_pre_hooks or optimizer._optimizer_step_post_hooks)


class RecordsWhatIsThere(InFolder):
    def test_tensors_are_those_of_the_loop(self):
        looked = {}
        train(self.folder / "t", Policy(payload=Select(stages="grad", steps="2")), looked=looked)
        trace = self.trace()
        one = lambda *key, **more: trace.find(*key, **more)[0]["outputs"][0]
        for step in (1, 2, 3):
            for m in (0, 1):
                seen = looked[step, m]
                self.assertEqual(one("batch", "input", step=step, micro_batch=m)["tensor"], digest(seen["ids"]))
                self.assertEqual(one("forward", "<root>", step=step, micro_batch=m)["tensor"], digest(seen["logits"]))
                self.assertEqual(trace.find("loss", step=step, micro_batch=m)[0]["values"], [("value", repr(seen["loss"]))])
                for name, gradient in seen["grads"].items():
                    self.assertEqual(one("grad", name, step=step, micro_batch=m)["tensor"], digest(gradient), name)
            seen = looked[step]
            self.assertEqual(trace.find("grad_norm", step=step)[0]["values"], [("value", repr(seen["norm"]))])
            for name, gradient in seen["clipped"].items():
                self.assertEqual(one("grad", name, step=step, micro_batch=-1)["tensor"], digest(gradient), name)
                self.assertEqual(one("update", name + ".exp_avg", step=step)["tensor"], digest(seen["moments"][name]), name)
            for name, weight in seen["weights"].items():
                self.assertEqual(one("weight", name, step=step)["tensor"], digest(weight), name)
        kept = one("grad", "head.weight", step=2, micro_batch=1)["kept"]
        self.assertEqual(kept, looked[2, 1]["grads"]["head.weight"].numpy().tobytes())
        self.assertIsNone(one("grad", "head.weight", step=1, micro_batch=1)["kept"])

    def test_gradients_of_outputs(self):
        """The gradient with respect to logits is (softmax - one-hot) / rows, as retain_grad has it."""
        model, kept = nn.Linear(3, 2), {}
        with Capture(self.folder / "t", model) as capture, capture.step(1):
            out = model(torch.eye(3))
            out.retain_grad()
            out.square().sum().backward()
            kept["grad"] = out.grad
        trace = self.trace()
        self.assertEqual(trace.find("backward", "<root>")[0]["outputs"][0]["tensor"], digest(kept["grad"]))
        self.assertEqual(kept["grad"].tolist(), (2 * out).tolist())

    def test_inputs_are_those_before_the_call(self):
        seen = []
        model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(inplace=True))
        model[0].register_forward_hook(lambda m, a, out: seen.append(out.detach().clone()))
        with Capture(self.folder / "t", model, policy=Policy(inputs=True)) as capture, capture.step(1):
            model(torch.linspace(-1, 1, 8).reshape(2, 4))
        [relu] = self.trace().find("forward", "1")
        self.assertEqual(relu["inputs"][0]["tensor"], digest(seen[0]))
        self.assertNotEqual(relu["inputs"][0]["tensor"], relu["outputs"][0]["tensor"])

    def test_order_is_that_of_execution(self):
        train(self.folder / "t", steps=1)
        stages = []
        for record in self.trace().records:
            if record["stage"] and record["stage"] not in ("backward", "grad") and record["stage"] != (stages or [None])[-1]:
                stages.append(record["stage"])
        self.assertEqual(stages, ["rng", "scheduler", "batch", "forward", "loss", "batch", "forward", "loss", "grad_norm", "scheduler", "update", "weight"])

    def test_recomputation_is_marked(self):
        for kind in ("plain", "reentrant"):
            train(self.folder / kind, recompute=kind, steps=1)
            trace = self.trace(kind)
            marked = [r for r in trace.records if r["flags"] & RECOMPUTED]
            self.assertTrue(marked)
            self.assertEqual({r["stage"] for r in marked}, {"forward"})
            for r in marked:  # dropout restores its generator: the same bits again, of the other call in backward's order
                first = trace.find("forward", r["name"], flags=0, micro_batch=r["micro_batch"], call=1 - r["call"])
                self.assertEqual(first[0]["outputs"][0]["tensor"], r["outputs"][0]["tensor"])

    def test_a_rate_set_within_the_step(self):
        model = nn.Linear(2, 2)
        for tensor_rate in (False, True):
            optimizer = torch.optim.AdamW(model.parameters(), lr=torch.tensor(0.5) if tensor_rate else 0.5)
            with Capture(self.folder / f"t{tensor_rate}", model, optimizer) as capture, capture.step(1):
                model(torch.ones(1, 2)).sum().backward()
                optimizer.param_groups[0]["lr"] = torch.tensor(0.25) if tensor_rate else 0.25
                optimizer.step()
            records = self.trace(f"t{tensor_rate}").find("scheduler", "group.0")
            self.assertEqual([dict(r["values"])["lr"] for r in records], ["0.5", "0.25"])
            self.assertEqual([r["call"] for r in records], [0, 1])

    def test_a_module_called_twice(self):
        train(self.folder / "t", steps=1)
        self.assertEqual([r["call"] for r in self.trace().find("forward", "block", micro_batch=1)], [0, 1])

    def test_several_outputs(self):
        train(self.folder / "t", steps=1)
        [record] = self.trace().find("forward", "rnn", micro_batch=0)
        self.assertEqual([o["path"] for o in record["outputs"]], ["0", "1"])
        self.assertEqual(len(self.trace().find("backward", "rnn:0", micro_batch=0)), 1)

    def test_evaluation_counts_as_no_micro_batch(self):
        model = nn.Linear(2, 2)
        with Capture(self.folder / "t", model) as capture, capture.step(1):
            with torch.no_grad():
                model(torch.ones(1, 2))
            model(torch.ones(1, 2))
        self.assertEqual([(r["micro_batch"], r["flags"]) for r in self.trace().find("forward", "<root>")], [(-1, WITHOUT_GRADIENTS), (0, 0)])

    def test_autocast_records_what_was_computed(self):
        train(self.folder / "t", autocast=True, steps=1)
        self.assertEqual(self.trace().find("forward", "head", micro_batch=0)[0]["outputs"][0]["dtype"], "bfloat16")
        self.assertEqual(self.trace().find("grad", "head.weight", micro_batch=0)[0]["outputs"][0]["dtype"], "float32")

    def test_types(self):
        tensors = {"bf16": torch.tensor([1.5, -2], dtype=torch.bfloat16), "fp8": torch.tensor([1.5, -2]).to(torch.float8_e4m3fn),
                   "complex": torch.tensor([1 + 2j]).conj(), "bool": torch.tensor([True, False]), "scalar": torch.tensor(3),
                   "empty": torch.zeros(0, 4), "strided": torch.arange(12).reshape(3, 4).t()[::2], "negative": torch.tensor([1j]).conj().imag}
        with Capture(self.folder / "t") as capture:
            capture.state({**tensors, "sparse": torch.eye(3).to_sparse(), "meta": torch.zeros(2, device="meta")}, step=1)
        for name, tensor in tensors.items():
            with self.subTest(name):
                plain = tensor.resolve_conj().resolve_neg()
                self.assertEqual(self.trace().find("weight", name)[0]["outputs"][0]["tensor"], digest(plain))
        for name in ("sparse", "meta"):
            self.assertEqual(self.trace().find("weight", name)[0]["outputs"][0]["absence"], 5)

    def test_generators(self):
        random.seed(3)
        random.gauss(0, 1)
        np.random.seed(3)
        np.random.standard_normal()
        with Capture(self.folder / "t", generators={"loader": torch.Generator().manual_seed(9)}) as capture, capture.step(1):
            pass
        states = {r["name"]: r["outputs"][0]["tensor"] for r in self.trace().find("rng")}
        words, gauss = random.getstate()[1:]
        python = np.array(words, "<u4").tobytes() + np.array(gauss, "<f8").tobytes()
        _, key, position, has_gauss, kept = np.random.get_state()
        numpy = key.astype("<u4").tobytes() + np.array([position, has_gauss], "<u4").tobytes() + np.array(kept, "<f8").tobytes()
        for name, stream in (("python", python), ("numpy", numpy), ("torch.cpu", torch.get_rng_state().numpy().tobytes()),
                             ("loader", torch.Generator().manual_seed(9).get_state().numpy().tobytes())):
            self.assertEqual(states[name], oracle.tensor("uint8", [len(stream)], stream), name)

    def test_statistics(self):
        values = torch.tensor([[3.0, -4.0, 0.0], [float("nan"), float("inf"), -float("inf")]])
        with Capture(self.folder / "t") as capture:
            capture.state({"x": values, "finite": values[0], "ids": torch.tensor([3, -4, 0])}, step=1)
        for name, wanted in (("x", (4.0, 5.0, 1, 2, 1)), ("finite", (4.0, 5.0, 0, 0, 1)), ("ids", (4.0, 5.0, 0, 0, 1))):
            [record] = self.trace().find("weight", name)
            self.assertEqual(tuple(record["outputs"][0][k] for k in ("abs_max", "l2", "nan", "inf", "zero")), wanted)


class ManyProcesses(InFolder):
    def both(self, kind):
        context = multiprocessing.spawn(worker, (2, kind, str(self.folder)), nprocs=2, join=False)
        while not context.join(timeout=240):
            pass
        self.assertEqual({p.name for p in self.folder.glob(f"{kind}-*")}, {f"{kind}-0-True", f"{kind}-1-True"})
        return [self.trace(kind, rank) for rank in (0, 1)]

    def weights(self, trace):
        return {(r["step"], r["name"]): r["outputs"][0]["tensor"] for r in trace.find("weight")}

    def gradients(self, trace, micro_batch):
        return [r["outputs"][0]["tensor"] for r in trace.find("grad", micro_batch=micro_batch)]

    def test_ddp(self):
        a, b = self.both("ddp")
        self.assertEqual(a.end["world_size"], 2)
        parameters = {n for n, _ in Model().named_parameters()}
        self.assertEqual({r["name"] for r in a.find("grad")}, parameters)
        self.assertEqual({k: v for k, v in self.weights(a).items() if k[1] in parameters}, {k: v for k, v in self.weights(b).items() if k[1] in parameters})
        self.assertNotEqual(self.gradients(a, 0), self.gradients(b, 0))  # a rank's own
        self.assertEqual(self.gradients(a, -1), self.gradients(b, -1))  # reduced

    def test_fsdp2(self):
        a, b = self.both("fsdp2")
        [w] = a.find("weight", "block.0.weight", step=1)
        self.assertEqual(w["outputs"][0]["shape"], [8, 16])
        self.assertIn("local part of [16, 16]", w["outputs"][0]["note"])
        self.assertNotEqual(w["outputs"][0]["tensor"], b.find("weight", "block.0.weight", step=1)[0]["outputs"][0]["tensor"])
        self.assertTrue(a.find("grad", "block.0.weight", micro_batch=-1) and a.find("update", "block.0.weight.exp_avg"))


class TwoPasses(InFolder):
    def test_payload_begins_where_the_runs_part(self):
        train(self.folder / "a")
        train(self.folder / "b", rates={2: 0.02})
        train(self.folder / "a2", Policy.from_mismatch(self.folder / "b", budget=4000))
        trace = self.trace("a2")
        kept = [i for i, r in enumerate(trace.records) if any(o["kept"] is not None for o in r["outputs"])]
        # the step begins with the generators, which are equal, and the rate, which is not; what comes after it is kept
        before = next(i for i, r in enumerate(trace.records) if (r["step"], r["stage"]) == (2, "scheduler"))
        self.assertEqual(trace.records[before]["name"], "group.0")
        self.assertEqual(min(kept), next(i for i in range(before, len(trace.records)) if trace.records[i]["outputs"]))
        self.assertLessEqual(trace.end["payload_bytes"], 4000)
        self.assertGreater(trace.end["payload_left_out"], 0)


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    unittest.main()
