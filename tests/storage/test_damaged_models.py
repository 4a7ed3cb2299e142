"""A model folder in which something is wrong says what, and in which file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import save

from fencepost.backends.torch import vocab_sizes
from fencepost.cli.main import main
from fencepost.errors import ModelError
from fencepost.export.onnx import export_onnx
from fencepost.features.vocabularies import Vocabularies
from fencepost.model.build import build_model
from fencepost.parsing.load import load
from fencepost.storage.model_files import CHECKSUMS, CONFIG, SPANS, VOCABULARIES, WEIGHTS
from fencepost.storage.model_folder import ModelFolder
from fencepost.storage.model_staging import recover
from fencepost.storage.model_writer import write_model
from tests.samples import TREES, tiny_config


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    config = tiny_config()
    vocabularies = Vocabularies.of(TREES, config)
    weights = save(build_model(config, vocab_sizes(vocabularies)).state_dict())
    write_model(tmp_path / "model", config, vocabularies, "a card", {WEIGHTS: weights})
    return tmp_path / "model"


@pytest.fixture
def export(folder: Path, tmp_path: Path) -> Path:
    export_onnx(folder, tmp_path / "export")
    return tmp_path / "export"


def rewrite(folder: Path, name: str, content: bytes) -> None:
    """Another file under a right checksum."""
    (folder / name).write_bytes(content)
    lines = (folder / CHECKSUMS).read_text().splitlines()
    others = [line for line in lines if not line.endswith(f"  {name}")]
    (folder / CHECKSUMS).write_text("\n".join([*others, f"{hashlib.sha256(content).hexdigest()}  {name}"]) + "\n")


def unlist(folder: Path, name: str) -> None:
    lines = (folder / CHECKSUMS).read_text().splitlines(keepends=True)
    (folder / CHECKSUMS).write_text("".join(line for line in lines if not line.endswith(f"  {name}\n")))
    (folder / name).unlink()


def change_vocabulary(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    table = json.loads((folder / VOCABULARIES).read_text())
    change(table)
    rewrite(folder, VOCABULARIES, json.dumps(table).encode())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", f"cut short: {CONFIG} is not listed"),
        (b"abc", "damaged: line 1 is not a checksum"),
        (b"\xff\xfe\0", "damaged: line 1 is not a checksum"),
        (b"0" * 64 + b"  \0", "damaged: line 1 is not a checksum"),
    ],
)
def test_a_list_of_files_that_is_none_is_named(
    folder: Path, content: bytes, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / CHECKSUMS).write_bytes(content)
    assert main(["parse", "--model", str(folder), "--text", "Cats sleep."]) == 2
    assert f"{CHECKSUMS}: {message}" in capsys.readouterr().err


def test_a_list_of_files_that_was_cut_short_is_named(folder: Path) -> None:
    lines = (folder / CHECKSUMS).read_text().splitlines(keepends=True)
    (folder / CHECKSUMS).write_text("".join(lines[:3]))
    with pytest.raises(ModelError, match=f"{CHECKSUMS}: cut short: {VOCABULARIES} is not listed"):
        load(folder)


def test_a_model_that_waits_with_an_empty_list_takes_no_place(folder: Path) -> None:
    (folder / ".fencepost-incoming").mkdir()
    (folder / ".fencepost-incoming" / CHECKSUMS).write_text("")
    recover(folder)
    assert ModelFolder.open(folder).has(WEIGHTS)


def test_a_file_that_the_list_lacks_is_not_read(export: Path) -> None:
    unlist(export, SPANS)
    with pytest.raises(ModelError, match=f"{SPANS} is not listed"):
        load(export)


@pytest.mark.parametrize("name", ["tokenizer.json", "encoder.json"])
def test_a_file_of_the_encoder_that_the_list_lacks_is_named(tmp_path: Path, name: str) -> None:
    shipped = ModelFolder.open()
    write_model(tmp_path, shipped.config, shipped.vocabularies, "a card", {})
    unlist(tmp_path, name)
    with pytest.raises(ModelError, match=f"{name} is not listed"):
        ModelFolder.open(tmp_path)


@pytest.mark.parametrize("content", [b"{}", b"{", b"[]", b"\xff"])
def test_a_damaged_configuration_of_the_encoder_is_named(tmp_path: Path, content: bytes) -> None:
    shipped = ModelFolder.open()
    write_model(tmp_path, shipped.config, shipped.vocabularies, "a card", {})
    rewrite(tmp_path, "encoder.json", content)
    with pytest.raises(ModelError, match=r"encoder\.json: damaged"):
        ModelFolder.open(tmp_path)


def test_a_vocabulary_that_is_no_text_is_named(folder: Path) -> None:
    rewrite(folder, VOCABULARIES, b"\xff")
    with pytest.raises(ModelError, match=f"{VOCABULARIES}: damaged: not UTF-8"):
        load(folder)


@pytest.mark.parametrize(
    ("table", "key", "value"),
    [
        (None, "root", 5),
        (None, "labels", [[], "NP"]),
        (None, "labels", [[], [None]]),
        ("tags", "symbols", [1]),
        ("tags", "counts", ["many"]),
        ("tags", "reserved", None),
    ],
)
def test_a_vocabulary_of_something_else_is_named(folder: Path, table: str | None, key: str, value: object) -> None:
    change_vocabulary(folder, lambda found: (found if table is None else found[table]).update({key: value}))
    with pytest.raises(ModelError, match=f"{VOCABULARIES} is damaged"):
        load(folder)


@pytest.mark.parametrize("override", [("d_model = 32", "d_model = 64"), ('"char_lstm"]', '"words"]')])
def test_weights_that_are_not_of_the_configuration_are_refused(folder: Path, override: tuple[str, str]) -> None:
    rewrite(folder, CONFIG, (folder / CONFIG).read_text().replace(*override).encode())
    with pytest.raises(ModelError, match=f"weights, {CONFIG} and {VOCABULARIES} don't agree"):
        load(folder)


@pytest.mark.parametrize(
    ("override", "message"),
    [
        (('"char_lstm"]', '"char_lstm", "words"]'), "reads letters, not letters, words"),
        (("predict_tags = true", "predict_tags = false"), "predicts tags"),
    ],
)
def test_graphs_that_are_not_of_the_configuration_are_refused(
    export: Path, override: tuple[str, str], message: str
) -> None:
    rewrite(export, CONFIG, (export / CONFIG).read_text().replace(*override).encode())
    with pytest.raises(ModelError, match=f"don't agree: model.onnx {message}"):
        load(export)


def test_labels_that_are_not_those_of_the_graphs_are_refused(export: Path) -> None:
    change_vocabulary(export, lambda found: found["labels"].pop())
    with pytest.raises(ModelError, match=rf"don't agree: {SPANS} knows \d+ labels"):
        load(export)


def test_a_tag_that_the_vocabulary_lacks_is_no_index_error(export: Path) -> None:
    def without_tags(found: dict[str, Any]) -> None:
        found["tags"].update(symbols=[], counts=[])
        del found["possible_tags"]

    change_vocabulary(export, without_tags)
    with pytest.raises(ModelError, match=f"{VOCABULARIES} has 3 entries"):
        load(export).parse([["Cats", "sleep"]])
