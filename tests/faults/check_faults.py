#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line over storage that fails: check_faults.py CLI SHIM DATA

DATA is tests/data.

Writes two small files, preloads the shim (fault_shim.c) and compares them. What cannot be read is to become
not-compared with its reason, and the rest is to go on; what can be read after all gives the same document.
"""
import hashlib
import json
import os
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import zipfile

TENSORS = {"first": 3 << 20, "second": 5 << 20, "third": 100}   # bytes; the middle one is where the fault lies


def write(path, change):
    """A safetensors file, by the format's own description."""
    header, data, at = {}, b"", 0
    for name, size in TENSORS.items():
        body = bytearray((i * 7 + len(name)) & 63 for i in range(256)) * (size // 256 + 1)
        body = body[:size]
        if name == change:
            body[size // 2] ^= 1
        header[name] = {"dtype": "U8", "shape": [size], "data_offsets": [at, at + size]}
        at += size
        data += bytes(body)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)
    return 8 + len(text)


def compare(cli, a, b, *options, **fault):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("FAULT_")}
    environment.update({k: str(v) for k, v in fault.items()})
    # Under the address sanitizer the shim comes before the sanitizer's own library.
    environment["ASAN_OPTIONS"] = environment.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
    # Without the index: on a slow machine the files grow old enough to be believed from it, and the proof reads otherwise.
    run = subprocess.run([cli, "compare", "--json", "--no-index", *options, a, b],
                         capture_output=True, env=environment, timeout=60)
    document = json.loads(run.stdout)
    return run.returncode, document, {row["name"]: row for row in document["tensors"]}


def compare_within(megabytes, cli, a, b):
    """The status under a limit of the address space, or None where not even the program's version fits into it."""
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20,) * 2)
    if subprocess.run([cli, "--version"], capture_output=True, preexec_fn=limit).returncode != 0:
        return None
    run = subprocess.run([cli, "compare", "--no-index", "--threads", "4", a, b],
                         capture_output=True, preexec_fn=limit, timeout=120)
    return run.returncode, run.stderr.decode()


def check_little_memory(cli, folder):
    """With less memory than it takes the comparison says so: it does not end by a signal, and passes nothing."""
    path = os.path.join(folder, "many.safetensors")
    header = {f"layers.{i}.weight": {"dtype": "U8", "shape": [1], "data_offsets": [i, i + 1]} for i in range(60000)}
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + bytes(len(header)))
    told = 0
    for megabytes in range(60, 400, 40):
        outcome = compare_within(megabytes, cli, path, path)
        if outcome is None:
            continue
        status, errors = outcome
        expect(status == 0 or (status == 2 and "memory" in errors),
               f"a word on memory within {megabytes} MiB, found status {status}: {errors[-300:]}")
        told += status == 2
    expect(told > 0, "some limit to be too low")


def check_nothing_is_left(cli, folder):
    """What is being written goes when a signal or a limit ends the writing."""
    path, out = os.path.join(folder, "long.safetensors"), os.path.join(folder, "out")
    size = 200 << 20
    text = json.dumps({"w": {"dtype": "U8", "shape": [size], "data_offsets": [0, size]}}).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.truncate(8 + len(text) + size)
    os.mkdir(out)
    extract = [cli, "extract", path, "--tensor", "w", "-o", os.path.join(out, "w.npy")]
    for interrupt in (signal.SIGINT, signal.SIGTERM):
        for _ in range(20):
            run = subprocess.Popen(extract, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            while run.poll() is None and not os.listdir(out):
                pass
            run.send_signal(interrupt)
            if run.wait(timeout=60) == -interrupt:
                break
            os.remove(os.path.join(out, "w.npy"))   # it was quicker
        else:
            expect(False, f"one of twenty runs to be ended by signal {interrupt}")
        expect(os.listdir(out) == [], f"nothing to be left, found {os.listdir(out)}")
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20,) * 2)
    run = subprocess.run(extract, capture_output=True, preexec_fn=limit, timeout=60)
    expect(run.returncode == 2 and b"File too large" in run.stderr, f"the limit to be told, found {run.stderr!r}")
    expect(os.listdir(out) == [], f"nothing to be left, found {os.listdir(out)}")
    # A pipe is written as it is, under the name that shells give it too.
    run = subprocess.run([cli, "inspect", path, "--json", "-o", "/dev/stdout"], capture_output=True, timeout=60)
    expect(json.loads(run.stdout)["complete"] is True, "a document through /dev/stdout")
    os.remove(path)


def expect(condition, what):
    if not condition:
        sys.exit("expected " + what)


def check_stalls(cli, a, b, c, middle, preload):
    """A read that does not come back: its thread is given up, what lies in the file from there on is not compared."""
    words = "does not answer: a read of it did not come back"
    fault = {"FAULT_KIND": "stall", "FAULT_BEGIN": middle, "FAULT_END": middle + 10, **preload}
    for threads in ("1", "2", "4"):
        options = ("--stall-after", "0.5", "--threads", threads)
        status, document, rows = compare(cli, a, b, *options, **fault)
        expect(status == 3 and document["verdict"]["outcome"] == "undecided", f"a stall to leave the verdict open, found {status}")
        expect(rows["second"]["status"] == "not-compared" and words in rows["second"]["reason"],
               f"'{words}' as the reason, found {rows['second'].get('reason')!r}")
        expect(all(row["status"] != "different" for row in rows.values()), "nothing to be called different")
        # A busy machine may keep any read waiting for half a second.
        status, document, rows = compare(cli, c, a, "--stall-after", "30", "--threads", threads,
                                         **{**fault, "FAULT_FILE": "nobody.safetensors"})
        expect(status == 1, "nothing to change where nothing stalls")
    # The header, which a thread of the pool reads, too.
    status, document, _ = compare(cli, a, b, "--stall-after", "0.5", FAULT_KIND="stall", FAULT_BEGIN=0, **preload)
    expect(status == 2 and document["verdict"]["outcome"] == "not-compared", f"a stalled header not to be compared, found {status}")


def check_stalls_under_locks(cli, folder, data, preload):
    """Opening, decoders and the walk over traces come back too: what they hold, others wait for."""
    fault = {"FAULT_KIND": "stall", **preload}
    arrays = [os.path.join(folder, name) for name in ("a.npz", "b.npz")]
    write_deflated(arrays[0])
    shutil.copy(arrays[0], arrays[1])
    trace = os.path.join(data, "traces", "pr6610-batch", "A")
    copy = os.path.join(folder, "trace")
    shutil.copytree(trace, copy)
    for threads in ("1", "2", "4"):
        options = ("--stall-after", "0.5", "--threads", threads)
        status, document, rows = compare(cli, *arrays, *options, FAULT_FILE="b.npz", FAULT_BEGIN=3 << 20,
                                         FAULT_END=(3 << 20) + 10, **fault)
        expect(status in (2, 3) and rows["noise"]["status"] == "not-compared" and "does not answer" in rows["noise"]["reason"],
               f"a stall below a decoder to leave its tensor uncompared, found {status}")
        status, document, _ = compare(cli, *arrays, *options, **{**fault, "FAULT_KIND": "stall-open", "FAULT_FILE": "b.npz"})
        expect(status == 2 and any("opening it did not come back" in d["text"] for d in document["diagnostics"]),
               f"a stalled opening to be told, found {document['diagnostics']}")
        # The first read of a trace finds out what it is, the second one indexes it, and a third one compares what
        # could not be kept.
        for spared in (0, 1, 2):
            status, document, _ = compare(cli, trace, copy, *options, FAULT_FILE="trace/rank_000000.jsonl",
                                          FAULT_SPARE=spared, **fault)
            expect(status in (2, 3) and "identical" not in document["verdict"]["outcome"],
                   f"a stalled trace not to pass, found {status} with {spared} reads spared")
            expect(any("does not answer" in d["text"] for d in document["diagnostics"]), "a diagnostic")


def write_trace(path, template, differs):
    """Three steps of 600 records, 64 KiB and more each; in the last one a digest is another one in `differs`. The
    first record of step 8 comes behind another one than that of step 7, so that step 8 is not kept when it is indexed."""
    sequence = 0
    os.mkdir(os.path.dirname(path))
    with open(path, "w") as file:
        for step in (7, 8, 9):
            for number in range(600):
                record = json.loads(json.dumps(template))
                digest = "f" * 64 if differs and (step, number) == (9, 10) else f"{step * 1000 + number:064x}"
                record.update(iteration=step, microbatch=number, sequence=sequence)
                record["tensor"]["sha256"] = digest
                file.write(json.dumps(record, separators=(",", ":")) + "\n")
                sequence += 1


def check_step_read_in_part(cli, folder, data, preload):
    """Of a step that one side gives up half of, nothing is proven, nor of what differs behind it."""
    with open(os.path.join(data, "traces", "pr6610-batch", "A", "rank_000000.jsonl")) as file:
        template = json.loads(file.readline())
    path = os.path.join(folder, "part_b", "rank_000000.jsonl")
    write_trace(os.path.join(folder, "part_a", "rank_000000.jsonl"), template, False)
    write_trace(path, template, True)
    with open(path) as file:
        middle = sum(len(line) for line in file.readlines()[:900])   # of step 8
    sides = os.path.join(folder, "part_a"), os.path.join(folder, "part_b")
    status, document, _ = compare(cli, *sides)
    steps = {step["step"]: step["status"] for step in document["steps"]}
    expect(status == 1 and steps == {7: "identical", 8: "identical", 9: "different"}, f"the traces as made, found {steps}")
    for threads in ("1", "2"):
        # One read of the place is spared: the one that indexes.
        status, document, _ = compare(cli, *sides, "--threads", threads, FAULT_FILE="part_b/rank_000000.jsonl", FAULT_KIND="eio",
                                      FAULT_BEGIN=middle, FAULT_END=middle + 1, FAULT_SPARE=1, **preload)
        steps = {step["step"]: step["status"] for step in document["steps"]}
        expect(status == 1 and steps == {7: "identical", 8: "undecided", 9: "different"}, f"step 8 to be undecided, found {steps}")
        expect(not document["first_divergence"]["proven_equal_before"], "nothing to be proven before step 9")
        claims = [finding["text"] for finding in document["findings"] if "step 8" in finding["text"] and "equal" in finding["text"]]
        expect(claims == [], f"no claim that step 8 is equal, found {claims}")


def write_deflated(path):
    """Bytes that deflate cannot make fewer of: 4 MiB of them in the file."""
    noise = b"".join(hashlib.sha256(str(i).encode()).digest() for i in range((4 << 20) // 32))
    header = "{'descr': '|u1', 'fortran_order': False, 'shape': (%d,), }" % len(noise)
    header += " " * (-(len(header) + 11) % 64) + "\n"
    array = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + noise
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("noise.npy", array)


def main(cli, shim, data):
    with tempfile.TemporaryDirectory() as folder:
        a, b, c = (os.path.join(folder, name) for name in ("a.safetensors", "b.safetensors", "c.safetensors"))
        begin = write(a, None)
        write(b, None)
        write(c, "first")
        middle = begin + TENSORS["first"] + (4 << 20)   # inside the second tensor, past its first unit
        preload = {"LD_PRELOAD": shim, "FAULT_FILE": "b.safetensors"}

        status, plain, rows = compare(cli, a, b)
        expect(status == 0 and plain["verdict"]["outcome"] == "identical", "equal files to be identical")
        for kind in ("short", "interrupted"):
            status, document, _ = compare(cli, a, b, FAULT_KIND=kind, **preload)
            expect(status == 0 and document == plain, f"{kind} reads to change nothing")

        for kind, words in (("eio", "Input/output error"), ("estale", "Stale file handle"), ("end", "ends here now")):
            fault = {"FAULT_KIND": kind, "FAULT_BEGIN": middle, "FAULT_END": middle + 10, **preload}
            for options in ((), ("--threads", "1"), ("--full",), ("--verdict-only",)):
                status, document, rows = compare(cli, a, b, *options, **fault)
                expect(status == 3 and document["verdict"]["outcome"] == "undecided", f"{kind} to leave the verdict open")
                expect(rows["second"]["status"] == "not-compared", f"{kind} to leave 'second' uncompared")
                expect(words in rows["second"]["reason"], f"'{words}' as the reason, found {rows['second']['reason']!r}")
                expect(rows["first"]["status"] == rows["third"]["status"] == "identical", "the rest to be compared")
                expect(any(words in d["text"] and d["severity"] == "error" for d in document["diagnostics"]), "a diagnostic")
            # What differs elsewhere is still seen.
            status, document, rows = compare(cli, c, b, **fault)
            expect(status == 1 and document["verdict"]["outcome"] == "different", f"a difference beside {kind} to count")
            expect(rows["first"]["different_elements"] == 1 and rows["second"]["status"] == "not-compared", "both to be said")

        check_stalls(cli, a, b, c, middle, preload)
        check_stalls_under_locks(cli, folder, data, {"LD_PRELOAD": shim})
        check_step_read_in_part(cli, folder, data, {"LD_PRELOAD": shim})

        # A file that cannot be read at all is not compared.
        status, document, _ = compare(cli, a, b, FAULT_KIND="eio", FAULT_BEGIN=0, **preload)
        expect(status == 2 and document["verdict"]["outcome"] == "not-compared", "an unreadable file not to be compared")
        check_little_memory(cli, folder)
        check_nothing_is_left(cli, folder)
    print("faults are told, and the rest is compared")


if __name__ == "__main__":
    main(*sys.argv[1:])
