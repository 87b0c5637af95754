#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the logs beside this file, with the writers that people use, from the metrics of the bundled runs.

    make_metrics.py            needs tensorboard, wandb and mlflow-skinny (written with 2.21, 0.31 and 3.17)

Every file of a run tells the same numbers as resources/samples/RUN/metrics.jsonl, so tests hold a reader to them. Console lines
are formatted as Megatron-LM's training_log, torchtitan's MetricsProcessor.log and transformers' PrinterCallback do (before
version 5, the Trainer rounded the loss to four decimals and printed numbers; since then four significant digits, quoted).
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
SAMPLES = HERE.parents[2] / "resources" / "samples"
ROWS = {run: [json.loads(line) for line in (SAMPLES / run / "metrics.jsonl").read_text().splitlines()] for run in "ACD"}


def events(folder, file, rows, start, as_tensor=False, purge=None, histogram=False):
    """One event file, its wall times from `start` on."""
    from tensorboard.compat.proto.event_pb2 import Event, SessionLog
    from tensorboard.compat.proto.summary_pb2 import Summary, SummaryMetadata
    from tensorboard.summary.writer.record_writer import RecordWriter
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / file, "wb") as raw:
        writer = RecordWriter(raw)
        put = lambda event: writer.write(event.SerializeToString())
        put(Event(wall_time=start, file_version="brain.Event:2"))
        if purge is not None:
            put(Event(wall_time=start, step=purge, session_log=SessionLog(status=SessionLog.START)))
        for row in rows:
            for name in ("loss", "grad_norm"):
                value = Summary.Value(tag=f"train/{name}")
                if as_tensor:
                    value.metadata.plugin_data.plugin_name = "scalars"
                    value.tensor.dtype = 1
                    value.tensor.float_val.append(row[name])
                    value.tensor.tensor_shape.SetInParent()
                else:
                    value.simple_value = row[name]
                put(Event(wall_time=start + row["step"], step=row["step"], summary=Summary(value=[value])))
        if histogram:
            value = Summary.Value(tag="weight", histo={"min": 0, "max": 1, "num": 2, "sum": 1, "sum_squares": 1, "bucket_limit": [1], "bucket": [2]})
            put(Event(wall_time=start, step=1, summary=Summary(value=[value])))


def tensorboard():
    root = HERE / "tensorboard"
    a, c, d = (ROWS[run] for run in "ACD")
    events(root / "A", "events.out.tfevents.1.node0", a, 1000.0)
    events(root / "C", "events.out.tfevents.1.node0", c, 1000.0)
    events(root / "histogram", "events.out.tfevents.1.node0", a[:2], 1000.0, histogram=True)
    events(root / "tensors", "events.out.tfevents.1.node0", a, 1000.0, as_tensor=True)
    # Names sort the later file first: the time inside decides.
    for name, purge in (("purged", 5), ("not-purged", None)):
        events(root / name, "events.out.tfevents.2.node0", a[:7], 1000.0)
        events(root / name, "events.out.tfevents.1.node0", [row for row in d if row["step"] in (5, 6)], 2000.0, purge=purge)


WANDB = """
import json, sys, wandb
spec = json.load(sys.stdin)
s = wandb.Settings(mode="offline", x_disable_stats=True, x_disable_meta=True, x_disable_machine_info=True, disable_git=True, disable_code=True, console="off", silent=True,
                   host="node0", username="user", program="train.py", program_relpath="train.py", x_save_requirements=False)
run = wandb.init(project="tiny", name=spec["name"], id=spec["id"], config=spec["config"], dir=spec["dir"], settings=s)
for r in spec["rows"]:
    run.log({k: v for k, v in r.items() if k != "step"}, step=r["step"])
run.log({"nested": {"accuracy": 0.5}, "bad": float("nan"), "note": "text"}, step=13)
run.finish()
"""


def wandb():
    (HERE / "wandb").mkdir()
    for name, accumulate in (("A", "forward"), ("C", "reverse")):
        with tempfile.TemporaryDirectory() as tmp:
            spec = {"name": name, "id": f"run{name.lower()}", "dir": tmp, "rows": ROWS[name],
                    "config": {"accumulate": accumulate, "lr": 0.003, "betas": [0.9, 0.95], "model": {"width": 24}}}
            subprocess.run([sys.executable, "-c", WANDB], check=True, text=True, cwd=tmp, input=json.dumps(spec), capture_output=True)
            shutil.copy(next(Path(tmp).glob("wandb/offline-run-*/*.wandb")), HERE / "wandb" / f"{name}.wandb")


def mlflow():
    os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"
    import mlflow as m
    with tempfile.TemporaryDirectory() as tmp:
        m.set_tracking_uri(f"file://{tmp}/mlruns")
        m.set_experiment("tiny")
        for name, accumulate in (("A", "forward"), ("C", "reverse")):
            with m.start_run(run_name=name) as run:
                m.log_params({"accumulate": accumulate, "lr": 0.003})
                for row in ROWS[name]:
                    m.log_metrics({"loss": row["loss"], "eval/grad_norm": row["grad_norm"]}, step=row["step"])
                source = Path(tmp) / "mlruns" / run.info.experiment_id / run.info.run_id
            target = HERE / "mlruns" / name
            for part in ("metrics", "params"):
                shutil.copytree(source / part, target / part)
            (target / "meta.yaml").write_text(f"run_name: {name}\n")


def hugging_face():
    for run, rows in ROWS.items():
        folder = HERE / "hugging-face" / run
        folder.mkdir(parents=True)
        history = [{"epoch": r["step"] / 12, "grad_norm": r["grad_norm"], "learning_rate": r["lr"], "loss": r["loss"], "step": r["step"]} for r in rows]
        state = {"best_metric": None, "epoch": 1.0, "global_step": 12, "is_world_process_zero": True, "log_history": history, "max_steps": 12}
        (folder / "trainer_state.json").write_text(json.dumps(state, indent=2) + "\n")
        with open(folder / "v4.log", "w") as old, open(folder / "v5.log", "w") as new:
            for r in rows:
                logs = {"loss": r["loss"], "grad_norm": r["grad_norm"], "learning_rate": r["lr"], "epoch": r["step"] / 12}
                old.write(str({**logs, "loss": round(r["loss"], 4), "epoch": round(r["step"] / 12, 2)}) + "\n")
                new.write(str({key: f"{value:.4g}" for key, value in logs.items()}) + "\n")


def consoles():
    folder = HERE / "console"
    folder.mkdir()
    for run, rows in ROWS.items():
        with open(folder / f"megatron-{run}.log", "w") as out:
            out.write("> setting random seeds to 1234 ...\n")
            for r in rows:
                s = r["step"]
                out.write(f" [2026-01-05 10:00:{s:02d}.000000] iteration {s:8d}/{12:8d} | consumed samples: {s * 8:12d} | elapsed time per iteration (ms): {12.5 + ord(run):.1f} |"
                          f" learning rate: {r['lr']:.6E} | global batch size: {8:5d} | lm loss: {r['loss']:.6E} | loss scale: 1.0 | grad norm: {r['grad_norm']:.3f} |"
                          f" number of skipped iterations: {0:3d} | number of nan iterations: {0:3d} |\n")
        with open(folder / f"torchtitan-{run}.log", "w") as out:
            for r in rows:
                e, s = "\x1b[", r["step"]
                out.write(f"[titan] 2026-01-05 10:00:{s:02d},000 - root - INFO - {e}31mstep: {s:2}  {e}32mloss: {r['loss']:8.5f}  {e}38;2;180;60;0mgrad_norm: {r['grad_norm']:7.4f}  "
                          f"{e}38;2;54;234;195mmemory:  0.00GiB(0.00%)  {e}34mtps: {20000 + s + ord(run):,}  {e}36mtflops: 0.00  {e}35mmfu: N/A{e}39m\n")


if __name__ == "__main__":
    for old in ("tensorboard", "wandb", "mlruns", "hugging-face", "console"):
        shutil.rmtree(HERE / old, ignore_errors=True)
    for writer in (tensorboard, wandb, mlflow, hugging_face, consoles):
        writer()
