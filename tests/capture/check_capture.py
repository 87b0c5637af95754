#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The parts of forkpoint_capture that need no torch. 77 where python3-h5py, python3-numpy or python3-xxhash is missing."""
import errno
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import warnings
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "resources" / "capture")]
import trace_check  # noqa: E402  (ends with 77 where a module is missing)
from trace_check import Trace, oracle  # noqa: E402
import h5py  # noqa: E402
import numpy as np  # noqa: E402
import forkpoint_capture as fc  # noqa: E402
from forkpoint_capture import Capture, Numbers, Policy, Select  # noqa: E402


class InFolder(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def capture(self, name, arrays_of_step, steps=3, policy=Policy(), **more):
        with Capture(self.folder / name, policy=policy, rank=0, world_size=1, **more) as capture:
            for step in range(1, steps + 1):
                capture.state(arrays_of_step(step), step=step)
        self.last = capture
        return Trace(self.folder / name / "rank_0")


def weights(step, fork=False):
    a = np.arange(12, dtype=np.float32).reshape(3, 4) * step
    if fork and step >= 2:
        a[2, 1] = np.nextafter(a[2, 1], np.float32(9e9))
    return {"embed": np.full((2, 3), step, np.int64), "layer": {"w": a, "b": a[0]}, "lr": 0.1 / step}


class Fingerprint(unittest.TestCase):
    def test_the_fallback_is_xxh3(self):
        data = np.random.default_rng(1).integers(0, 256, 70000, np.uint8).tobytes()
        for size in (*range(0, 600), 1023, 1024, 1025, 1087, 1088, 1089, 2047, 2048, 2049, 65535, 65536, 65537):
            self.assertEqual(fc.xxh3_128_fallback(data[7:7 + size]).hex(), oracle.digest(data[7:7 + size]).hex(), size)

    def test_vectors_with_and_without_xxhash(self):
        known = json.loads((HERE.parent / "data" / "stats" / "fingerprints.json").read_text())["tensors"]
        for function in {fc.xxh3_128, fc.xxh3_128_fallback}:
            with unittest.mock.patch.object(fc, "xxh3_128", function):
                for row in known:
                    leaves = fc.leaf_digests(oracle.pattern(row["bytes"]))
                    content = fc.content_digest(leaves)
                    self.assertEqual(content.hex(), row["content"])
                    self.assertEqual(fc.tensor_digest(row["dtype"], row["shape"], row["bytes"], content).hex(), row["tensor"])

    def test_arrays(self):
        big = np.arange(6, dtype=">i4").reshape(2, 3)
        for array in (np.float32(2.5), np.zeros((0, 3), np.int8), np.arange(24.).reshape(2, 3, 4).transpose(2, 0, 1), np.array([True, False]),
                      np.array([1 + 2j]), np.arange(70000, dtype=np.uint16)):
            o = fc.observe(np.asarray(array))
            stream = np.ascontiguousarray(array).tobytes()
            self.assertEqual(o.tensor, oracle.tensor(np.asarray(array).dtype.name, np.shape(array), stream))
        self.assertEqual(fc.observe(big).tensor, fc.observe(big.astype("<i4")).tensor)
        self.assertEqual(fc.observe(np.array(["a"])).absence, fc.ABSENT_METADATA)

    def test_statistics(self):
        a = np.array([[3, -4, 0], [np.nan, np.inf, -np.inf]], np.float32)
        self.assertEqual(fc.observe(a).stats, (4.0, 5.0, 1, 2, 1))


class PolicyTest(InFolder):
    def test_numbers(self):
        taken = lambda text: [n for n in range(1, 31) if n in Numbers(text)]
        self.assertEqual(taken("1-3, 7,10-20/5,29-"), [1, 2, 3, 7, 10, 15, 20, 29, 30])
        self.assertEqual(taken(""), list(range(1, 31)))
        for wrong in ("a", "3-1", "1-9/0", "1--2"):
            with self.assertRaises(ValueError, msg=wrong):
                Numbers(wrong)

    def test_select(self):
        s = Select(stages=("weight", "grad"), names=("layers.*", "!*.bias"), micro_batches="0,2")
        self.assertTrue(s.takes("weight", "layers.0.weight"))
        self.assertFalse(s.takes("weight", "layers.0.bias"))
        self.assertFalse(s.takes("weight", "embed"))
        self.assertFalse(s.takes("forward", "layers.0.weight"))
        self.assertEqual([s.takes("grad", "layers.0.weight", m) for m in (-1, 0, 1, 2)], [True, True, False, True])

    def test_it_filters_names_steps_and_stages(self):
        t = self.capture("a", weights, policy=Policy(Select(names="layer.*", steps="2-")))
        self.assertEqual(t.problems, [])
        self.assertEqual({(r["step"], r["name"]) for r in t.records if r["name"]}, {(2, "layer.w"), (2, "layer.b"), (3, "layer.w"), (3, "layer.b")})
        t = self.capture("b", weights, policy=Policy(Select(stages="grad")))
        self.assertEqual({r["role"] for r in t.records}, {trace_check.STEP_BEGIN, trace_check.STEP_END})

    def test_ranks_that_are_left_out_write_nothing(self):
        with Capture(self.folder / "a", policy=Policy(Select(ranks="1-")), rank=0, world_size=2) as capture:
            capture.state(weights(1), step=1)
        self.assertFalse((self.folder / "a").exists())

    def test_wrong_policies_are_refused(self):
        for wrong in (dict(compression="lz4"), dict(segment_steps=0), dict(budget=-1)):
            with self.assertRaises(ValueError):
                Policy(**wrong)


class Layout(InFolder):
    def test_records_and_values(self):
        t = self.capture("a", weights, policy=Policy(segment_steps=2, leaves=True, payload=Select()), recipe={"seed": 7, "adam": {"lr": 0.1}},
                         axes="pp=0 tp=0")
        self.assertEqual(t.problems, [])
        self.assertEqual([s.path.name for s in t.segments], ["steps_1-2.h5", "steps_3-3.h5"])
        [w] = t.find("weight", "layer.w", step=3)
        self.assertEqual((w["outputs"][0]["dtype"], w["outputs"][0]["shape"]), ("float32", [3, 4]))
        self.assertEqual(w["outputs"][0]["kept"], weights(3)["layer"]["w"].tobytes())
        self.assertEqual(t.find("weight", "lr", step=2)[0]["values"], [("value", "0.05")])
        for fact in ((4, "seed", "7"), (4, "adam.lr", "0.1"), (0, "select.stages", "all"), (2, "numpy", np.__version__)):
            self.assertIn(fact, t.facts)
        self.assertEqual(t.end["axes"], "pp=0 tp=0")

    def test_a_segment_is_seen_when_it_is_closed(self):
        rank = self.folder / "a" / "rank_0"
        with Capture(self.folder / "a", policy=Policy(segment_steps=2), rank=0, world_size=1) as capture:
            capture.state(weights(1), step=1)
            self.assertEqual([p.name for p in rank.iterdir()], ["steps_1.h5.tmp"])
            self.assertTrue(any("not renamed" in p for p in Trace(rank).problems))
            capture.state(weights(2), step=2)
            self.assertEqual([p.name for p in rank.iterdir()], ["steps_1-2.h5"])
        self.assertEqual(Trace(rank).problems, [])

    def test_bytes_are_on_disk_before_the_name(self):
        """What a machine that dies may leave is not tried here; the order of the calls that decide it is."""
        seen, sync, rename = [], os.fsync, Path.rename

        def synced(descriptor):
            at = os.fstat(descriptor)
            seen.append("folder" if stat.S_ISDIR(at.st_mode) else at.st_ino)
            sync(descriptor)

        def renamed(path, to):
            seen.append((path.stat().st_ino, path.name, Path(to).name))
            return rename(path, to)
        with unittest.mock.patch.object(os, "fsync", synced), unittest.mock.patch.object(Path, "rename", renamed):
            t = self.capture("runs/a", weights, policy=Policy(segment_steps=2))
        self.assertEqual(t.problems, [])
        self.assertEqual(seen[:3], ["folder"] * 3)  # runs, a and rank_0 are entries of folders
        names = (("steps_1.h5.tmp", "steps_1-2.h5"), ("steps_3.h5.tmp", "steps_3-3.h5"), ("end.h5.tmp", "end.h5"))
        inodes = [(self.folder / "runs" / "a" / "rank_0" / to).stat().st_ino for _, to in names]
        self.assertEqual(seen[3:], [each for inode, name in zip(inodes, names) for each in (inode, (inode, *name), "folder")])

    def test_a_disk_that_fails_gives_no_name(self):
        def failing(number, on_folder):
            def sync(descriptor):
                if stat.S_ISDIR(os.fstat(descriptor).st_mode) == on_folder:
                    raise OSError(number, os.strerror(number))
            return unittest.mock.patch.object(os, "fsync", sync)

        with failing(errno.EIO, on_folder=False), self.assertWarnsRegex(UserWarning, "Input/output error"):
            with Capture(self.folder / "a", policy=Policy(segment_steps=1), rank=0, world_size=1) as capture:
                capture.state(weights(1), step=1)
        self.assertEqual({p.name for p in (self.folder / "a" / "rank_0").iterdir()}, {"steps_1.h5.tmp", "end.h5.tmp"})
        with failing(errno.EINVAL, on_folder=True):  # a file system without it
            self.assertEqual(self.capture("b", weights).problems, [])

    def test_a_run_that_is_killed_leaves_whole_segments(self):
        script = ("import os, signal, sys; sys.path.insert(0, sys.argv[1]); sys.dont_write_bytecode = True\n"
                  "import numpy as np; from forkpoint_capture import Capture, Policy\n"
                  "with Capture(sys.argv[2], policy=Policy(segment_steps=1), rank=0, world_size=1) as capture:\n"
                  "    for step in range(1, 4):\n"
                  "        with capture.step():\n"
                  "            capture.tensor('weight', 'w', np.arange(step))\n"
                  "            if step == 3: os.kill(os.getpid(), signal.SIGKILL)\n")
        done = subprocess.run([sys.executable, "-c", script, str(Path(fc.__file__).parent), str(self.folder / "a")])
        self.assertEqual(done.returncode, -signal.SIGKILL)
        t = Trace(self.folder / "a" / "rank_0")
        self.assertEqual({p.replace("has no business here", "is not renamed") for p in t.problems},
                         {"steps_3.h5.tmp is not renamed", "there is no end marker"})
        self.assertEqual([r["step"] for r in t.find("weight", "w")], [1, 2])

    def test_large_payloads_are_written_in_chunks(self):
        big = np.random.default_rng(3).integers(0, 256, 3_000_000, np.uint8)
        for compression in ("gzip", *(["zstd"] if fc.zstandard else [])):
            t = self.capture(compression, lambda step: {"x": big[:2_500_000 + step], "y": big}, steps=2, policy=Policy(payload=Select(), compression=compression))
            self.assertEqual(t.problems, [])
            self.assertEqual(t.find("weight", "x", step=2)[0]["outputs"][0]["kept"], big[:2_500_002].tobytes())
            self.assertEqual(t.find("weight", "y", step=1)[0]["outputs"][0]["payload"], t.find("weight", "y", step=2)[0]["outputs"][0]["payload"])

    def test_an_error_of_the_run_is_told(self):
        with self.assertRaises(KeyError):
            with Capture(self.folder / "a", rank=0, world_size=1) as capture:
                with capture.step(5):
                    capture.tensor("weight", "w", np.zeros(1))
                    raise KeyError("x")
        t = Trace(self.folder / "a" / "rank_0")
        self.assertEqual(t.end["reason"], "error: KeyError")
        self.assertEqual([r["role"] for r in t.records if r["stage"] != "rng"],
                         [trace_check.STEP_BEGIN, trace_check.TENSOR, trace_check.FAILURE])
        self.assertEqual(t.records[-1]["values"], [("exception", "KeyError")])

    def test_an_error_of_the_recording_does_not_end_the_run(self):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            with Capture(self.folder / "a", rank=0, world_size=1) as capture:
                with capture.step():
                    capture.tensor("weight", "x", np.array([1.5]))
                    with unittest.mock.patch.object(fc, "observe", side_effect=OSError("disk full")):
                        capture.tensor("weight", "y", np.array([1.5]))
                    capture.tensor("weight", "z", np.array([1.5]))
        self.assertTrue(any("recording stopped" in str(w.message) for w in told))
        t = Trace(self.folder / "a" / "rank_0")
        self.assertTrue(t.end["reason"].startswith("error: recording stopped"))
        self.assertEqual([r["name"] for r in t.find("weight")], ["x"])

    def test_nothing_is_overwritten(self):
        self.capture("a", weights)
        with self.assertRaises(FileExistsError):
            self.capture("a", weights)

    def test_the_decorator_counts_steps(self):
        with Capture(self.folder / "a", rank=0, world_size=1, first_step=4) as capture:
            step = capture.each_step(lambda x: capture.tensor("loss", "loss", np.array(x)))
            step(1.0)
            step(2.0)
        t = Trace(self.folder / "a" / "rank_0")
        self.assertEqual([r["step"] for r in t.find("loss")], [4, 5])
        self.assertEqual(t.problems, [])


class Budget(InFolder):
    def kept(self, trace):
        return {(r["step"], r["name"]): len(r["outputs"][0]["kept"]) for r in trace.records if r["outputs"] and r["outputs"][0]["kept"] is not None}

    def test_it_is_never_exceeded(self):
        every = {"embed": 48, "layer.w": 48, "layer.b": 16}
        for budget in (0, 15, 16, 47, 48, 150, 335, 336):
            t = self.capture(str(budget), weights, policy=Policy(payload=Select(), budget=budget))
            self.assertEqual(t.problems, [])
            self.assertLessEqual(sum(self.kept(t).values()), budget)
            self.assertEqual(t.end["payload_bytes"], sum(self.kept(t).values()))
            self.assertEqual(t.end["payload_bytes"] + t.end["payload_left_out"], 3 * sum(every.values()))

    def test_select(self):
        t = self.capture("a", weights, policy=Policy(payload=(Select(steps="1", names="embed"), Select(steps="3"))))
        self.assertEqual(set(self.kept(t)), {(1, "embed"), (3, "embed"), (3, "layer.w"), (3, "layer.b")})

    def test_two_passes(self):
        fork = lambda step: weights(step, fork=True)
        for segment_steps in (1, 2, 16):
            name = lambda n: f"{n}{segment_steps}"
            self.capture(name("a"), weights, policy=Policy(segment_steps=segment_steps))
            self.capture(name("b"), fork, policy=Policy(segment_steps=segment_steps))
            again = self.capture(name("a2_"), weights, policy=Policy.from_mismatch(self.folder / name("b")))
            self.assertEqual(self.last.first_mismatch, (2, "weight", "layer.w", -1))
            other = self.capture(name("b2_"), fork, policy=Policy.from_mismatch(self.folder / name("a")))
            self.assertEqual(self.last.first_mismatch, (2, "weight", "layer.w", -1))
            for t in (again, other):
                self.assertEqual(list(self.kept(t)), [(2, "layer.w"), (2, "layer.b"), (3, "embed"), (3, "layer.w"), (3, "layer.b")])
        equal = self.capture("same", weights, policy=Policy.from_mismatch(self.folder / "a1"))
        self.assertEqual((self.last.first_mismatch, self.kept(equal)), (None, {}))

    def test_values_alone_part_two_runs(self):
        rate = lambda step: {**weights(step), "lr": 0.1 / step if step < 2 else 0.2}
        self.capture("a", weights)
        self.capture("b", rate)
        for name, arrays, other in (("a2", weights, "b"), ("b2", rate, "a")):
            t = self.capture(name, arrays, policy=Policy.from_mismatch(self.folder / other))
            self.assertEqual(self.last.first_mismatch, (2, "weight", "lr", -1))
            self.assertEqual(list(self.kept(t)), [(3, "embed"), (3, "layer.w"), (3, "layer.b")])

    def test_values_count_by_name(self):
        def capture(name, policy=Policy(), **values):
            with Capture(self.folder / name, policy=policy, rank=0, world_size=1) as capture, capture.step():
                capture.values("scaler", "scaler", **values)
            return capture.first_mismatch

        capture("a", scale=2.0, growth=1)
        against = Policy.from_mismatch(self.folder / "a")
        self.assertEqual(capture("same", against, growth=1, scale=2.0), None)
        for name, values in {"other": dict(scale=2.0, growth=2), "fewer": dict(scale=2.0), "more": dict(scale=2.0, growth=1, skipped=0)}.items():
            self.assertEqual(capture(name, against, **values), (1, "scaler", "scaler", -1))

    def test_the_other_run_must_be_there(self):
        with self.assertRaises(FileNotFoundError):
            self.capture("a", weights, policy=Policy(payload_from=self.folder / "nowhere"))


class Check(InFolder):
    """The check of the other tests sees what it is there for."""

    def tampered(self, change, name="steps_1-3.h5"):
        if not (self.folder / "a").exists():
            self.capture("a", weights, policy=Policy(leaves=True, payload=Select()))
        copy = self.folder / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self.folder / "a" / "rank_0", copy)
        with h5py.File(copy / name, "r+") as f:
            change(f)
        return " ".join(Trace(copy).problems)

    def test_tampering(self):
        def change(name, row, value):
            def function(f):
                f[name][row] = value
            return function

        def same_name(f):
            f["records/name"][3] = f["records/name"][2]

        def attribute(name, value):
            return lambda f: f.attrs.modify(name, value)
        for wanted, function, *name in (
                ("payload does not have the digest", change("payload", 0, 99)),
                ("does not follow from its content", change("tensors/tensor", (1, 3), 99)),
                ("leaves do not lead", change("leaves", (0, 0), 99)),
                ("sequence 5 follows 1", change("records/sequence", 2, 5)),
                ("two records", same_name),
                ("do not share out", change("records/outputs", 1, 2)),
                ("says 8 records", attribute("records", 8)),
                ("end marker says 16 records, there are 18", attribute("records", 16), "end.h5"),
                ("disagree on run", attribute("run", "00"), "end.h5"),
                ("reason of the end marker", attribute("reason", "error: x"), "end.h5")):
            with self.subTest(wanted):
                self.assertIn(wanted, self.tampered(function, *name))
        self.assertEqual(self.tampered(lambda f: None), "")

    def test_the_sample_that_was_written_from_the_specification(self):
        for run in ("a", "b"):
            for rank in trace_check.ranks_of(HERE.parent / "data" / "owntrace" / run):
                self.assertEqual(Trace(rank).problems, [])

    def test_missing_files(self):
        self.capture("a", weights, policy=Policy(segment_steps=1))
        rank = self.folder / "a" / "rank_0"
        (rank / "steps_2-2.h5").unlink()
        self.assertIn("segment 1 is missing", Trace(rank).problems)
        (rank / "end.h5").unlink()
        self.assertIn("there is no end marker", Trace(rank).problems)


if __name__ == "__main__":
    unittest.main()
