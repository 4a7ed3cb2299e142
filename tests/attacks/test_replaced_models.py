"""Models that another process replaces while they are in use: no run silently continues with another model."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from fencepost.cli.main import main
from fencepost.corpus.part_maker import PartMaker, PartSettings
from fencepost.corpus.readers import Columns
from fencepost.errors import ModelError
from fencepost.parsing.load import load, load_again
from fencepost.parsing.parser import Source
from fencepost.storage import model_folder
from fencepost.storage.find_model import find_model
from fencepost.storage.model_files import CARD, model_fingerprint
from tests.attacks.strangers import copy_of_en, rewrite

Output = pytest.CaptureFixture[str]
REPLACED = "en: not the model that was loaded first\nhint: it was replaced; to use the new one, load it again"


def test_another_process_gets_the_model_of_this_one_or_an_error(tmp_path: Path) -> None:
    folder = copy_of_en(tmp_path / "en")
    parser = load(folder)
    pickle.loads(pickle.dumps(parser))
    rewrite(folder, CARD, b"another model")
    with pytest.raises(ModelError, match=REPLACED):
        pickle.loads(pickle.dumps(parser))


def test_a_parser_that_an_older_fencepost_pickled_is_loaded(tmp_path: Path) -> None:
    folder = copy_of_en(tmp_path / "en")
    source = Source(str(folder), "cpu", "onnx")
    del source.__dict__["fingerprint"]  # older ones didn't have it
    rewrite(folder, CARD, b"another model")
    assert load_again(pickle.loads(pickle.dumps(source))).parse([["It", "works"]])


def test_parts_of_a_corpus_are_made_by_the_model_of_its_manifest(tmp_path: Path) -> None:
    folder = copy_of_en(tmp_path / "en")
    before = model_fingerprint(folder)
    rewrite(folder, CARD, b"another model")
    with pytest.raises(ModelError, match=REPLACED):
        PartMaker(PartSettings(str(folder), "cpu", "jsonl", Columns(), False, None, fingerprint=before))


def test_an_installed_model_made_of_links_parses_a_corpus(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    (tmp_path / "en").mkdir()
    for file in find_model().iterdir():
        (tmp_path / "en" / file.name).symlink_to(file)
    monkeypatch.setattr(model_folder, "is_installed", lambda _folder: True)
    (tmp_path / "in.txt").write_text("It works.")
    command = ["corpus", str(tmp_path / "in.txt"), "--out", str(tmp_path / "out"), "--model", str(tmp_path / "en")]
    assert main([*command, "--workers", "1"]) == 0, capsys.readouterr().err
    assert "(VBZ works)" in (tmp_path / "out" / "part-00000.jsonl").read_text()
