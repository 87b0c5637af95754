#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reports of the real forkpoint-cli, read by Python's own parsers: report_oracle.py CLI SAMPLES

Every format says what the JSON document says; a page holds no script, no link that leaves it and nothing that a file's
names could have put there; cut tables are counted and complete in the table beside them; a report that is read back is
written again with the same bytes, and damaged ones are refused. Prints what failed; exit status 1 if anything did.
"""
from __future__ import annotations

import csv
import json
import re
import struct
import subprocess
import sys
import tempfile
from html.parser import HTMLParser
from pathlib import Path

CLI, SAMPLES = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
VOID = {"meta", "link", "br", "hr", "img", "input", "wbr"}
PAGE_TAGS = {"html", "head", "meta", "title", "style", "body", "p", "bdi", "header", "h1", "h2", "nav", "a", "main",
             "section", "dl", "dt", "dd", "span", "i", "table", "thead", "tbody", "tr", "th", "td", "pre", "code",
             "figure", "figcaption", "div", "wbr", "svg", "line", "rect", "circle", "text", "path"}
UNSEEN = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
HOSTILE = ['<script>alert(1)</script>', '"><img src=x onerror=alert(1)>', "'-alert(1)-'", 'a|b`c``d', '[x](http://e.example)',
           '=1+1', '@team', '+cmd', 'https://e.example/x', 'right\u202eto\u2066left', 'esc\x1b[31m', 'two\nlines', '</style>',
           'zero\u200bwidth', '\u05e9\u05dc\u05d5\u05dd', '&amp;', 'tail|', '#12', 'x' * 4096]
failures: list[str] = []


def expect(condition: bool, text: str) -> None:
    if not condition:
        failures.append(text)


def run(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess:
    return subprocess.run([CLI, *map(str, arguments)], cwd=cwd or SAMPLES, capture_output=True, check=False, timeout=120)


def safetensors(path: Path, tensors: dict[str, list[float]]) -> None:
    header, data = {}, b""
    for name, elements in tensors.items():
        piece = struct.pack(f"<{len(elements)}f", *elements)
        header[name] = {"dtype": "F32", "shape": [len(elements)], "data_offsets": [len(data), len(data) + len(piece)]}
        data += piece
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


class Page(HTMLParser):
    """Balance of tags, and everything that could act or reach out."""

    def __init__(self, text: str, what: str) -> None:
        super().__init__(convert_charrefs=True)
        self.what, self.open, self.ids, self.targets, self.rows, self.plots = what, [], set(), set(), 0, 0
        self.text: list[str] = []
        self.joins = False  # after a place where a name may break: the rest belongs to it
        self.feed(text)
        self.close()
        expect(not self.open, f"{what}: left open: {self.open}")
        expect(self.targets <= self.ids, f"{what}: links to nothing: {self.targets - self.ids}")

    def handle_starttag(self, tag: str, attributes: list) -> None:
        expect(tag in PAGE_TAGS, f"{self.what}: tag {tag}")
        self.plots += tag == "svg"
        self.rows += tag == "tr"
        for name, value in attributes:
            expect(not name.startswith("on") and name != "src", f"{self.what}: attribute {name}")
            if name == "href":
                expect(value.startswith("#"), f"{self.what}: link {value}")
                self.targets.add(value[1:])
            if name == "id":
                self.ids.add(value)
        self.joins = tag == "wbr"
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attributes: list) -> None:
        self.handle_starttag(tag, attributes)
        self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        expect(bool(self.open) and self.open[-1] == tag, f"{self.what}: </{tag}> closes {self.open[-1:]}")
        if self.open:
            self.open.pop()

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] == "style":
            return
        if self.joins and self.text:
            self.text[-1] += data
        else:
            self.text.append(data)


def shown(name: str) -> str:
    """A name as every document shows it: what cannot be seen as the bytes it is made of."""
    return "".join("".join(f"\\x{b:02x}" for b in c.encode()) if UNSEEN.match(c) or c == "\n" else c for c in name)


def markdown_spans(line: str) -> str:
    """A table line without its spans of code, as CommonMark finds them."""
    return re.sub(r"(?<!`)(`+)(?!`)(.*?)(?<!`)\1(?!`)", "", line)


def check_markdown(text: str, what: str) -> None:
    expect(not UNSEEN.search(text), f"{what}: unseen characters")
    for line in text.split("\n"):
        rest = markdown_spans(line)
        expect(not re.search(r"(?<!\\)<|(?<!\\)\]\(|(?<!\\)@\w", rest), f"{what}: not inert: {line[:120]}")
        expect("://" not in rest.replace("\\://", ""), f"{what}: a link: {line[:120]}")
    width = 0
    for line in text.split("\n"):
        if not line.startswith("|"):
            width = 0
            continue
        cells = len(re.findall(r"(?<!\\)\|", line))
        width = width or cells
        expect(cells == width, f"{what}: a row of {cells} cells among {width}: {line[:120]}")


def check_csv(text: str, document: dict, what: str) -> None:
    rows = list(csv.DictReader(text.splitlines()))
    expect(all(None not in row and None not in row.values() for row in rows), f"{what}: rows of unlike lengths")
    kinds = ("verdict", "step", "tensor", "value", "metric", "finding", "resume", "chain", "rank")
    by_kind = {kind: [r for r in rows if r["kind"] == kind] for kind in kinds}
    expect(len(by_kind["verdict"]) == 1 and by_kind["verdict"][0]["status"] == document["verdict"]["outcome"], f"{what}: verdict")
    expect(by_kind["verdict"][0]["reason"] == document["verdict"]["sentence"], f"{what}: sentence")
    for kind, key in (("tensor", "tensors"), ("value", "values"), ("step", "steps"), ("finding", "findings"), ("resume", "resume"),
                      ("chain", "chain"), ("rank", "ranks")):
        expect(len(by_kind[kind]) == len(document.get(key, [])), f"{what}: number of {kind}s")
    for row, tensor in zip(by_kind["tensor"], document["tensors"]):
        for key, value in tensor.items():
            if key in ("histogram", "paired_reason", "shape_a", "shape_b") or isinstance(value, str):
                continue
            if key in ("first_place_a", "first_place_b"):
                expect(f"{value['file']}, byte {value['offset']}" in row[key], f"{what}: {tensor['name']}.{key}")
                continue
            text_of = {True: "true", False: "false"}.get(value) if isinstance(value, bool) else None
            same = row[key] == text_of if text_of else float(row[key]) == float(value)
            expect(same, f"{what}: {tensor['name']}.{key}: {row[key]} is not {value}")
        expect(row["status"] == tensor["status"], f"{what}: {tensor['name']}: status")
        expect(not re.match(r"[=+@-]", row["name"]), f"{what}: a formula: {row['name'][:40]}")
    for row, link in zip(by_kind["chain"], document.get("chain", [])):
        expect((row["name"], row["status"], row["elements"]) == (link["stage"], link["status"], str(link["compared"])), f"{what}: {link}")
    for row, rank in zip(by_kind["rank"], document.get("ranks", [])):
        expect((row["class"], row["elements"]) == (rank.get("class", ""), str(rank["records"])), f"{what}: {rank}")


def samples(folder: Path) -> None:
    for a, b in (("A", "C"), ("A", "D"), ("C", "D"), ("A", "A")):
        pair = a + b
        files = {suffix: folder / f"{pair}.{suffix}" for suffix in ("html", "json", "csv", "md")}
        options = [word for file in files.values() for word in ("--report", file)]
        ended = run("compare", a, b, "--full", "--threads", 2, *options)
        expect(ended.returncode == (0 if a == b else 1), f"{pair}: ended with {ended.returncode}")
        once = {suffix: file.read_bytes() for suffix, file in files.items()}
        run("compare", a, b, "--full", "--threads", 1, *options)
        for suffix, file in files.items():
            expect(file.read_bytes() == once[suffix], f"{pair}.{suffix}: other bytes with other threads")
        document = json.loads(once["json"])
        page = Page(once["html"].decode(), f"{pair}.html")
        text = " ".join(page.text)
        expect(document["verdict"]["sentence"] in text, f"{pair}.html: the verdict is missing")
        expect(f"forkpoint-cli compare {a} {b} --full" in text, f"{pair}.html: the command is missing")
        expect(page.plots >= (1 if a == b else 6), f"{pair}.html: {page.plots} plots")
        for finding in document["findings"]:
            expect(finding["text"] in text, f"{pair}.html: a finding is missing: {finding['text']}")
        for fact in document["resume"]:
            expect(fact.get("name", fact["state"]) in text, f"{pair}.html: a resume fact is missing: {fact}")
        for tensor in document["tensors"]:
            listed = tensor["name"] in text
            expect(listed or tensor["status"] != "different", f"{pair}.html: {tensor['name']} is missing")
        check_csv(once["csv"].decode(), document, f"{pair}.csv")
        check_markdown(once["md"].decode(), f"{pair}.md")
        # Read back: the same document, and from it the same page.
        again = {suffix: folder / f"again.{suffix}" for suffix in ("html", "json", "csv", "md")}
        back = run("report", files["json"], *[w for file in again.values() for w in ("--report", file)])
        expect(back.returncode == 0, f"{pair}: report ended with {back.returncode}: {back.stderr.decode()[:300]}")
        for suffix, file in again.items():
            expect(file.read_bytes() == once[suffix], f"{pair}.{suffix}: not the same when read back")


def traces(folder: Path) -> None:
    """Reports of traces: chain and ranks on the page, and everything there when read back."""
    data = Path(__file__).resolve().parent.parent / "data/traces"
    for name in ("typed", "bridge", "pr6610", "sketch"):
        files = {suffix: folder / f"trace-{name}.{suffix}" for suffix in ("html", "json", "md")}
        options = [word for file in files.values() for word in ("--report", file)]
        ended = run("compare", data / name / "A", data / name / "C", *options)
        expect(ended.returncode == 1, f"trace {name}: ended with {ended.returncode}: {ended.stderr.decode()[:300]}")
        once = {suffix: file.read_bytes() for suffix, file in files.items()}
        document = json.loads(once["json"])
        text = " ".join(Page(once["html"].decode(), f"trace-{name}.html").text)
        words = {word for word in text.split() if word in ("not-recorded", "only-in-a", "only-in-b", "not-compared")}
        expect(not words, f"trace-{name}.html: words of machines: {words}")
        first = document["first_divergence"]
        after = first.get("after", {})
        if first["proven_equal_before"] and after["step"] == first["step"]:
            expect(f"everything up to {after['name']} in step {after['step']}" in text,
                   f"trace-{name}.html: claims more than {after} to be equal")
        expect("an origin had equal inputs" in text, f"trace-{name}.html: what a class of a record means")
        for rank in document["ranks"]:
            expect(rank["why"] in text, f"trace-{name}.html: why rank {rank['rank']} differs is missing")
        expect(any(link["status"] == "different" for link in document["chain"]), f"trace {name}: no link differs")
        again = {suffix: folder / f"trace-again.{suffix}" for suffix in ("html", "json", "md")}
        back = run("report", files["json"], *[w for file in again.values() for w in ("--report", file)])
        expect(back.returncode == 0, f"trace {name}: report ended with {back.returncode}: {back.stderr.decode()[:300]}")
        for suffix, file in again.items():
            expect(file.read_bytes() == once[suffix], f"trace-{name}.{suffix}: not the same when read back")


def captures(folder: Path) -> None:
    """Where the runs part comes first: its tensor leads the plots, and the command for its elements names it."""
    for b in ("C", "D", "F"):
        files = {suffix: folder / f"capture-{b}.{suffix}" for suffix in ("html", "json", "md")}
        options = [word for file in files.values() for word in ("--report", file)]
        run("compare", "captures/A", f"captures/{b}", "--no-index", *options)
        document, page = json.loads(files["json"].read_text()), files["html"].read_text()
        text = " ".join(Page(page, f"capture-{b}.html").text)
        sentence = document["first_divergence"]["sentence"]
        for suffix, said in (("html", text), ("md", files["md"].read_text().replace("\\", ""))):
            expect(said.count(sentence) == 1, f"capture-{b}.{suffix}: says {said.count(sentence)} times where the runs part")
        printed = run("compare", "captures/A", f"captures/{b}", "--no-index").stdout.decode().splitlines()
        title = printed[next(i for i, line in enumerate(printed) if line.startswith("class ")) - 1]
        expect(title == f"step {document['step']}, tensors and values that were kept as a whole:", f"capture {b}: {title}")
        first = document["first_divergence"]
        micro_batch = f"micro_batch_{first['micro_batch']}." if "micro_batch" in first else ""
        path = f"{first['stage']}.{micro_batch}{first['name']}"
        kept = next((t["name"] for t in document["tensors"]
                     if t["status"] == "different" and f"{t['name']}.".startswith(f"{path}.")), None)
        expect(kept is not None and document["step"] == first["step"], f"capture {b}: no tensor of {path} was kept")
        if kept is not None:
            captions = [re.sub("<[^>]*>", "", c) for c in re.findall("<figcaption>(.*?)</figcaption>", page)]
            leading = next(c for c in captions if "largest |B" in c)
            expect(leading.startswith(f"{kept}:"), f"capture-{b}.html: {leading[:60]} is plotted before {kept}")
            expect(f"--tensor {kept} " in document["request"]["elements"], f"capture {b}: the elements of {kept}")
        table = {(cells[0], cells[1]): cells for cells in (re.split(r"\s*(?<!\\)\|\s*", line.strip("| \n"))
                 for line in files["md"].read_text().split("## State by class")[1].split("\n## ")[0].splitlines() if line.startswith("|"))}
        for stage, name in (("weight", "weights"), ("rng", "rng"), ("batch", "data")):
            link = next((l for l in document["chain"] if l["stage"] == stage and l["step"] == first["step"]), None)
            if link is not None and link["status"] in ("equal", "different"):
                counts = [int(cell.replace(",", "")) for cell in table[(name, "recorded values")][3:5]]
                expect(counts == [link["compared"] - link["different"], link["different"]], f"capture {b}: {name}: {counts}")
        for name, counts in document["by_class"].items():
            row_of = table.get((name, "tensors and values"))
            expect(row_of is None or [int(c.replace(",", "")) for c in row_of[3:5]] == [counts["identical"], counts["different"]],
                   f"capture {b}: {name}: {row_of}")
        ruled_out = " ".join(f["text"] for f in document["findings"] if f["id"] == "ruled-out")
        for step in re.findall(r"(?<!logged )scheduler of step (\d+)", ruled_out):
            settings = sum(link["compared"] - 1 for link in document["chain"]   # one is the logged rate
                           if link["stage"] == "scheduler" and link["step"] == int(step))
            expect(settings > 0, f"capture {b}: nothing but a log speaks of the {ruled_out}")
        again = {suffix: folder / f"capture-again.{suffix}" for suffix in ("html", "md")}
        run("report", files["json"], *[w for file in again.values() for w in ("--report", file)])
        if "No histograms" not in again["html"].read_text():
            expect(again["html"].read_text() == page, f"capture-{b}.html: not the same when read back")


def metric_differences() -> None:
    """B - A of every metric at every common step, by Python's floats."""
    def series(run_name: str) -> list[dict]:
        return [json.loads(line) for line in (SAMPLES / run_name / "metrics.jsonl").read_text().splitlines()]
    document = json.loads(run("compare", "A", "D", "--json").stdout)
    a, b = ({row["step"]: row for row in series(name)} for name in ("A", "D"))
    common = sorted(set(a) & set(b))
    metric = next(m for m in document["metrics"] if m["name"] == "loss")
    expected = [(step, b[step]["loss"] - a[step]["loss"]) for step in common]
    found = [(entry["step"], entry["least"]) for entry in metric["differences"]]
    expect(found == expected, "differences of the loss")
    expect(metric["different_steps"] == sum(1 for _, difference in expected if difference != 0), "differing steps of the loss")


def curves(folder: Path) -> None:
    """Both series of a metric: every logged number where they are few, marked gaps, NaN, and thinning that says so."""
    rows = {name: {} for name in "AB"}
    for step in range(1, 41):
        value = float("nan") if step == 7 else 8.0 / step
        rows["A"][step] = value
        if not 20 <= step < 25:
            rows["B"][step] = value if step < 30 else float("inf") if step == 35 else value + 0.25
    for name, numbers in rows.items():
        lines = [json.dumps({"step": step, "loss": value}) for step, value in numbers.items()]
        (folder / f"few_{name}.jsonl").write_text("\n".join(lines) + "\n")
    files = {suffix: folder / f"few.{suffix}" for suffix in ("html", "json", "md")}
    options = [word for file in files.values() for word in ("--report", file)]
    run("compare", "few_A.jsonl", "few_B.jsonl", *options, cwd=folder)
    document = json.loads(files["json"].read_text())
    curve = next(c for c in document["curves"] if c["name"] == "loss")
    for name in "AB":
        side = curve[name.lower()]
        expect(side["steps"] == list(rows[name]) and side["logged"] == len(rows[name]), f"curve of {name}: steps")
        spelled = [float(value) for value in side["values"]]
        expect(repr(spelled) == repr(list(rows[name].values())), f"curve of {name}: {spelled}")
        expect(side.get("not_finite", 0) == (1 if name == "A" else 2), f"curve of {name}: NaN and infinities")
    expect(curve["a"]["after_gap"] == [] and curve["b"]["after_gap"] == [25], "the gap of B")
    page = files["html"].read_text()
    Page(page, "few.html")
    figure = next(f for f in page.split("<figure>") if "differs at" in f)
    paths = re.findall(r'<path class="outline ([ab])" d="([^"]*)"', figure)
    pieces = {side: path.count("M") for side, path in paths}
    # A breaks at NaN, B also at what it did not log and at its infinity.
    expect(pieces == {"a": 2, "b": 4}, f"pieces of the curves: {pieces}")
    for word in ("A NaN", "B NaN", "B +Inf", "\u2260 from step 30"):
        expect(f">{word}<" in figure, f"the plot does not say {word}")
    # Numbers as they were printed keep their digits, and stand for an interval.
    for name, last in (("A", "1.25"), ("B", "1.5")):
        text = "".join(f" iteration {step:8}/ 3 | consumed samples: {step} | lm loss: {4 - step / 4 if step < 3 else last}0E+00 |\n"
                       for step in (1, 2, 3))
        (folder / f"printed_{name}.log").write_text(text)
    printed = json.loads(run("compare", "printed_A.log", "printed_B.log", "--json", cwd=folder).stdout)
    side = next(c for c in printed["curves"] if c["name"] == "lm loss")["b"]
    expect(side["bits_known"] is False and side["values"] == ["3.750", "3.50", "1.50"], f"printed numbers: {side}")
    # The verdict and the page count the same metrics; what tells of the machine is counted apart.
    logs = [Path(__file__).resolve().parent.parent / f"data/metrics/console/megatron-{name}.log" for name in "AD"]
    files = {suffix: folder / f"logs.{suffix}" for suffix in ("html", "json")}
    run("compare", *logs, *[w for f in files.values() for w in ("--report", f)])
    document, text = json.loads(files["json"].read_text()), " ".join(Page(files["html"].read_text(), "logs.html").text)
    machine = [m for m in document["metrics"] if m.get("context")]
    deciding = [m for m in document["metrics"] if not m.get("context")]
    total = sum(m["common_steps"] for m in deciding)
    expect(len(machine) == 1 and f"all {len(deciding)} metrics compared" in text, "logs.html: the metrics of the verdict")
    expect(f"{len(deciding)} metrics, {total} pairs of numbers at common steps; besides 1 of the machine" in text, "logs.html: the metrics of the page")
    expect("numbers as they were printed: they can show a difference" in text, "logs.html: what printed numbers are worth")
    # Many: both sides keep the same steps, all around the first difference, and say how many there were.
    many = range(1, 6001)
    for name in "AB":
        (folder / f"many_{name}.jsonl").write_text("".join(
            json.dumps({"step": s, "loss": 6000.0 / s + (1e-3 if name == "B" and s >= 4321 else 0.0) + (500.0 if s == 777 else 0.0)}) + "\n"
            for s in many))
    files = {suffix: folder / f"manycurve.{suffix}" for suffix in ("html", "json", "md")}
    run("compare", "many_A.jsonl", "many_B.jsonl", *[w for f in files.values() for w in ("--report", f)], cwd=folder)
    document = json.loads(files["json"].read_text())
    side = document["curves"][0]["a"]
    kept = side["steps"]
    expect(side["logged"] == 6000 and len(kept) <= 1024 and kept == document["curves"][0]["b"]["steps"], "thinned steps")
    expect({1, 777, 6000} | set(range(4321 - 50, 4321 + 51)) <= set(kept), "thinned: ends, extremes, the first difference")
    expect(side["after_gap"] == [], "what was thinned is no gap")
    expect(all(v == 6000.0 / s + (500.0 if s == 777 else 0.0) for s, v in zip(kept, side["values"])), "thinned values")
    expect(f"drawn by {len(kept):,} of 6,000 numbers" in " ".join(Page(files["html"].read_text(), "m").text), "thinning is said")
    again = {suffix: folder / f"curve-again.{suffix}" for suffix in files}
    for name in ("few", "manycurve"):
        run("report", folder / f"{name}.json", *[w for f in again.values() for w in ("--report", f)])
        for suffix, file in again.items():
            expect(file.read_bytes() == (folder / f"{name}.{suffix}").read_bytes(), f"{name}.{suffix}: not the same when read back")


def hostile(folder: Path) -> None:
    safetensors(folder / "a.st", {name: [1.0, 2.0] for name in HOSTILE})
    safetensors(folder / "b.st", {name: [1.0, 2.5] for name in HOSTILE})
    files = {suffix: folder / f"hostile.{suffix}" for suffix in ("html", "json", "csv", "md")}
    run("compare", "a.st", "b.st", *[w for file in files.values() for w in ("--report", file)], cwd=folder)
    page = Page(files["html"].read_text(), "hostile.html")
    text = "".join(page.text)
    expect(not UNSEEN.search(files["html"].read_text()), "hostile.html: unseen characters")
    for name in HOSTILE:
        expect(shown(name) in text, f"hostile.html: {name[:40]!r} is missing")
    check_markdown(files["md"].read_text(), "hostile.md")
    check_csv(files["csv"].read_text(), json.loads(files["json"].read_text()), "hostile.csv")
    names = [row["name_a"] for row in csv.DictReader(files["csv"].read_text().splitlines()) if row["kind"] == "tensor"]
    def inert(name: str) -> str:
        name = shown(name)
        return f"\\x{ord(name[0]):02x}" + name[1:] if name[0] in "=+-@" else name
    expect(sorted(names) == sorted(map(inert, HOSTILE)), "hostile.csv: names")


def missing_shard(folder: Path) -> None:
    """A tensor of which an index tells the name and nothing else."""
    run_folder = folder / "sharded"
    run_folder.mkdir()
    shards = [f"model-0000{i}-of-00002.safetensors" for i in (1, 2)]
    safetensors(run_folder / shards[0], {"w": [1.0, 2.0]})
    (run_folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"w": shards[0], "v": shards[1]}}))
    files = {suffix: folder / f"sharded.{suffix}" for suffix in ("html", "json", "csv", "md")}
    ended = run("compare", "sharded", "sharded", *[w for file in files.values() for w in ("--report", file)], cwd=folder)
    expect(ended.returncode == 3, f"a missing shard: {ended.returncode}")
    page = Page(files["html"].read_text(), "sharded.html")
    expect(any("Undecided" in text for text in page.text) and "v" in page.text, "a tensor without a shard is listed")
    expect(any("0 of 1 pair of tensors that was compared differs; 1 not compared." in text for text in page.text),
           "what was not compared is counted apart from what is equal")
    again = folder / "sharded_again.json"
    back = run("report", files["json"], "--report", again)
    expect(back.returncode == 0 and again.read_bytes() == files["json"].read_bytes(), f"a missing shard, read back: {back.stderr!r}")


def cut(folder: Path) -> None:
    names = [f"layer.{i}.weight" for i in range(1500)]
    safetensors(folder / "many_a.st", {name: [1.0, 2.0] for name in names})
    safetensors(folder / "many_b.st", {name: [1.0, 3.0] for name in names})
    page, table = folder / "many.html", folder / "many.csv"
    ended = run("compare", "many_a.st", "many_b.st", "--report", page, cwd=folder)
    expect(ended.returncode == 1 and table.exists(), "the table beside a cut page")
    text = page.read_text()
    expect("The first 1,000 of 1,500 rows" in text, "a cut page says so")
    expect(sum(1 for name in names if f">{name}<" in text) == 1000, "a cut page has 1,000 rows")
    rows = [row for row in csv.DictReader(table.read_text().splitlines()) if row["kind"] == "tensor"]
    expect({row["name"] for row in rows} == set(names), "the table has every row")
    expect(run("compare", "many_a.st", "many_b.st", "--report", page, cwd=folder).returncode == 1, "an earlier table is replaced")
    table.write_text("somebody's own figures\n")
    ended = run("compare", "many_a.st", "many_b.st", "--report", page, cwd=folder)
    expect(ended.returncode == 2 and table.read_text() == "somebody's own figures\n", "another's file is left alone")


def refusals(folder: Path) -> None:
    for name in ("r.pdf", "r", "r.json.txt", "nowhere/r.html"):
        ended = run("compare", "A", "C", "--report", folder / name)
        expect(ended.returncode == 2 and not (folder / name).exists() and name.encode() in ended.stderr, f"--report {name}")
    refused = folder / "refused.html"
    expect(run("compare", "A", "nothing", "--report", refused).returncode == 2, "a refusal ends with 2")
    text = " ".join(Page(refused.read_text(), "refused.html").text)
    expect("Not compared" in text and "nothing" in text, "the page of a refusal says why")

    good = json.loads(run("compare", "A", "C", "--json").stdout)
    def altered(change) -> bytes:
        document = json.loads(json.dumps(good))
        change(document)
        return json.dumps(document).encode()
    tensor = next(i for i, t in enumerate(good["tensors"]) if t["status"] == "different")
    broken = {
        "empty": b"", "text": b"[]", "another schema": altered(lambda d: d.update(schema="forkpoint.inspect/1")),
        "outcome against rows": altered(lambda d: d["verdict"].update(outcome="identical")),
        "unknown outcome": altered(lambda d: d["verdict"].update(outcome="fine")),
        "counts against rows": altered(lambda d: d["counts"].update(different=1)),
        "class against rows": altered(lambda d: d["by_class"]["weights"].update(identical=9)),
        "class without rows": altered(lambda d: d["by_class"].update(scaler=d["by_class"]["weights"])),
        "rows gone": altered(lambda d: d["tensors"].pop()),
        "unknown class": altered(lambda d: d["tensors"][0].update({"class": "soul"})),
        "shape of texts": altered(lambda d: d["tensors"][0].update(shape_a=["1"])),
        "rank": altered(lambda d: d["tensors"][0].update(shape_a=[1] * 65)),
        "more than all differ": altered(lambda d: d["tensors"][tensor].update(different_elements=1 << 62)),
        "negative count": altered(lambda d: d["tensors"][tensor].update(elements=-1)),
        "histogram": altered(lambda d: d["tensors"][tensor].update(histogram={"abs_a": {"99999": 1}, "abs_b": {}, "abs_difference": {}})),
        "fingerprint": altered(lambda d: d["tensors"][0].update(fingerprint_a="00")),
        "curve of too few numbers": altered(lambda d: d["curves"][0]["a"]["values"].pop()),
        "curve of falling steps": altered(lambda d: d["curves"][0]["a"]["steps"].reverse()),
        "curve of too many steps": altered(lambda d: d["curves"][0]["a"].update(logged=5000, steps=list(range(5000)), values=[0.0] * 5000)),
        "curve of a word": altered(lambda d: d["curves"][0]["a"]["values"].__setitem__(0, "much")),
        "curve with a gap elsewhere": altered(lambda d: d["curves"][0]["a"].update(after_gap=[10**6])),
        "step": altered(lambda d: d["steps"][0].update(step=1 << 64)),
    }
    file = folder / "broken.json"
    whole = json.dumps(good).encode()
    for at in range(0, len(whole), 997):
        broken[f"cut at byte {at}"] = whole[:at]
    for what, content in broken.items():
        file.write_bytes(content)
        ended = run("report", file, "--json")
        expect(ended.returncode == 2 and ended.stderr.count(b"\n") == 1, f"{what}: {ended.returncode} {ended.stderr[:200]!r}")
    # Figures at the edge of what fits are no reason to fail, nor to hang.
    extreme = altered(lambda d: (d["tensors"][tensor].update(max_abs="inf", shape_a=[1 << 63, 4]),
                                 d["steps"].__setitem__(slice(0, 3), [dict(d["steps"][0], step=s) for s in (-(1 << 63), 0, (1 << 63) - 1)])))
    file.write_bytes(extreme)
    expect(run("report", file, "--report", folder / "extreme.html").returncode == 0, "extreme figures")


def main() -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        samples(folder)
        traces(folder)
        captures(folder)
        metric_differences()
        curves(folder)
        hostile(folder)
        missing_shard(folder)
        cut(folder)
        refusals(folder)
    for line in failures[:40]:
        print(line)
    print(f"{len(failures)} failures" if failures else "reports agree")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
