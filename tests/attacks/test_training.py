"""Training that is killed, at the worst moments, ends with the same model and log as training that isn't."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor

from fencepost.config.toml import config_to_toml
from fencepost.errors import ModelError
from fencepost.storage.model_files import CHECKPOINT
from fencepost.training.check import CLOCKED
from fencepost.training.checkpoint import damage_named
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
    variables = {**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"}
    result = subprocess.run(command, cwd=folder.parent, capture_output=True, env=variables, timeout=60)
    assert result.returncode == 9, result.stderr.decode()


def log_of(folder: Path) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    return [{name: value for name, value in line.items() if name not in CLOCKED} for line in lines]


def outcome(folder: Path) -> tuple[list[dict[str, Any]], bytes]:
    return log_of(folder), (folder / "model.safetensors").read_bytes()


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> None:
    """As in the processes that are killed: with another number of threads, sums differ in their last digits."""
    torch.set_num_threads(1)


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


STATES: dict[str, Any] = {
    "nothing": {},
    "a list": [],
    "no step": {"step": None},
    "a step that is a string": {"step": "1"},
    "a schedule that is a string": {"schedule": "x"},
    "a schedule of strings": {"schedule": {"best_f1": "x"}},
    "a check of another kind": {"best_check": {"a": 1}},
    "data that are a string": {"data": "x"},
    "time that is a list": {"seconds": []},
}


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trained") / "model"
    train(CONFIG, TREES[:9], TREES, folder)
    return folder


def damaged(trained: Path, folder: Path, change: Callable[[dict[str, Tensor], Any], tuple[Any, Any]]) -> str:
    """What is said about a checkpoint whose tensors or state were changed."""
    shutil.copytree(trained, folder)
    with safe_open(folder / CHECKPOINT, framework="pt") as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        state = json.loads(file.metadata()["state"])
    tensors, state = change(tensors, state)
    save_file(tensors, folder / CHECKPOINT, metadata={"state": state if isinstance(state, str) else json.dumps(state)})
    with pytest.raises(ModelError) as caught:
        train(CONFIG, TREES[:9], TREES, folder, resume=True)
    assert str(folder / CHECKPOINT) in caught.value.message
    return caught.value.message


@pytest.mark.parametrize("name", STATES)
def test_a_checkpoint_with_a_damaged_state_is_named(trained: Path, tmp_path: Path, name: str) -> None:
    wrong = STATES[name]
    damaged(trained, tmp_path / "m", lambda tensors, state: (tensors, {**state, **wrong} if wrong else wrong))


TENSORS: dict[str, Callable[[dict[str, Tensor]], dict[str, Tensor]]] = {
    "none of ours": lambda _: {"a": torch.zeros(1)},
    "another name": lambda tensors: {**tensors, "optimizer.x.y": torch.zeros(1)},
    "another shape": lambda tensors: {**tensors, next(iter(tensors)): torch.zeros(3)},
}


@pytest.mark.parametrize("name", TENSORS)
def test_a_checkpoint_with_other_tensors_is_named(trained: Path, tmp_path: Path, name: str) -> None:
    damaged(trained, tmp_path / "m", lambda tensors, state: (TENSORS[name](tensors), state))


def test_a_checkpoint_with_deep_json_is_named(trained: Path, tmp_path: Path) -> None:
    damaged(trained, tmp_path / "m", lambda tensors, _: (tensors, "[" * 100_000))


def test_a_checkpoint_is_not_blamed_for_a_broken_device(tmp_path: Path) -> None:
    with pytest.raises(torch.AcceleratorError), damage_named(tmp_path / CHECKPOINT):
        raise torch.AcceleratorError("CUDA error: unspecified launch failure")
