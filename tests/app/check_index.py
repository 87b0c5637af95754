#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The index of fingerprints through the command line: check_index.py CLI

What it may spare, what it must not believe, and that a process killed at any time leaves it sound.
"""
import json
import os
import signal
import struct
import subprocess
import sys
import tempfile
import time

failed = 0


def check(what, got, expected):
    global failed
    if got != expected:
        failed += 1
        print(f"{what}:\n  got      {str(got)[:400]}\n  expected {str(expected)[:400]}")


def safetensors(path, tensors):
    header, at = {}, 0
    for name, raw in tensors:
        header[name] = {"dtype": "U8", "shape": [len(raw)], "data_offsets": [at, at + len(raw)]}
        at += len(raw)
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(raw for _, raw in tensors))


class Cli:
    def __init__(self, program, cache):
        self.program, self.cache = program, cache

    def start(self, *arguments):
        env = {**os.environ, "XDG_CACHE_HOME": self.cache}
        return subprocess.Popen([self.program, *arguments], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run(self, *arguments, expect=0):
        process = self.start(*arguments)
        out, err = process.communicate()
        check(f"exit status of {' '.join(arguments)} ({err.decode()[:200]})", process.returncode, expect)
        return out, err.decode()

    def json(self, *arguments, expect=0):
        return json.loads(self.run(*arguments, "--json", expect=expect)[0])

    def strength(self, a, b, *options, expect=0):
        return self.json("compare", a, b, *options, expect=expect)["verdict"]["strength"]

    def entries(self):
        return self.json("index")["entries"]


def without_strength(document):
    for key in ("strength", "sentence"):
        document["verdict"].pop(key)
    return document


def main():
    with tempfile.TemporaryDirectory() as folder:
        at = lambda name: os.path.join(folder, name)
        cli = Cli(sys.argv[1], at("cache"))
        block = os.urandom(1 << 20)
        tensors = [(f"t{i}", block[i:] + block[:i]) for i in range(6)] + [("empty", b"")]
        a, b, small = at("a.safetensors"), at("b.safetensors"), at("small.safetensors")
        other = at("other.safetensors")
        for path in (a, b):
            safetensors(path, tensors)
        safetensors(small, [("t0", block[:1000])])
        changed = [(n, bytes([raw[0] ^ 1]) + raw[1:] if n == "t3" else raw) for n, raw in tensors]
        safetensors(other, changed)

        # Younger than 2 s: read, and not remembered.
        check("young", cli.strength(a, b), "bytes")
        check("young, entries", cli.entries(), [])
        time.sleep(2.1)

        check("--no-index", cli.strength(a, b, "--no-index"), "bytes")
        check("--no-index writes nothing", os.path.exists(at("cache")), False)
        cold = cli.json("compare", a, b)
        check("first time", cold["verdict"]["strength"], "bytes")
        check("entries", [(e["file"], e["tensors"]) for e in sorted(cli.entries(), key=lambda e: e["file"])], [(a, 7), (b, 7)])
        warm = cli.json("compare", a, b)
        check("second time", warm["verdict"]["strength"], "xxh3-128-index")
        check("its sentence", "indexed" in warm["verdict"]["sentence"], True)
        check("all else is the same", without_strength(warm), without_strength(cold))
        check("--verify", cli.strength(a, b, "--verify"), "bytes")
        check("--full reads", cli.strength(a, b, "--full"), "bytes")
        cli.run("compare", small, small)
        check("small files are not kept", len(cli.entries()), 2)

        # One side known: all is read. Then what differs is measured as without an index.
        plain = cli.json("compare", a, other, "--no-index", expect=1)
        for _ in range(2):
            check("different", cli.json("compare", a, other, expect=1), plain)
        # The index alone: identical rows from it, the different one from bytes; the strength of a difference is its own.
        check("weakest", cli.json("compare", a, other, "--exclude", "t3")["verdict"]["strength"], "xxh3-128-index")
        # Equal rows that were read beside equal rows that are known: the weaker counts.
        partly = Cli(sys.argv[1], at("partly"))
        partly.run("compare", a, b, "--include", "t1")
        check("mixed", partly.strength(a, b), "xxh3-128-index")

        # fingerprint uses and fills it.
        fresh = Cli(sys.argv[1], at("fresh"))
        plain = fresh.json("fingerprint", a, "--no-index")
        first, second = fresh.json("fingerprint", a), fresh.json("fingerprint", a)
        check("fingerprint, cold", first, plain)
        check("fingerprint, warm", second["strength"], "xxh3-128-index")
        second["strength"] = "xxh3-128"
        check("fingerprint, all else", second, plain)
        check("fingerprint --verify", fresh.json("fingerprint", a, "--verify"), plain)

        # One byte changed, size and modified time as before: only the changed time tells.
        before = os.stat(b)
        with open(b, "r+b") as file:
            file.seek(before.st_size - 5)
            byte = file.read(1)
            file.seek(before.st_size - 5)
            file.write(bytes([byte[0] ^ 1]))
        os.utime(b, ns=(before.st_atime_ns, before.st_mtime_ns))
        after = os.stat(b)
        check("size, time and file are as before", (after.st_size, after.st_mtime_ns, after.st_ino),
              (before.st_size, before.st_mtime_ns, before.st_ino))
        cli.run("compare", a, b, expect=1)
        time.sleep(2.1)  # old enough to be relied on, were it the same
        for _ in range(2):
            cli.run("compare", a, b, expect=1)

        # Damage of the index itself is not believed.
        names = [n for n in os.listdir(at("cache/forkpoint/index")) if n.endswith(".fpi")]
        for name in names:
            path = os.path.join(at("cache/forkpoint/index"), name)
            data = bytearray(open(path, "rb").read())
            data[-20] ^= 1  # a digest
            open(path, "wb").write(data)
        check("damaged", cli.strength(a, a), "bytes")
        check("and made anew", cli.strength(a, a), "xxh3-128-index")

        # In the place of an entry: a link is not followed, a pipe not waited for.
        bent = Cli(sys.argv[1], at("bent"))
        bent.strength(a, a)
        index = at("bent/forkpoint/index")
        entry = os.path.join(index, sorted(os.listdir(index))[0])
        precious = at("precious.txt")
        with open(precious, "w") as file:
            file.write("kept")
        for put in (lambda: os.symlink(precious, entry), lambda: os.mkfifo(entry)):
            os.remove(entry)
            put()
            check("no entry", bent.strength(a, a), "bytes")
            check("an entry again", bent.strength(a, a), "xxh3-128-index")
        with open(precious) as file:
            check("what a link led to", file.read(), "kept")

        # An index that cannot be written is as good as none.
        blocked = Cli(sys.argv[1], at("blocked"))
        open(at("blocked"), "w").close()
        check("no folder", blocked.strength(a, a), "bytes")

        # Killed at any time.
        killed = Cli(sys.argv[1], at("killed"))
        for delay in range(15):
            process = killed.start("fingerprint", a, "--quiet")
            time.sleep(0.004 * delay)
            process.send_signal(signal.SIGKILL)
            process.communicate()
            for entry in killed.entries():
                check("a whole entry", entry.get("file"), a)
        killed.run("compare", a, other, expect=1)
        check("after all that", killed.json("fingerprint", a)["tensors"], plain["tensors"])

        open(os.path.join(at("cache/forkpoint/index"), "0" * 32 + ".fpi.part0"), "wb").write(b"half")
        kept = at("cache/forkpoint/index/notes.txt")
        open(kept, "w").close()
        check("cleared", cli.json("index", "--clear")["entries"], [])
        check("nothing of it is left, and nothing else gone", os.listdir(at("cache/forkpoint/index")), ["notes.txt"])
        check("as if new", cli.strength(a, a), "bytes")
    print("failed" if failed else "ok")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
