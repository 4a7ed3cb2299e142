"""Training that is killed, at the worst moments, ends with the same model and log as training that isn't."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fencepost.config.toml import config_to_toml
from fencepost.training.check import CLOCKED
from fencepost.training.train import train
from tests.samples import TREES, tiny_config

SECONDS = 60  # importing torch in another process takes a while
# Two checks per epoch of three batches: after steps 2, 4 and 6. A run of one epoch ends between two of them.
CONFIG = tiny_config(checks_per_epoch=2, max_epochs=1, deterministic=True)
KILLED = """
import os, sys
from pathlib import Path
from fencepost.config.toml import load_config
from fencepost.training import run
from fencepost.training.train import train
from tests.samples import TREES

name, calls = sys.argv[2], int(sys.argv[3])
real = getattr(run, name)

def killed(*arguments):
    global calls
    if calls <= 0:
        os._exit(9)
    calls -= 1
    real(*arguments)
    if calls == 0:
        os._exit(9)

setattr(run, name, killed)
train(load_config("config.toml"), TREES[:9], TREES, Path(sys.argv[1]), resume="--resume" in sys.argv)
"""


def kill_after(folder: Path, name: str, calls: int) -> None:
    """Trains in a process that dies, as by kill -9, right after so many calls of a function of ``training.run``."""
    (folder.parent / "config.toml").write_text(config_to_toml(CONFIG))
    command = [sys.executable, "-c", KILLED, str(folder), name, str(calls)]
    paths = os.pathsep.join([str(Path(__file__).parents[2]), *sys.path])
    result = subprocess.run(
        command, cwd=folder.parent, capture_output=True, env={**os.environ, "PYTHONPATH": paths}, timeout=60
    )
    assert result.returncode == 9, result.stderr.decode()


def log_of(folder: Path) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    return [{name: value for name, value in line.items() if name not in CLOCKED} for line in lines]


def outcome(folder: Path) -> tuple[list[dict[str, Any]], bytes]:
    return log_of(folder), (folder / "model.safetensors").read_bytes()


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("uninterrupted") / "model"
    train(CONFIG, TREES[:9], TREES, folder)
    return folder


def test_a_run_ends_between_two_checks(uninterrupted: Path) -> None:
    assert [line["step"] for line in log_of(uninterrupted)] == [2, 3]


@pytest.mark.parametrize(
    ("name", "calls"), [("save_run", 1), ("_check", 2), ("save_best_model", 1)], ids=["save", "check", "best"]
)
def test_a_run_killed_after_its_last_checkpoint_does_the_check_that_was_due(
    tmp_path: Path, uninterrupted: Path, name: str, calls: int
) -> None:
    kill_after(tmp_path / "model", name, calls)
    train(CONFIG, TREES[:9], TREES, tmp_path / "model", resume=True)
    assert outcome(tmp_path / "model") == outcome(uninterrupted)


def test_resuming_a_run_that_has_ended_changes_nothing(tmp_path: Path, uninterrupted: Path) -> None:
    train(CONFIG, TREES[:9], TREES, tmp_path / "model")
    train(CONFIG, TREES[:9], TREES, tmp_path / "model", resume=True)
    assert outcome(tmp_path / "model") == outcome(uninterrupted)
