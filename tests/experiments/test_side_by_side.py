"""Processes side by side: what one command starts, it also ends, without loss."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from fencepost.experiments.options import Options
from fencepost.experiments.side_by_side import Job
from fencepost.trees.treebank import Treebank
from tests.grammar import toy_trees

ENDLESS = ("train.max_epochs=100000", "train.patience_epochs=100000", "train.batch_size=4")
SMALL = ("encoder.d_model=32", "encoder.layers=1", "encoder.d_ff=16", "train.checkpoint_minutes=0.001")
PATIENCE = 300.0  # seconds, for what takes ten


@pytest.fixture
def treebank(tmp_path: Path) -> Path:
    folder = tmp_path / "treebank"
    folder.mkdir()
    for part in ("train", "dev", "test"):
        Treebank(toy_trees(12)).save(folder / f"{part}.txt")
    return folder


def start(treebank: Path, out: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "fencepost", "reproduce", "table6,table7", "--jobs", "2", "--smoke"]
    command += ["--treebank", str(treebank), "--out", str(out), "--set", *SMALL, *ENDLESS]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)


def steps(out: Path) -> list[int]:
    """How far each model has come."""
    logs = [path.read_text("utf-8").splitlines() for path in out.glob("models/*/log.jsonl")]
    return [json.loads(lines[-1])["step"] for lines in logs if lines]


def wait_until(something: Callable[[], bool]) -> None:
    ends = time.monotonic() + PATIENCE
    while not something():
        assert time.monotonic() < ends, "waited in vain"
        time.sleep(0.05)


def running(out: Path) -> int:
    """How many models are being trained: each run keeps a file in its folder as long as it goes on."""
    return len(list(out.glob("models/*/.fencepost-training")))


def test_termination_of_the_command_ends_and_saves_what_it_started(treebank: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    process = start(treebank, out)
    wait_until(lambda: len(steps(out)) == 2)
    assert running(out) == 2
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 143
    assert said.count(": interrupted") == 2
    assert len(list(out.glob("models/*/checkpoint.safetensors"))) == 2
    assert running(out) == 0


def test_what_a_command_started_ends_when_it_is_killed(treebank: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    process = start(treebank, out)
    wait_until(lambda: len(steps(out)) == 2)
    assert running(out) == 2
    process.kill()
    process.communicate(timeout=PATIENCE)
    wait_until(lambda: running(out) == 0)
    logs = [path.read_text("utf-8") for path in out.glob("logs/*")]
    assert all("stopping after this step" in log for log in logs)


def test_a_job_is_the_same_on_the_other_side() -> None:
    options = Options(Path("out"), seeds=(1, 2), settings=("train.seed=3",), tags="jackknife", part="he")
    job = Job("a job", options, [("he", Path("trees"))], None, [("table4", "words", "he", 2)])
    assert Job.from_json(job.to_json()) == job
    assert "\n" not in job.to_json()
