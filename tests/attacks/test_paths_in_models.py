"""Paths that a stranger's files lead to, besides those of the model itself."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import torch

from fencepost.cli.main import main
from fencepost.errors import ModelError
from fencepost.features.vectors import VectorFiles
from fencepost.integrations.spacy import FencepostComponent
from fencepost.model.precision import Masters
from fencepost.storage.model_files import CONFIG
from fencepost.training.average import Average
from fencepost.training.checkpoint import save_checkpoint
from fencepost.training.log import open_log
from tests.attacks.strangers import copy_of_en, rewrite

TREES = "(TOP (S (NP (NNS Cats)) (VP (VBP sleep)) (. .)))\n" * 4


@pytest.mark.parametrize("name", ["pipe", "/dev/zero", "/dev/tty", "missing", "."])
def test_scoring_parameters_that_a_model_names_are_a_plain_file(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    folder = copy_of_en(tmp_path / "model")
    text = (folder / CONFIG).read_text().replace('params = "collins"', f'params = "{name}"')
    rewrite(folder, CONFIG, text.encode())
    (tmp_path / "dev.txt").write_text(TREES)
    assert main(["evaluate", str(folder), "dev.txt"]) == 2
    assert f"no parameters or file called {name}" in capsys.readouterr().err


def test_vectors_that_a_model_names_are_plain_files(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.safetensors")
    for path in (tmp_path, tmp_path / "pipe.safetensors", Path("/dev/zero"), tmp_path / "missing"):
        with pytest.raises(ModelError, match="can't read vectors"):
            VectorFiles(str(path), 4)


def test_a_pipeline_is_not_written_through_links(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("mine")
    (tmp_path / "pipeline").mkdir()
    (tmp_path / "pipeline" / CONFIG).symlink_to(tmp_path / "letter.txt")
    FencepostComponent().to_disk(tmp_path / "pipeline")
    assert (tmp_path / "letter.txt").read_text() == "mine"
    assert not (tmp_path / "pipeline" / CONFIG).is_symlink()


def test_a_run_does_not_write_through_the_links_of_another(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("mine")
    for name in (".fencepost-checkpoint", ".fencepost-log.jsonl"):
        (tmp_path / name).symlink_to(tmp_path / "letter.txt")
    (tmp_path / "log.jsonl").write_text('{"step": 9}\n')
    with open_log(tmp_path, 5):
        pass
    model = torch.nn.Linear(2, 2)
    masters = Masters(model, {})
    save_checkpoint(
        tmp_path / "checkpoint.safetensors", masters, Average(masters, None), torch.optim.Adam(model.parameters()), {}
    )
    assert (tmp_path / "letter.txt").read_text() == "mine"
    assert not (tmp_path / "checkpoint.safetensors").is_symlink()
