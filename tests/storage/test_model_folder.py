from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.errors import ModelError
from fencepost.storage.model_files import CHECKSUMS, CONFIG, ONNX, VOCABULARIES, WEIGHTS, file_digest
from fencepost.storage.model_folder import ModelFolder
from tests.samples import tiny_config
from tests.storage.conftest import VOCABULARY


def test_a_folder_gives_back_what_was_put_in(folder: Path) -> None:
    opened = ModelFolder.open(folder)
    assert (opened.config, opened.vocabularies) == (tiny_config(), VOCABULARY)


@pytest.mark.parametrize("name", [CONFIG, VOCABULARIES, WEIGHTS])
def test_a_damaged_file_is_refused(folder: Path, name: str) -> None:
    (folder / name).write_bytes((folder / name).read_bytes() + b" ")
    with pytest.raises(ModelError, match="damaged"):
        ModelFolder.open(folder)


@pytest.mark.parametrize("name", [VOCABULARIES, WEIGHTS])
def test_a_missing_file_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(ModelError, match=f"{name} is missing"):
        ModelFolder.open(folder)


def test_a_folder_without_checksums_is_refused(folder: Path) -> None:
    (folder / CHECKSUMS).unlink()
    with pytest.raises(ModelError, match="checksums"):
        ModelFolder.open(folder)


def test_a_file_beside_the_model_is_no_part_of_it(folder: Path) -> None:
    (folder / ONNX).write_bytes(b"somebody else's")
    opened = ModelFolder.open(folder)
    assert opened.has(WEIGHTS)
    assert not opened.has(ONNX)


def test_a_model_from_before_the_attention_scale_was_a_setting_keeps_the_scale_of_that_time(folder: Path) -> None:
    before = file_digest(folder / CONFIG)
    written = (folder / CONFIG).read_text()
    assert ModelFolder.open(folder).config.encoder.attention_scale == "d_model"
    (folder / CONFIG).write_text(written.replace('attention_scale = "d_model"\n', ""))
    sums = (folder / CHECKSUMS).read_text()
    (folder / CHECKSUMS).write_text(sums.replace(before, file_digest(folder / CONFIG)))
    assert ModelFolder.open(folder).config.encoder.attention_scale == "d_k"
