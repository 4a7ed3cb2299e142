"""From text and teachers to a student, each step by itself."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from average import average
from corpus import Collator, Corpus, Ragged, translation
from fit import Fit, Length, soft_function_loss
from gold import named_numbers
from index_text import sentence_of
from label import label
from measure import measured
from mixture import Mixture, Source
from prune import pruned
from safetensors.torch import load_file
from targets import Targets
from teacher import main as teach
from teaching import TEMPERATURES, Believed, Teachers, fit_temperatures, sparse

from fencepost.backends.torch import TorchBackend
from fencepost.config.settings import Config
from fencepost.features.batch import Batch, Ints
from fencepost.features.indexer import Indexer
from fencepost.features.subwords import Subwords
from fencepost.features.vocabularies import TOKEN_MARKS, Vocabularies
from fencepost.model.loss import function_loss
from fencepost.storage.model_files import WEIGHTS
from fencepost.storage.model_folder import ModelFolder
from fencepost.training.dev import DevScore, DevSet
from fencepost.training.log import LOG
from fencepost.trees.tree import Tree
from fencepost.trees.treebank import Sentence
from tests.pretrained_samples import write_encoder

TREES = [
    Tree.from_string("(TOP (S (NP (DT the) (NNS cats)) (VP (VBP sleep)) (. .)))"),
    Tree.from_string("(TOP (NP (DT a) (NN cat)))"),
    Tree.from_string("(TOP (S (`` ``) (NP (NNS cats)) (VP (MD cannot) (VP (VB sleep)))))"),
]
SMALL = [
    *("encoder.d_model=16", "encoder.layers=1", "encoder.heads=2", "encoder.d_k=8", "encoder.d_v=8"),
    *(
        "encoder.d_ff=16",
        "scorer.hidden=8",
        "scorer.tag_hidden=8",
        "char_lstm.size=8",
        'lexical=["pretrained","char_lstm"]',
    ),
    *("plain_quotes=true", "pretrained.words=mean", "train.loss=crf", "train.batch_size=3", "train.learning_rate=0.01"),
    *("train.warmup_batches=5", "pretrained.learning_rate=none"),
]


@pytest.fixture
def config(tmp_path: Path) -> Config:
    write_encoder(tmp_path / "encoder")
    return Config.load("pretrained", [f"pretrained.model={tmp_path / 'encoder'}", *SMALL])


@pytest.fixture
def vocabularies(config: Config) -> Vocabularies:
    return Vocabularies.of(TREES, config)


def corpus_of(trees: list[Tree], config: Config, vocabularies: Vocabularies) -> Corpus:
    assert vocabularies.pretrained is not None
    return Corpus.of(map(Sentence.of, trees), Subwords(config, vocabularies.pretrained))


def letters(batch: Batch) -> Ints:
    """The letters of every token."""
    assert batch.spellings is not None
    assert batch.spelling_of_token is not None
    return batch.spellings[batch.spelling_of_token]


def test_a_batch_of_a_corpus_is_that_of_an_indexer(tmp_path: Path, config: Config, vocabularies: Vocabularies) -> None:
    both = Corpus.joined([corpus_of(TREES[:1], config, vocabularies), corpus_of(TREES[1:], config, vocabularies)])
    both.save(tmp_path / "corpus")
    corpus = Corpus.load(tmp_path / "corpus")
    order = [2, 0, 1, 0]
    found = Collator(corpus, vocabularies, plain_quotes=True).batch(order)
    expected = Indexer(config, vocabularies).batch([Sentence.of(TREES[place]) for place in order])
    assert np.array_equal(letters(found), letters(expected))
    for name in ("lengths", "subwords", "window_lengths", "subword_rows", "rows_of_token"):
        assert np.array_equal(getattr(found, name), getattr(expected, name)), name
    assert list(corpus.sentences([1])) == [["a", "cat"]]


def test_sub_tokens_are_renumbered_by_their_names() -> None:
    bert = json.dumps({"model": {"vocab": {"[PAD]": 0, "[CLS]": 1, "[SEP]": 2, "cat": 3}}})
    other = json.dumps({"model": {"vocab": {"<s>": 0, "<pad>": 1, "</s>": 2, "[PAD]": 3, "cat": 4}}})
    numbers = translation(bert, other)
    assert numbers is not None
    assert numbers.tolist() == [1, 0, 2, 4]
    assert translation(bert, bert) is None


def test_a_line_is_one_sentence() -> None:
    sentence = sentence_of("He left. “Why?” she asked.")
    assert sentence.words == ("He", "left.", "``", "Why", "?", "''", "she", "asked", ".")


def test_gold_trees_are_certain(tmp_path: Path, vocabularies: Vocabularies) -> None:
    Targets.of_trees(TREES, vocabularies).save(tmp_path)
    beliefs = Targets.load(tmp_path).batch([1, 0], np.array([2, 4]))
    chains = vocabularies.labels.chains
    found = {(int(cell), chains[label]) for cell, label in zip(beliefs.cells, beliefs.labels, strict=True)}
    # The chart of two words has three cells; in that of four, cells 4 to 6 have two words and cell 9 all.
    assert found == {(2, ("NP",)), (3 + 4, ("NP",)), (3 + 2, ("VP",)), (3 + 9, ("S",))}
    assert (beliefs.probabilities == 1).all()
    assert beliefs.words.tolist() == list(range(6))
    assert [vocabularies.tags.symbols[tag - TOKEN_MARKS] for tag in beliefs.tags] == [
        "DT",
        "NN",
        "DT",
        "NNS",
        "VBP",
        ".",
    ]


def test_what_is_hardly_likely_is_left_out() -> None:
    labels = torch.zeros(1 + 3, 3)
    labels[0, 1], labels[1, 2], labels[3, 1], labels[3, 2] = 0.9, 0.01, 0.4, 0.5
    tags = torch.tensor([[0.0, 1.0], [0.98, 0.02], [0.99, 0.01]])
    confidence = torch.tensor([0.75, 0.25])
    found = sparse(Believed(labels, labels, tags, confidence, torch.tensor([1, 2])), 0.015)
    assert [part.tolist() for part in np.split(found.cells.values, found.cells.offsets[1:-1])] == [[0], [2, 2]]
    assert found.labels.values.tolist() == [1, 1, 2]
    assert found.probabilities.values.tolist() == pytest.approx([0.9, 0.4, 0.5], abs=1e-3)
    assert found.words.values.tolist() == [0, 0, 0, 1]
    assert found.tags.values.tolist() == [1, 0, 1, 0]
    assert found.confidence.take([1]).tolist() == [0.25]


def teachers(config: Config, vocabularies: Vocabularies, folder: Path, seeds: int) -> Teachers:
    models = []
    for seed in range(seeds):
        model = folder / str(seed)
        fit_of(config, vocabularies, Length(steps=1), seed).run(model, checks=1)
        models.append(model)
    return Teachers.load(models, "cpu", "fp32")


def fit_of(config: Config, vocabularies: Vocabularies, length: Length, seed: int = 1) -> Fit:
    config = replace(config, train=replace(config.train, seed=seed))
    collator = Collator(corpus_of(TREES, config, vocabularies), vocabularies, plain_quotes=True)
    mixture = Mixture(collator, Targets.of_trees(TREES, vocabularies), [Source("all", 1, np.arange(3))], 3, seed)
    return Fit(config, vocabularies, mixture, TREES, torch.device("cpu"), length)


def test_teachers_believe_what_they_do_on_average(tmp_path: Path, config: Config, vocabularies: Vocabularies) -> None:
    both = teachers(config, vocabularies, tmp_path, 2)
    batch = Indexer(config, vocabularies).batch([Sentence.of(tree) for tree in TREES])
    alone = [Teachers([backend], both.folder, [1.0]).believe(batch) for backend in both.backends]
    found = both.believe(batch)
    for name in ("labels", "tags", "confidence"):
        expected = (getattr(alone[0], name) + getattr(alone[1], name)) / 2
        torch.testing.assert_close(getattr(found, name), expected)
    assert not torch.equal(alone[0].labels, alone[1].labels)


def test_each_teacher_has_the_temperature_that_fits_the_gold_trees_best(
    tmp_path: Path, config: Config, vocabularies: Vocabularies
) -> None:
    both = teachers(config, vocabularies, tmp_path, 2)
    with torch.no_grad():  # the scores of the second become ten times as large
        for parameter in both.backends[1].model.span_scorer.output.parameters():
            parameter.mul_(10)
    batch = Indexer(config, vocabularies).batch([Sentence.of(tree) for tree in TREES])
    beliefs = Targets.of_trees(TREES, vocabularies).batch([0, 1, 2], batch.lengths)
    fitted = fit_temperatures(both, [(batch, beliefs)])
    for number, backend in enumerate(both.backends):
        losses = {}
        for temperature in TEMPERATURES:
            p = Teachers([backend], both.folder, [temperature]).believe(batch).labels.double().clamp(1e-6, 1 - 1e-6)
            gold = torch.zeros_like(p, dtype=torch.bool)
            gold[beliefs.cells, beliefs.labels] = True
            losses[temperature] = float(-torch.where(gold, p, 1 - p).log().sum())
        assert fitted[number] == min(TEMPERATURES, key=losses.__getitem__)


def test_labels_come_in_the_order_of_the_sentences(tmp_path: Path, config: Config, vocabularies: Vocabularies) -> None:
    one = teachers(config, vocabularies, tmp_path, 1)
    corpus = corpus_of(TREES, config, vocabularies)
    collator = Collator(corpus, vocabularies, plain_quotes=True)
    found = label(one, collator, np.arange(3), corpus.lengths.tolist())
    for place in range(3):
        alone = sparse(one.believe(collator.batch([place])))
        assert np.array_equal(found.cells.take([place]), alone.cells.values)
        assert found.probabilities.take([place]) == pytest.approx(alone.probabilities.values, abs=2e-3)


def test_sources_keep_their_shares_and_each_comes_round_before_it_repeats() -> None:
    sources = [Source("a", 3, np.arange(10)), Source("b", 1, np.arange(10, 15))]
    mixture = Mixture(None, None, sources, 8, seed=1)  # type: ignore[arg-type]
    drawn = [mixture.draw(step) for step in range(5)]
    assert all(sum(places < 10) == 6 and len(places) == 8 for places in drawn)
    first_round = np.concatenate([places[places < 10] for places in drawn])[:10]
    assert sorted(first_round) == list(range(10))
    again = Mixture(None, None, sources, 8, seed=1)  # type: ignore[arg-type]
    assert np.array_equal(again.draw(4), drawn[4])


def test_the_rate_rises_and_falls_to_nothing() -> None:
    length = Length(steps=100)
    assert length.rate(0, 0, 10) == pytest.approx(0.1)
    assert length.rate(9, 0, 10) == pytest.approx(0.91)
    assert length.rate(100, 0, 10) == 0
    assert Length(steps=100, minutes=1).done(50, 45) == 0.75
    assert Length(minutes=1).done(10**9, 30) == 0.5


def test_a_run_learns_and_goes_on_from_its_checkpoint(
    tmp_path: Path, config: Config, vocabularies: Vocabularies
) -> None:
    assert fit_of(config, vocabularies, Length(steps=120)).run(tmp_path / "whole", checks=1) == 100
    half = fit_of(config, vocabularies, Length(steps=60))
    for _ in range(30):
        half.step()
    half.save(tmp_path)
    rest = fit_of(config, vocabularies, Length(steps=60))
    rest.resume(tmp_path)
    assert rest.step_number == 30
    half.step()
    rest.step()
    for one, other in zip(half.masters.parameters, rest.masters.parameters, strict=True):
        assert torch.equal(one, other)


def test_a_resumed_run_checks_at_the_same_steps(tmp_path: Path, config: Config, vocabularies: Vocabularies) -> None:
    fit_of(config, vocabularies, Length(steps=20)).run(tmp_path / "whole", checks=4)
    half = fit_of(config, vocabularies, Length(steps=20))
    for _ in range(14):
        half.step()
    (tmp_path / "half").mkdir()
    half.save(tmp_path / "half")
    rest = fit_of(config, vocabularies, Length(steps=20))
    rest.resume(tmp_path / "half")
    rest.run(tmp_path / "half", checks=4)
    assert steps_of_checks(tmp_path / "whole") == [6, 11, 16, 20]
    assert steps_of_checks(tmp_path / "half") == [16, 20]


def test_a_resumed_run_keeps_a_better_model_and_logs_each_step_once(
    tmp_path: Path, config: Config, vocabularies: Vocabularies, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run died after a check that came after its checkpoint."""
    monkeypatch.setattr("fit.REPORTED", 5)
    whole = fit_of(config, vocabularies, Length(steps=20))
    whole.run(tmp_path / "whole", checks=4)
    first = fit_of(config, vocabularies, Length(steps=20))
    for _ in range(8):
        first.step()
    (tmp_path / "died").mkdir()
    first.save(tmp_path / "died")
    with monkeypatch.context() as patch:
        patch.setattr(DevSet, "score", lambda *_: DevScore(99, 100, 100))  # better than any later one
        first.run(tmp_path / "died", checks=4)
    kept = (tmp_path / "died" / WEIGHTS).read_bytes()
    rest = fit_of(config, vocabularies, Length(steps=20))
    rest.resume(tmp_path / "died")
    assert rest.run(tmp_path / "died", checks=4) == 99.0
    assert (tmp_path / "died" / WEIGHTS).read_bytes() == kept
    assert steps_of_checks(tmp_path / "died") == [11, 16, 20]
    losses = [losses_of(tmp_path / name)[-2:] for name in ("whole", "died")]
    assert losses[0] == losses[1]


def losses_of(folder: Path) -> list[tuple[int, float]]:
    lines = map(json.loads, (folder / LOG).read_text("utf-8").splitlines())
    return [(line["step"], line["loss"]) for line in lines if "loss" in line]


def steps_of_checks(folder: Path) -> list[int]:
    lines = map(json.loads, (folder / LOG).read_text("utf-8").splitlines())
    return [line["step"] for line in lines if "f1" in line]


def test_the_best_model_of_a_run_is_saved(tmp_path: Path, config: Config, vocabularies: Vocabularies) -> None:
    fit = fit_of(config, vocabularies, Length(steps=3))
    fit.run(tmp_path, checks=1)
    found = TorchBackend.load(ModelFolder.open(tmp_path))
    with fit.average.in_place():
        for name, weight in found.model.state_dict().items():
            assert torch.equal(weight, fit.masters.state_dict()[name]), name


def test_layers_are_renumbered_when_some_are_taken() -> None:
    name = "lexical.representations.0.encoder.encoder.layer.{}.output.dense.weight"
    weights = {name.format(layer): torch.tensor([float(layer)]) for layer in range(4)}
    weights |= {"lexical.representations.0.mix.weights": torch.arange(5.0), "span_scorer.output.bias": torch.zeros(2)}
    found = pruned(weights, [1, 3])
    assert {key: found[key].tolist() for key in found} == {
        name.format(0): [1.0],
        name.format(1): [3.0],
        "lexical.representations.0.mix.weights": [0.0, 2.0, 4.0],
        "span_scorer.output.bias": [0.0, 0.0],
    }


def test_shares_are_given_by_name() -> None:
    assert named_numbers(["craft=7000", "irc=0.5"]) == {"craft": 7000, "irc": 0.5}


def test_ragged_rows_are_taken_in_any_order() -> None:
    rows = Ragged.joined([Ragged.of([[1, 2], []], np.int32), Ragged.of([[3]], np.int32)])
    assert rows.take([2, 0]).tolist() == [3, 1, 2]
    assert rows.counts([2, 0, 1]).tolist() == [1, 2, 0]
    assert len(rows) == 3


MARKED = [
    Tree.from_string("(TOP (S (NP-SBJ (DT the) (NNS cats)) (VP (VBP sleep)) (. .)))"),
    Tree.from_string("(TOP (NP-VOC (DT a) (NN cat)))"),
    Tree.from_string("(TOP (S (`` ``) (NP-SBJ (NNS cats)) (VP (MD cannot) (VP-VOC?-SBJ? (VB sleep)))))"),
]


@pytest.fixture
def marked(config: Config) -> tuple[Config, Vocabularies]:
    config = replace(config, scorer=replace(config.scorer, functions=True, function_hidden=8))
    return config, Vocabularies.of(MARKED, config)


def marked_fit(config: Config, vocabularies: Vocabularies, steps: int) -> Fit:
    collator = Collator(corpus_of(MARKED, config, vocabularies), vocabularies, plain_quotes=True)
    mixture = Mixture(collator, Targets.of_trees(MARKED, vocabularies), [Source("all", 1, np.arange(3))], 3, 1)
    return Fit(config, vocabularies, mixture, MARKED, torch.device("cpu"), Length(steps=steps))


def test_gold_functions_are_certain_or_open(tmp_path: Path, marked: tuple[Config, Vocabularies]) -> None:
    _, vocabularies = marked
    assert vocabularies.functions is not None
    Targets.of_trees(MARKED, vocabularies).save(tmp_path)
    found = Targets.load(tmp_path).batch([1, 2], np.array([2, 4])).functions
    assert found is not None
    assert list(zip(found.starts.tolist(), found.ends.tolist(), strict=True)) == [
        (0, 2),
        (3, 7),
        (4, 5),
        (5, 7),
        (6, 7),
    ]
    names = ("-", *vocabularies.functions.symbols)
    entries = [(holder, names[number]) for holder, number in zip(found.holders, found.functions, strict=True)]
    assert sorted(entries) == [(0, "VOC"), (1, "-"), (2, "SBJ"), (3, "-"), (4, "-"), (4, "SBJ"), (4, "VOC")]
    assert (found.probabilities == 1).all()


def test_labels_without_functions_can_still_be_read(tmp_path: Path, vocabularies: Vocabularies) -> None:
    Targets.of_trees(TREES, vocabularies).save(tmp_path)
    for name in ("starts", "functions", "function_probabilities"):
        (tmp_path / f"{name}.npy").unlink()
    assert Targets.load(tmp_path).batch([0, 2], np.array([4, 4])).functions is None


def test_functions_of_a_teacher_are_learned_by_cross_entropy_and_open_ones_as_either() -> None:
    scores = torch.randn(3, 3, dtype=torch.float64, requires_grad=True)
    weights = torch.tensor([[0.7, 0.3, 0.0], [0.0, 1.0, 0.0], [1.0, 0.0, 1.0]], dtype=torch.float64)
    found = soft_function_loss(scores, weights)
    likely = scores.log_softmax(dim=1)
    torch.testing.assert_close(found[0], -(0.7 * likely[0, 0] + 0.3 * likely[0, 1]))
    torch.testing.assert_close(found[1], -likely[1, 1])
    torch.testing.assert_close(found[2], function_loss(scores[2:], weights[2:] > 0)[0])
    assert torch.autograd.gradcheck(lambda values: soft_function_loss(values, weights), scores)


def test_teacher_and_student_learn_functions(tmp_path: Path, marked: tuple[Config, Vocabularies]) -> None:
    config, vocabularies = marked
    marked_fit(config, vocabularies, 150).run(tmp_path / "teacher", checks=1)
    log = [json.loads(line) for line in (tmp_path / "teacher" / "log.jsonl").read_text().splitlines()]
    assert log[-1]["function_f1"] == 100
    teacher = Teachers.load([tmp_path / "teacher"] * 2, "cpu", "fp32")
    assert measured(teacher, MARKED)["function_f1"] == 100
    collator = Collator(corpus_of(MARKED, config, vocabularies), vocabularies, plain_quotes=True)
    found = label(teacher, collator, np.arange(3), [4, 2, 4]).batch([1, 0], np.array([2, 4])).functions
    gold = Targets.of_trees(MARKED, vocabularies).batch([1, 0], np.array([2, 4])).functions
    assert found is not None
    assert gold is not None
    assert found.starts.tolist() == gold.starts.tolist()
    assert found.parents.tolist() == gold.parents.tolist()
    likely = found.probabilities > 0.5
    assert found.functions[likely].tolist() == gold.functions.tolist()
    assert 0.9 < found.probabilities[likely].mean() < 1


def test_a_teacher_can_start_from_a_model_and_another_can_have_its_labels(
    tmp_path: Path, marked: tuple[Config, Vocabularies], monkeypatch: pytest.MonkeyPatch
) -> None:
    config, vocabularies = marked
    marked_fit(config, vocabularies, 3).run(tmp_path / "first", checks=1)
    data = tmp_path / "data"
    data.mkdir()
    new = "(TOP (NP-VOC (QP (CD 3)) (NN cat)))"  # QP is new
    for name in ("train.gum.txt", "train.masc.txt", "train.craft.txt", "dev.txt"):
        (data / name).write_text("\n".join(map(str, [*MARKED, new])) + "\n")
    settings = [
        f"--set={each}" for each in (*SMALL, "scorer.function_hidden=8", "train.precision=fp32", "pretrained.mask=0.0")
    ]

    def run(out: str, *options: str) -> ModelFolder:
        given = ["teacher.py", f"--data={data}", f"--out={tmp_path / out}", "--steps=2", "--checks=1", *settings]
        monkeypatch.setattr("sys.argv", [*given, *options])
        teach()
        return ModelFolder.open(tmp_path / out)

    first = ModelFolder.open(tmp_path / "first")
    one = run("one", f"--start-from={tmp_path / 'first'}")
    other = run("other", f"--encoder={tmp_path / 'encoder'}", f"--labels-of={tmp_path / 'first'}")
    known = len(first.vocabularies.labels)
    assert one.vocabularies.labels.chains[:known] == first.vocabularies.labels.chains
    assert len(one.vocabularies.labels) == known + 1
    Teachers.load([one.path, other.path], "cpu", "fp32")  # raises unless they have the same labels and tags
    before, after = (load_file(folder.path / WEIGHTS)["span_scorer.output.weight"] for folder in (first, one))
    assert torch.allclose(after[: len(before)], before, atol=0.05)
    fresh = load_file(other.path / WEIGHTS)["span_scorer.output.weight"]
    assert not torch.allclose(fresh[: len(before)], before, atol=0.05)


def test_weights_are_averaged_and_the_function_scorer_is_kept(
    tmp_path: Path, marked: tuple[Config, Vocabularies]
) -> None:
    config, vocabularies = marked
    for steps in (2, 5):
        marked_fit(config, vocabularies, steps).run(tmp_path / str(steps), checks=1)
    average(tmp_path / "2", tmp_path / "5", tmp_path / "mean")
    first, second, mean = (load_file(tmp_path / name / WEIGHTS) for name in ("2", "5", "mean"))
    name, kept = "span_scorer.output.weight", "function_scorer.output.weight"
    torch.testing.assert_close(mean[name], (first[name] + second[name]) / 2)
    assert not torch.equal(first[name], second[name])
    assert torch.equal(mean[kept], second[kept])
    Teachers.load([tmp_path / "mean"], "cpu", "fp32")
