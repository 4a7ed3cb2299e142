"""Training the function scorer of a finished model again."""

from __future__ import annotations

from pathlib import Path

import fit_functions
import functions_in_domain
import numpy as np
import pytest
import torch
from fit_functions import BUSINESS, Trained, calibrate, counted, fit, smooth_loss, write
from prepare import PENN
from safetensors.torch import load_file, save
from vectors import VectorReader

import fencepost
from fencepost.backends.onnx import OnnxBackend
from fencepost.backends.torch import TorchBackend, vocab_sizes
from fencepost.export.onnx import export_onnx
from fencepost.features.indexer import Indexer
from fencepost.features.vocabularies import Vocabularies
from fencepost.model.build import build_model
from fencepost.model.loss import function_loss
from fencepost.model.scorer import FunctionScorer
from fencepost.storage.model_files import CHECKSUMS, FUNCTIONS, WEIGHTS, listed_files
from fencepost.storage.model_folder import ModelFolder
from fencepost.storage.model_writer import write_model
from fencepost.trees.functions import without_functions
from fencepost.trees.treebank import Sentence, Treebank
from tests.function_samples import function_trees, random_function_model
from tests.samples import tiny_config

TREES = function_trees(30, seed=1)
SHARES = {"gum": 1.0, "masc": 2.0}


@pytest.fixture(params=[False, True], ids=["ends", "ends and words"])
def model(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return random_function_model(tmp_path / "model", words=request.param)


@pytest.fixture
def export(model: Path) -> Path:
    folder = model.with_name("export")
    export_onnx(model, folder)
    return folder


def test_both_backends_give_the_vectors_of_fenceposts(model: Path, export: Path) -> None:
    torch_folder, onnx_folder = ModelFolder.open(model), ModelFolder.open(export)
    batch = Indexer(torch_folder.config, torch_folder.vocabularies).batch([Sentence(tuple(TREES[0].words()))])
    found, words = OnnxBackend.load(onnx_folder).vectors(batch)
    same, same_words = TorchBackend.load(torch_folder).vectors(batch)
    assert found.shape == (len(TREES[0].words()) + 1, torch_folder.config.encoder.d_model)
    assert np.allclose(found, same, atol=1e-4)
    assert (words is None) == (same_words is None) == (not torch_folder.config.scorer.function_words)
    if words is not None and same_words is not None:
        assert len(words) == len(found)
        assert np.allclose(words, same_words, atol=1e-4)


@pytest.mark.parametrize("kind", ["model", "export"])
def test_a_new_scorer_learns_and_the_other_files_stay(
    kind: str, model: Path, export: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"DROPOUT": 0.0, "AVERAGE": 0.9, "RATE": 0.03, "BATCH": 64, "WARMUP": 10}.items():
        monkeypatch.setattr(fit_functions, name, value)
    path = model if kind == "model" else export
    folder, out = ModelFolder.open(path), tmp_path / "new"
    reader = VectorReader(folder)
    examples = {"gum": reader.examples(TREES[:10], "few"), "masc": reader.examples(TREES, "all")}
    scorer = fit(folder, examples, SHARES, follow=PENN, steps=200, seed=1)
    assert counted(scorer, folder, reader.examples(TREES, "all"), TREES).total().f1 == 100
    write(folder, scorer, out)
    assert set(listed_files(out)) == set(listed_files(path))
    changed = {name for name in listed_files(path) if (out / name).read_bytes() != (path / name).read_bytes()}
    assert changed == {CHECKSUMS, FUNCTIONS if kind == "export" else WEIGHTS}
    if kind == "model":
        before, after = load_file(path / WEIGHTS), load_file(out / WEIGHTS)
        same = {name for name in before if torch.equal(before[name], after[name])}
        assert {name for name in before if not name.startswith("function_scorer.")} <= same != before.keys()
    found = fencepost.load(out).parse([tree.words() for tree in TREES], functions=True)
    plain = fencepost.load(path).parse([tree.words() for tree in TREES])
    assert [without_functions(tree) for tree in found] == plain
    assert counted(scorer, folder, reader.examples(found, "found"), found).accuracy == 100


def test_sentences_of_our_own_teach_the_conventions_of_penn(export: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"DROPOUT": 0.0, "AVERAGE": 0.9, "RATE": 0.03, "BATCH": 64, "WARMUP": 10}.items():
        monkeypatch.setattr(fit_functions, name, value)
    folder = ModelFolder.open(export)
    reader = VectorReader(folder)
    others = [without_functions(tree) for tree in TREES]
    examples = {
        "gum": reader.examples(others, "gum"),
        PENN: reader.examples(TREES[:1], "masc"),
        BUSINESS: reader.examples(TREES, "business"),
    }
    scorer = fit(folder, examples, {"gum": 1.0, PENN: 0.0, BUSINESS: 1.0}, follow=PENN, steps=200, seed=1)
    assert counted(scorer, folder, reader.examples(TREES, "all"), TREES).total().f1 == 100


def test_vectors_are_kept_for_the_same_sentences(export: Path, tmp_path: Path) -> None:
    reader = VectorReader(ModelFolder.open(export), kept=tmp_path / "kept")
    first = reader.examples(TREES, "all").vectors
    np.save(tmp_path / "kept" / "all.npy", first.numpy() + 1)
    assert torch.equal(reader.examples(TREES, "all").vectors, first + 1)
    with pytest.raises(SystemExit, match="other sentences"):
        reader.examples(TREES[:3], "all")


def test_smoothing_leaves_open_functions_alone() -> None:
    scores = torch.tensor([[2.0, 0.0, 0.0], [2.0, 0.0, 0.0]])
    allowed = torch.tensor([[True, False, False], [True, True, False]])
    plain, smooth = function_loss(scores, allowed), smooth_loss(scores, allowed)
    assert smooth[0] > plain[0]
    assert smooth[1] == plain[1]


def test_calibration_makes_the_functions_of_the_examples_more_probable_and_changes_none(export: Path) -> None:
    folder = ModelFolder.open(export)
    examples = VectorReader(folder).examples(TREES, "all")
    scorer = fit(folder, {PENN: examples}, {PENN: 1.0}, follow=PENN, steps=60, seed=1)
    before = fit_functions._scores(scorer, examples)
    factor = calibrate(scorer, examples)
    after = fit_functions._scores(scorer, examples)
    assert factor != 1
    assert torch.allclose(after, factor * before, atol=1e-4)
    loss = [function_loss(scores, examples.allowed).sum().item() for scores in (before, after)]
    assert loss[1] < loss[0]


def test_the_finished_scorer_has_the_conventions_of_one_treebank() -> None:
    torch.manual_seed(1)
    scorer = FunctionScorer(4, 8, labels=3, functions=3)
    trained = Trained(scorer, 2, 0.0).eval()
    torch.nn.init.normal_(trained.hidden.weight)
    torch.nn.init.normal_(trained.output.weight)
    spans, labels = torch.randn(5, 8), torch.tensor([0, 1, 2, 0, 1])
    with torch.no_grad():
        expected = trained(spans, None, labels, labels, torch.ones(5, dtype=torch.int64))
        finished = Trained(trained.finished(1), 1, 0.0).eval()
        found = finished(spans, None, labels, labels, torch.zeros(5, dtype=torch.int64))
    assert torch.allclose(found, expected, atol=1e-6)


def test_the_command_writes_a_new_folder_and_refuses_one_that_exists(
    export: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for part in ("train", "dev"):
        for name in ("gum", "masc", "craft"):
            Treebank(TREES).save(tmp_path / f"{part}.{name}.txt")
    command = ["fit_functions.py", "--model", str(export), "--data", str(tmp_path), "--out", str(tmp_path / "out")]
    monkeypatch.setattr("sys.argv", [*command, "--steps", "3", "--first", "5", "--share", "craft=0"])
    fit_functions.main()
    assert fencepost.load(tmp_path / "out").parse([["cats"]], functions=True)
    with pytest.raises(fencepost.FencepostError, match="already exists"):
        fit_functions.main()


def test_a_model_without_functions_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config, trees = tiny_config(), [without_functions(tree) for tree in TREES]
    vocabularies = Vocabularies.of(trees, config)
    weights = build_model(config, vocab_sizes(vocabularies)).state_dict()
    write_model(tmp_path / "model", config, vocabularies, "# Random\n", {WEIGHTS: save(weights)})
    command = ["fit_functions.py", "--model", str(tmp_path / "model"), "--data", str(tmp_path)]
    monkeypatch.setattr("sys.argv", [*command, "--out", str(tmp_path / "out")])
    with pytest.raises(SystemExit, match="doesn't predict functions"):
        fit_functions.main()


def test_half_of_a_test_set_in_training_is_compared_with_none(
    export: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("train.gum", "train.masc", "train.craft", "test.wsj"):
        Treebank(TREES).save(tmp_path / f"{name}.txt")
    command = ["functions_in_domain.py", "--model", str(export), "--data", str(tmp_path), "--steps", "3"]
    monkeypatch.setattr("sys.argv", command)
    before = sorted(tmp_path.rglob("*"))
    functions_in_domain.main()
    none, half = capsys.readouterr().out.splitlines()
    assert none.startswith("wsj, none of its trees in training: F1 ")
    assert half.startswith("wsj, half of its trees in training: F1 ")
    assert sorted(tmp_path.rglob("*")) == before
