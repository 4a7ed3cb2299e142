"""The function scorer learns from raw sentences whose functions a better model decides."""

from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path

import fit_functions
import numpy as np
import pytest
import silver
import torch
from fit_functions import fit, soft_loss, write
from prepare import PENN
from silver import FunctionLabeller, is_about_business, raw_sentences, shared, silver_examples
from vectors import VectorReader

import fencepost
from fencepost.export.onnx import export_onnx
from fencepost.features.constituents import Constituents
from fencepost.storage.model_folder import ModelFolder
from fencepost.trees.functions import without_functions
from fencepost.trees.spans import spans_below_root
from fencepost.trees.treebank import Sentence, Treebank
from tests.function_samples import function_trees, random_function_model

TREES = function_trees(30, seed=1)
SENTENCES = [Sentence(tuple(tree.words())) for tree in TREES]
LINES = {"amalgum": ["The company lost $3.", "The bank said so.", "It rains.", "No"], "books": ["A cat ran away."]}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return random_function_model(tmp_path_factory.mktemp("silver") / "model")


@pytest.fixture(scope="module")
def export(model: Path) -> Path:
    folder = model.with_name("export")
    export_onnx(model, folder)
    return folder


@pytest.fixture
def texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(silver, "CHOSEN", {"amalgum": (1, 2), "books": (1, 1)})
    for name, lines in LINES.items():
        (tmp_path / f"{name}.txt.gz").write_bytes(gzip.compress("\n\n".join(lines).encode()))
    return tmp_path


def test_the_constituents_and_functions_are_those_that_the_parser_gives(model: Path, export: Path) -> None:
    for path in (model, export):
        folder = ModelFolder.open(path)
        read = FunctionLabeller(folder).read(SENTENCES, "all")
        trees = fencepost.load(path).parse([sentence.words for sentence in SENTENCES], functions=True)
        spans = [spans_below_root(without_functions(tree)) for tree in trees]
        expected = Constituents.of(spans, folder.vocabularies.labels)
        posts = expected.fenceposts(np.array([len(sentence.words) for sentence in SENTENCES]))
        assert read.places.T.tolist() == [
            *(column.tolist() for column in posts),
            expected.labels.tolist(),
            expected.parents.tolist(),
        ]
        assert folder.vocabularies.functions is not None
        names = ("", *(f"-{name}" for name in folder.vocabularies.functions.symbols))
        found = sorted(names[best] for best in read.probabilities.argmax(axis=1).tolist())
        labels = [label for tree in trees for span in spans_below_root(tree) for label in span.label]
        assert found == sorted(label[label.find("-") :] if "-" in label else "" for label in labels)


def test_constituents_are_kept_for_another_run(export: Path, tmp_path: Path) -> None:
    labeller = FunctionLabeller(ModelFolder.open(export), kept=tmp_path)
    first = labeller.read(SENTENCES, "all")
    assert [path.name for path in tmp_path.iterdir()] == ["all.npz"]
    again = labeller.read(SENTENCES[:1], "all")
    assert np.array_equal(again.places, first.places)
    assert np.array_equal(again.probabilities, first.probabilities)


def test_constituents_of_both_models_are_matched_by_span_and_label() -> None:
    ours = np.array([[0, 3, 1, 0], [0, 1, 2, 1], [1, 3, 2, 1], [1, 3, 2, 2]])
    theirs = np.array([[0, 3, 1, 0], [1, 3, 2, 5], [0, 1, 4, 1]])
    rows, same = shared(ours, theirs)
    assert rows.tolist() == [0, 2]
    assert same.tolist() == [0, 1]


def test_a_teacher_with_other_functions_is_refused(export: Path) -> None:
    folder = ModelFolder.open(export)
    model, teacher = FunctionLabeller(folder), FunctionLabeller(folder)
    teacher.functions = teacher.functions[1:]
    with pytest.raises(SystemExit, match="other labels or functions"):
        silver_examples(VectorReader(folder), model, teacher, SENTENCES)


def test_a_teacher_that_counted_more_trees_is_accepted(export: Path) -> None:
    folder = ModelFolder.open(export)
    functions = folder.vocabularies.functions
    assert functions is not None
    counted = replace(functions, counts=tuple(count + 1 for count in functions.counts))
    vocabularies = replace(folder.vocabularies, functions=counted)
    teacher = FunctionLabeller(replace(folder, vocabularies=vocabularies))
    assert silver_examples(VectorReader(folder), FunctionLabeller(folder), teacher, SENTENCES)


def test_a_scorer_learns_the_functions_of_raw_sentences(
    export: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = {"AVERAGE": 0.9, "RATE": 0.03, "BATCH": 4, "SILVER": 64, "WARMUP": 10, "DROPOUT_WITH_TEXT": 0.0}
    for name, value in settings.items():
        monkeypatch.setattr(fit_functions, name, value)
    monkeypatch.setattr(silver, "PART", 12)
    folder = ModelFolder.open(export)
    reader, labeller = VectorReader(folder), FunctionLabeller(folder)
    parts = silver_examples(reader, labeller, labeller, SENTENCES)
    assert len(parts) == 3
    gold = {PENN: reader.examples(TREES[:1], "gold")}
    scorer = fit(folder, gold, {PENN: 1.0}, follow=PENN, steps=300, seed=1, silver=parts, hidden=24)
    assert scorer.hidden.out_features == 24
    for part in parts:
        agree = fit_functions._scores(scorer, part).argmax(dim=1) == part.allowed.argmax(dim=1)
        assert agree.float().mean() > 0.95
    write(folder, scorer, tmp_path / "new")
    assert ModelFolder.open(tmp_path / "new").config.scorer.function_hidden == 24
    assert fencepost.load(tmp_path / "new").parse([["cats"]], functions=True)


def test_a_teacher_without_doubts_gives_the_loss_of_gold_functions() -> None:
    scores, certain = torch.randn(4, 3), torch.tensor([0, 2, 1, 1])
    found = soft_loss(scores, torch.nn.functional.one_hot(certain, 3).float())
    assert torch.allclose(found, torch.nn.functional.cross_entropy(scores, certain, reduction="none"))


def test_text_about_business_is_chosen_first_and_fragments_are_left_out(texts: Path) -> None:
    assert is_about_business("Prices fell, the bank said.")
    assert is_about_business("up 3%")
    assert not is_about_business("The bank of the bank, the river.")
    found = sorted(" ".join(sentence.words) for sentence in raw_sentences(texts))
    assert "A cat ran away ." in found
    assert "No" not in found
    assert any(name in found for name in ("The company lost $ 3 .", "The bank said so ."))
    assert [each.words for each in raw_sentences(texts)] == [each.words for each in raw_sentences(texts)]


def test_the_command_takes_a_teacher_and_raw_text(
    export: Path, texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for part in ("train", "dev"):
        for name in ("gum", "masc", "craft"):
            Treebank(TREES).save(tmp_path / f"{part}.{name}.txt")
    command = ["fit_functions.py", "--model", str(export), "--data", str(tmp_path), "--out", str(tmp_path / "out")]
    command += ["--steps", "3", "--first", "5", "--teacher", str(export)]
    monkeypatch.setattr("sys.argv", command)
    with pytest.raises(SystemExit, match="--teacher and --texts"):
        fit_functions.main()
    monkeypatch.setattr("sys.argv", [*command, "--texts", str(texts)])
    fit_functions.main()
    assert "raw sentences: " in capsys.readouterr().out
    assert fencepost.load(tmp_path / "out").parse([["cats"]], functions=True)
