"""New functions in the scores and in the card of a model."""

from __future__ import annotations

import json
from pathlib import Path

import function_scores
import pytest
from card import function_table
from corpora import TESTS, Item
from function_scores import with_table

import fencepost
from fencepost.evaluation.functions import score_functions
from fencepost.export.onnx import export_onnx
from fencepost.storage.model_files import SCORES, format_scores
from fencepost.storage.model_folder import ModelFolder
from fencepost.storage.model_writer import write_model
from tests.function_samples import function_trees, random_function_model

TREES = function_trees(12, seed=2)
FIGURES = {"f1": 1.0, "accuracy": 2.0, "by_function": [{"name": "SBJ", "f1": 1.0, "gold": 60}]}
BEFORE = {name: {"f1": 50.0, "functions": FIGURES, "function_baseline": FIGURES, "genres": {}} for name in TESTS}


def test_only_the_table_of_functions_changes() -> None:
    card = "# A card\n\n| a | b |\n| --- | --- |\n\n| function | wsj |\n| --- | --- |\n| all | 0.0 |\n\nAfter it.\n"
    changed = with_table(card, BEFORE)
    table = "\n".join(function_table(BEFORE))
    assert changed == f"# A card\n\n| a | b |\n| --- | --- |\n\n{table}\n\nAfter it.\n"
    assert with_table(changed, BEFORE) == changed
    with pytest.raises(SystemExit, match="0 tables"):
        with_table("# A card\n", BEFORE)


def test_the_functions_are_measured_again_and_the_other_scores_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    export_onnx(random_function_model(tmp_path / "model"), tmp_path / "export")
    folder = ModelFolder.open(tmp_path / "export")
    files = {name: (folder.path / name).read_bytes() for name in graphs(folder.path)}
    card = "# A card\n\n" + "\n".join(function_table(BEFORE)) + "\n"
    model = tmp_path / "scored"
    write_model(model, folder.config, folder.vocabularies, card, files | {SCORES: format_scores(BEFORE)})
    items = [Item(tree, "a", "", True) for tree in TREES]
    monkeypatch.setattr(function_scores, "load", lambda *_, **__: items)
    command = ["function_scores.py", "--model", str(model), "--treebanks", str(tmp_path)]
    outputs = ["--scores", str(tmp_path / "scores.json"), "--card", str(tmp_path / "card.md")]
    monkeypatch.setattr("sys.argv", [*command, *outputs, "--first", "8"])
    function_scores.main()
    predicted = fencepost.load(model).parse([tree.words() for tree in TREES[:8]], functions=True)
    expected = score_functions(TREES[:8], predicted).to_json()
    after = json.loads((tmp_path / "scores.json").read_text())
    assert after == {name: {**BEFORE[name], "functions": expected} for name in TESTS}
    assert (tmp_path / "card.md").read_text() == with_table(card, after)


def graphs(path: Path) -> set[str]:
    return {file.name for file in path.glob("*.onnx")}
