"""The quick development score must be evalb's."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from fencepost.chart.cky import Decoded
from fencepost.evaluation.params import load_params
from fencepost.evaluation.score import score
from fencepost.features.vocabularies import Vocabularies
from fencepost.training.dev import DevScorer
from fencepost.trees.spans import nest, spans_below_root
from fencepost.trees.tree import Leaf, Tree
from fencepost.trees.treebank import Treebank
from tests.grammar import toy_trees
from tests.samples import TREES, tiny_config

PARAMETERS = ("collins", "spmrl", "none")


def decoded(tree: Tree, vocabularies: Vocabularies) -> Decoded:
    spans = [span for span in spans_below_root(tree) if span.label in vocabularies.labels.ids]
    labels = [vocabularies.labels.ids[span.label] for span in spans]
    columns = ([span.start for span in spans], [span.end for span in spans], labels)
    return Decoded(0.0, *(np.array(column, np.int64) for column in columns))


def rebuilt(gold: Tree, tree: Decoded, vocabularies: Vocabularies) -> Tree:
    labels = [vocabularies.labels.chains[label] for label in tree.labels.tolist()]
    return nest(gold.leaves(), tree.starts.tolist(), tree.ends.tolist(), labels, vocabularies.root)


def swapped(trees: list[Tree], seed: int) -> list[Tree]:
    """For each tree another of the same length where there is one: a prediction that is partly right."""
    source = random.Random(seed)
    by_length: dict[int, list[Tree]] = {}
    for tree in trees:
        by_length.setdefault(len(tree.leaves()), []).append(tree)
    return [source.choice(by_length[len(tree.leaves())]) for tree in trees]


def assert_equal_to_evalb(gold: list[Tree], predicted: list[Tree], params: str) -> None:
    vocabularies = Vocabularies.of(gold, tiny_config())
    answers = [decoded(tree, vocabularies) for tree in predicted]
    mine = DevScorer(gold, vocabularies, load_params(params)).score(answers)
    trees = [rebuilt(tree, answer, vocabularies) for tree, answer in zip(gold, answers, strict=True)]
    theirs = score(gold, trees, params)
    assert (mine.matched, mine.gold, mine.predicted) == (theirs.matched, theirs.gold, theirs.predicted)
    assert mine.f1 == pytest.approx(theirs.f1)


@pytest.mark.parametrize("params", PARAMETERS)
def test_gold_trees_score_as_evalb_has_it(params: str) -> None:
    assert_equal_to_evalb(list(TREES), list(TREES), params)


@pytest.mark.parametrize("params", PARAMETERS)
def test_partly_right_trees_score_as_evalb_has_it(params: str) -> None:
    gold = toy_trees(200) + list(TREES)
    assert_equal_to_evalb(gold, swapped(gold, seed=3), params)


@pytest.mark.parametrize("params", PARAMETERS)
def test_punctuation_at_the_edges_of_phrases_is_left_out_as_evalb_does(params: str) -> None:
    gold = [Tree.from_string("(TOP (S (NP (`` ``) (NN a) ('' '')) (PRN (, ,)) (ADVP (PRT (RP b))) (. .)))")]
    other = [Tree.from_string("(TOP (S (NP (`` ``) (NN a)) ('' '') (PRN (, ,)) (PRT (RP b)) (. .)))")]
    assert_equal_to_evalb(gold + other, other + gold, params)


@pytest.mark.parametrize("params", PARAMETERS)
def test_brackets_repeated_over_one_span_count_as_often_as_in_evalb(params: str) -> None:
    gold = [Tree.from_string(f"(TOP (S {phrase} (VB b)))") for phrase in ("(NP (NP (NN a)))", "(NP (NP (NP (NN a))))")]
    assert_equal_to_evalb(gold, gold[::-1], params)


def test_real_predictions_score_as_evalb_has_it(shared: Path) -> None:
    folder = shared / "reference" / "evalb" / "wsj-sample"
    gold, predicted = Treebank.load(folder / "gold.txt"), Treebank.load(folder / "predicted.txt")
    assert_equal_to_evalb(list(gold), list(predicted), "collins")


def test_a_prediction_without_any_constituent_scores_nothing() -> None:
    gold = [Tree("TOP", [Tree("S", [Leaf("NN", "a"), Leaf("NN", "b")])])]
    vocabularies = Vocabularies.of(gold, tiny_config())
    nothing = Decoded(0.0, *(np.zeros(0, np.int64) for _ in range(3)))
    result = DevScorer(gold, vocabularies, load_params("collins")).score([nothing])
    assert (result.matched, result.gold, result.predicted, result.f1) == (0, 1, 0, 0.0)
