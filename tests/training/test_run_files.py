"""What a training run finds in its folder, what it leaves there, and who else is there."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest
import torch
from safetensors import SafetensorError

from fencepost.config.settings import Config
from fencepost.errors import TrainingError, UsageError
from fencepost.features.vocabularies import Vocabularies
from fencepost.storage.lock import locked
from fencepost.storage.model_files import CHECKPOINT
from fencepost.training import checkpoint
from fencepost.training.checkpoint import read_checkpoint
from fencepost.training.provenance import Provenance
from fencepost.training.train import train
from fencepost.training.trainer import Trainer
from fencepost.trees.tree import Tree
from tests.samples import TREES, tiny_config

DIGESTS = {"training set": "x", "development set": "y"}


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


# The log


@pytest.mark.parametrize("content", [b'{"my": "log"}\n', b"[1,2]\n", b"\xff\xfe"])
def test_a_log_of_the_user_is_not_written_over(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "log.jsonl").write_bytes(content)
    with pytest.raises(UsageError, match=r"log\.jsonl exists and isn't from this run") as caught:
        train(tiny_config(max_epochs=1), TREES, TREES, tmp_path)
    assert "--resume" in (caught.value.hint or "")
    assert (tmp_path / "log.jsonl").read_bytes() == content


def test_a_run_that_ended_before_its_first_check_is_in_nobodys_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def burst(self: Trainer, batch: list[int]) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory")

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "step", burst)
        with pytest.raises(TrainingError):
            train(tiny_config(), TREES, TREES, tmp_path)
    train(tiny_config(max_epochs=1), TREES, TREES, tmp_path)


def test_lines_of_the_log_that_are_no_checks_stay_when_a_run_is_resumed(tmp_path: Path) -> None:
    strange = b'{"my": "log"}\n[1,2]\n\xff\xfe\n{"step": "one"}\n'
    (tmp_path / "log.jsonl").write_bytes(strange + b'{"step": 999}\n{"step": 10')
    train(tiny_config(max_epochs=1), TREES, TREES, tmp_path, resume=True)
    log = (tmp_path / "log.jsonl").read_bytes()
    assert log.startswith(strange)
    assert [json.loads(line)["step"] for line in log[len(strange) :].splitlines()] == [3]


def test_a_log_that_loses_no_line_stays_the_file_it_is(tmp_path: Path) -> None:
    train(tiny_config(max_epochs=1), TREES, TREES, tmp_path)
    before = (tmp_path / "log.jsonl").stat().st_ino
    train(tiny_config(max_epochs=2), TREES, TREES, tmp_path, resume=True)
    assert (tmp_path / "log.jsonl").stat().st_ino == before


def test_a_log_that_is_a_link_stays_one(tmp_path: Path) -> None:
    folder, logs = tmp_path / "model", tmp_path / "logs"
    logs.write_text('{"step": 999}\n')
    folder.mkdir()
    (folder / "log.jsonl").symlink_to(logs)
    train(tiny_config(max_epochs=1), TREES, TREES, folder, resume=True)
    assert (folder / "log.jsonl").readlink() == logs
    assert [json.loads(line)["step"] for line in logs.read_text().splitlines()] == [3]


# The data


@pytest.mark.parametrize("with_checkpoint", [True, False])
@pytest.mark.parametrize(
    ("training", "development", "other"),
    [(TREES, TREES[:-1], "development set"), (TREES[::-1], TREES, "training set")],
)
def test_a_run_goes_on_with_its_own_trees_alone(
    tmp_path: Path, training: tuple[Tree, ...], development: tuple[Tree, ...], other: str, with_checkpoint: bool
) -> None:
    train(tiny_config(max_epochs=1), TREES, TREES, tmp_path)
    if not with_checkpoint:
        (tmp_path / CHECKPOINT).unlink()
    with pytest.raises(UsageError, match=f"made with a different {other}"):
        train(tiny_config(max_epochs=2), training, development, tmp_path, resume=True)


def test_a_checkpoint_that_says_nothing_of_its_trees_is_taken_on_trust(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def without_digests(path: Path) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
        tensors, state = read_checkpoint(path)
        del state["data"]
        assert 'attention_scale = "d_k"\n' in state["config"]
        state["config"] = state["config"].replace('attention_scale = "d_k"\n', "")  # it is of that time, too
        return tensors, state

    train(scaled("d_k", max_epochs=1), TREES, TREES, tmp_path)
    monkeypatch.setattr("fencepost.training.saving.read_checkpoint", without_digests)
    with pytest.raises(UsageError, match='made with a different config: now attention_scale = "d_model"'):
        train(scaled("d_model", max_epochs=2), TREES, TREES[:-1], tmp_path, resume=True)
    train(scaled("d_k", max_epochs=2), TREES, TREES[:-1], tmp_path, resume=True)


def scaled(scale: Literal["d_k", "d_model"], max_epochs: int) -> Config:
    config = tiny_config(max_epochs=max_epochs)
    return replace(config, encoder=replace(config.encoder, attention_scale=scale))


@pytest.mark.parametrize(
    ("now", "what"),
    [
        (Provenance("others", "seed = 1\n", DIGESTS), "training set"),  # of a run that started from another model
        (Provenance("words", "seed = 2\n", DIGESTS), "config"),
        (Provenance("words", "seed = 1\n", {**DIGESTS, "training set": "z"}), "training set"),
        (Provenance("words", "seed = 1\n", {**DIGESTS, "development set": "z"}), "development set"),
    ],
)
def test_a_run_goes_on_with_all_that_it_was_made_of_or_not_at_all(now: Provenance, what: str) -> None:
    before = Provenance("words", "seed = 1\nmax_epochs = 3\n", DIGESTS)
    before.require(Provenance("words", "seed = 1\nmax_epochs = 4\n", DIGESTS), Path("here"))
    with pytest.raises(UsageError, match=f"here was made with a different {what}"):
        before.require(now, Path("here"))


def test_a_run_that_began_without_a_table_of_possible_tags_can_be_resumed() -> None:
    config = tiny_config()
    vocabularies = Vocabularies.of(TREES, config)
    without = replace(vocabularies, possible_tags=None)
    before, now = (Provenance.of(config, each, TREES, TREES) for each in (without, vocabularies))
    before.require(now, Path("here"))


# A disk that is full


def test_a_checkpoint_that_does_not_fit_ends_the_run_in_plain_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def half(tensors: object, path: Path, metadata: object) -> None:
        path.write_bytes(b"half of it")
        raise SafetensorError("I/O error: File too large (os error 27)")

    monkeypatch.setattr(checkpoint, "save_file", half)
    with pytest.raises(TrainingError, match="the checkpoint can't be written: I/O error: File too large"):
        train(tiny_config(max_epochs=1), TREES, TREES, tmp_path)
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"config.toml", "vocab.json", "model.safetensors", "README.md", "checksums", "log.jsonl"}


def test_a_folder_in_the_place_of_a_checkpoint_ends_the_run_in_plain_words(tmp_path: Path) -> None:
    (tmp_path / ".fencepost-checkpoint").mkdir()
    with pytest.raises(TrainingError, match="the checkpoint can't be written"):
        train(tiny_config(max_epochs=1), TREES, TREES, tmp_path)


def test_a_file_of_the_user_beside_the_checkpoint_stays(tmp_path: Path) -> None:
    (tmp_path / "checkpoint.tmp").mkdir()
    train(tiny_config(max_epochs=1), TREES, TREES, tmp_path)
    assert (tmp_path / "checkpoint.tmp").is_dir()
    assert (tmp_path / CHECKPOINT).is_file()
