"""What a training run finds in its folder, what it leaves there, and who else is there."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import torch
from tests.samples import TREES, tiny_config

from fencepost.backends.lock import locked
from fencepost.errors import TrainingError, UsageError
from fencepost.training.run import train
from fencepost.training.trainer import Trainer
from fencepost.trees.tree import Tree


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


# Two runs in one folder


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such locks on Windows")
def test_two_runs_dont_share_a_folder(tmp_path: Path) -> None:
    with locked(tmp_path / ".fencepost-training"), pytest.raises(UsageError, match="another process is training in"):
        train(tiny_config(max_epochs=1), TREES, TREES, tmp_path)
    assert list(tmp_path.iterdir()) == []
    train(tiny_config(max_epochs=1), TREES, TREES, tmp_path)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such locks on Windows")
def test_a_run_keeps_others_out_until_it_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    step = Trainer.step
    refused: list[bool] = []

    def rival(self: Trainer, batch: list[int]) -> None:
        step(self, batch)
        with pytest.raises(UsageError, match="another process is training in"):
            train(tiny_config(), TREES, TREES, tmp_path / "model", resume=True)
        refused.append(True)

    monkeypatch.setattr(Trainer, "step", rival)
    train(tiny_config(max_epochs=1), TREES, TREES, tmp_path / "model")
    assert refused == [True] * 3
    assert not (tmp_path / "model" / ".fencepost-training").exists()


def test_a_run_that_cannot_begin_leaves_no_folder(tmp_path: Path) -> None:
    with pytest.raises(TrainingError):
        train(tiny_config(), [Tree.from_string("(TOP (X a) (Y b))")], TREES, tmp_path / "some" / "model")
    assert list(tmp_path.iterdir()) == []
