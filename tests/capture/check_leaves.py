#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a recorded tensor differs, by the digests of its leaves: check_leaves.py CLI

Two runs that forkpoint_capture recorded without payload, unlike in elements that numpy chose, compared by the real
forkpoint-cli. 77 where python3-h5py, python3-numpy or python3-xxhash is missing.
"""
import json
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "resources" / "capture")]
import trace_check  # noqa: E402,F401  (ends with 77 where a module is missing)
import h5py  # noqa: E402
import numpy as np  # noqa: E402
from forkpoint_capture import Capture, Policy  # noqa: E402

CLI = Path(sys.argv.pop(1)).resolve()
LEAF = 65536


class Leaves(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def capture(self, name, array, leaves=True):
        with Capture(self.folder / name, policy=Policy(leaves=leaves), rank=0, world_size=1) as capture:
            capture.state({"bias": np.zeros(3, np.float32), "w": array}, step=1)

    def compare(self, *options):
        done = subprocess.run([CLI, "compare", self.folder / "a", self.folder / "b", "--json", "--no-index", *options],
                              capture_output=True, check=False, timeout=60)
        return done.returncode, json.loads(done.stdout)

    def divergence(self, a, b, **more):
        self.capture("a", a, **more)
        self.capture("b", b, **more)
        status, document = self.compare()
        self.assertEqual(status, 1)
        self.assertEqual(document["first_divergence"]["name"], "w")
        return document["first_divergence"]

    def check(self, a, b):
        """What numpy says of the leaves, against what the command says."""
        first = self.divergence(a, b)
        [where] = first["where"]
        unlike = [x != y for x, y in zip(self.leaves(a), self.leaves(b))]
        differing = np.flatnonzero(a.reshape(-1).view(f"V{a.itemsize}") != b.reshape(-1).view(f"V{b.itemsize}"))
        self.assertEqual((where["leaf"], where["different_leaves"], where["leaves"]), (unlike.index(True), sum(unlike), len(unlike)))
        self.assertEqual(where["elements"], a.size)
        self.assertLessEqual(where["first_index"], differing[0])
        self.assertGreaterEqual(where["last_index"], differing[0])
        self.assertEqual(where["first_index"], where["leaf"] * LEAF // a.itemsize)
        self.assertEqual(where["last_index"], min((where["leaf"] + 1) * LEAF // a.itemsize, a.size) - 1)
        self.assertEqual(where["side"], "output")
        self.assertIn(f"elements {where['first_index']:,} to {where['last_index']:,} of {a.size:,}", first["sentence"])

    @staticmethod
    def leaves(array):
        stream = array.tobytes()
        return [stream[i:i + LEAF] for i in range(0, len(stream), LEAF)]

    def test_one_element(self):
        for dtype, element in (("float32", 0), ("float32", 16383), ("float32", 16384), ("float32", 99999), ("float64", 40000), ("uint8", 65535),
                               ("complex64", 8192), ("int16", 70000)):
            with self.subTest(dtype=dtype, element=element):
                self.folder = Path(tempfile.mkdtemp(dir=self.folder))
                a = (np.arange(100000) % 100).astype(dtype).reshape(1000, 100)
                b = a.copy()
                b.reshape(-1)[element] += 1
                self.check(a, b)

    def test_several_elements(self):
        a = np.random.default_rng(5).standard_normal((300, 700)).astype(np.float32)
        b = a.copy()
        b.reshape(-1)[[50000, 50001, 180000, 209999]] *= -1
        self.check(a, b)

    def test_one_leaf_says_nothing(self):
        a = np.zeros(LEAF // 4, np.float32)
        self.assertNotIn("where", self.divergence(a, a + 1))

    def test_without_digests_of_leaves(self):
        a = np.zeros(100000, np.float32)
        self.assertNotIn("where", self.divergence(a, a + 1, leaves=False))

    def test_a_report_is_read_back(self):
        a = np.zeros(100000, np.float32)
        b = a.copy()
        b[77777] = 1
        self.capture("a", a)
        self.capture("b", b)
        report = self.folder / "r.json"
        self.compare("--report", str(report))
        again = subprocess.run([CLI, "report", report, "--json"], capture_output=True, check=True, timeout=60)
        written = json.loads(report.read_text())["first_divergence"]
        self.assertEqual(written["where"][0]["leaf"], 77777 * 4 // LEAF)
        self.assertEqual(json.loads(again.stdout)["first_divergence"], written)

    def test_digests_that_contradict_each_other(self):
        a = np.zeros(100000, np.float32)
        self.capture("a", a)
        self.capture("b", a + 1)
        segment = self.folder / "rank_0" / "steps_1-1.h5"
        with h5py.File(self.folder / "a" / segment.relative_to(self.folder)) as good, h5py.File(
                self.folder / "b" / segment.relative_to(self.folder), "r+") as bent:
            bent["leaves"][:] = good["leaves"][:]
        status, document = self.compare()
        self.assertEqual(status, 1)
        self.assertNotIn("where", document["first_divergence"])
        self.assertTrue(any("leaves are equal" in each["text"] for each in document["diagnostics"]), document["diagnostics"])

    def test_rows_beyond_the_table(self):
        a = np.zeros(100000, np.float32)
        self.capture("a", a)
        self.capture("b", a + 1)
        for row in (6, 7, 2**62):
            with h5py.File(self.folder / "b" / "rank_0" / "steps_1-1.h5", "r+") as bent:
                kept = np.flatnonzero(bent["tensors/leaves"][:] >= 0)[-1]
                bent["tensors/leaves"][int(kept)] = row
            status, document = self.compare()
            self.assertIn(status, (1, 3))
            self.assertTrue(any("must lie among" in each["text"] for each in document["diagnostics"]), document["diagnostics"])


if __name__ == "__main__":
    unittest.main()
