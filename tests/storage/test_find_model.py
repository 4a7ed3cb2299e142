from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from fencepost.errors import ModelError, UsageError
from fencepost.storage.find_model import DEFAULT_MODEL, find_model
from fencepost.storage.model_files import CONFIG
from fencepost.storage.model_folder import ModelFolder
from tests.samples import tiny_config


def test_half_a_model_under_the_name_of_one_that_ships_is_not_passed_over(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder.parent)
    os.replace(folder, DEFAULT_MODEL)
    Path(DEFAULT_MODEL, CONFIG).unlink()
    with pytest.raises(ModelError, match=f"{CONFIG} is missing"):
        ModelFolder.open(DEFAULT_MODEL)


@pytest.mark.parametrize("model", ["", 3, b"en"])
def test_a_model_is_a_name_or_a_path(model: Any) -> None:
    with pytest.raises(UsageError, match=f"a model is a name or a path, got {model!r}"):
        ModelFolder.open(model)


def test_a_name_that_no_file_can_have_is_no_model() -> None:
    with pytest.raises(ModelError, match="no model at"):
        ModelFolder.open("x" * 5_000)


def test_a_folder_comes_before_a_model_that_ships_under_its_name(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shipped = find_model(DEFAULT_MODEL)
    os.replace(folder, DEFAULT_MODEL)
    assert find_model(DEFAULT_MODEL) == Path(DEFAULT_MODEL)
    assert ModelFolder.open(DEFAULT_MODEL).config == tiny_config()
    assert find_model() == shipped != Path(DEFAULT_MODEL)


def test_a_folder_that_is_no_model_does_not_hide_one_that_ships(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(DEFAULT_MODEL).mkdir()
    assert find_model(DEFAULT_MODEL) == find_model()


def test_a_folder_that_is_no_model_gets_a_hint(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no model at") as caught:
        ModelFolder.open(tmp_path)
    assert "fencepost train" in (caught.value.hint or "")
