"""Probabilities, k best trees and minimum risk, against all trees of short sentences one by one."""

from __future__ import annotations

import math
import tracemalloc
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest

from fencepost.chart import inside
from fencepost.chart.cky import Decoded
from fencepost.errors import InputError, UsageError
from fencepost.parsing.confidence import Analysis, Analyst, Decoding
from fencepost.parsing.parser import Parser
from fencepost.training.train import train
from fencepost.trees.spans import nest
from fencepost.trees.tree import Leaf, Tree
from tests.chart.brute_force import Spans, all_scores, random_scores
from tests.grammar import toy_trees
from tests.samples import tiny_config

CHAINS = ((), ("A",), ("A", "B"))
SENTENCES = [tree.words() for tree in toy_trees(12, seed=3)]


def build(decoded: Decoded, length: int) -> Tree:
    labels = [CHAINS[number] for number in decoded.labels.tolist()]
    return nest([Leaf("X", "x")] * length, decoded.starts.tolist(), decoded.ends.tolist(), labels, "TOP")


def analysis(
    length: int, seed: int, force_root: bool = False, **options: object
) -> tuple[Analysis, dict[Spans, float]]:
    """The analysis of a sentence with random scores, and the probability of each of its trees."""
    scores = random_scores([length], len(CHAINS), seed)
    analyst = Analyst(CHAINS, force_root, **{"k": 2, **options})  # type: ignore[arg-type]
    weights = {tree: score / analyst.temperature for tree, score in all_scores(scores, force_root).items()}
    total = math.fsum(map(math.exp, weights.values()))
    found = analyst.analyze(scores, 0, lambda decoded: build(decoded, length))
    return found, {tree: math.exp(weight) / total for tree, weight in weights.items()}


def holds(tree: Spans, start: int, end: int, label: str) -> bool:
    return any(span[:2] == (start, end) and label in CHAINS[span[2]] for span in tree)


@pytest.mark.parametrize("temperature", [1.0, 3.0])
@pytest.mark.parametrize("force_root", [False, True])
@pytest.mark.parametrize("length", [1, 2, 3])
def test_all_trees_come_best_first_and_their_probabilities_sum_to_one(
    length: int, force_root: bool, temperature: float
) -> None:
    found, probabilities = analysis(length, seed=length, force_root=force_root, k=1000, temperature=temperature)
    scores = [tree.score for tree in found.trees]
    assert scores == sorted(scores, reverse=True)
    assert [tree.probability for tree in found.trees] == pytest.approx(sorted(probabilities.values(), reverse=True))
    assert sum(tree.probability or 0 for tree in found.trees) == pytest.approx(1)
    assert len({str(tree.tree) for tree in found.trees}) <= len(found.trees) == len(probabilities)


@pytest.mark.parametrize("temperature", [1.0, 3.0])
@pytest.mark.parametrize("seed", range(5))
def test_a_constituent_is_as_probable_as_all_trees_that_have_it(seed: int, temperature: float) -> None:
    found, probabilities = analysis(4, seed, temperature=temperature)
    assert found.constituents
    for part in found.constituents:
        expected = math.fsum(p for tree, p in probabilities.items() if holds(tree, part.start, part.end, part.label))
        assert part.probability == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("force_root", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_the_tree_of_least_risk_has_the_fewest_errors_to_expect(seed: int, force_root: bool) -> None:
    found, probabilities = analysis(3, seed, force_root, k=0, decoding="risk")

    def risk(guess: Spans) -> float:
        return math.fsum(p * len(guess ^ tree) for tree, p in probabilities.items())

    least = min(probabilities, key=risk)
    assert str(found.tree) == str(
        build(Decoded(0.0, *map(np.array, zip(*sorted(least, key=lambda s: (s[0], -s[1])), strict=True))), 3)
    )
    assert found.trees == ()


@pytest.mark.parametrize("decoding", ["best", "risk"])
def test_an_analysis_takes_less_memory_than_the_scores_themselves(decoding: Decoding) -> None:
    chains = ((), *((f"L{number}",) for number in range(100)))
    scores = random_scores([240], len(chains))
    analyst = Analyst(chains, force_root=False, k=3, decoding=decoding)
    tracemalloc.start()
    try:
        analyst.analyze(scores, 0, lambda _: Tree("TOP", [Leaf("X", "x")]))
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < scores.scores.nbytes


def test_all_trees_are_summed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    summed = Mock(side_effect=inside.inside)
    monkeypatch.setattr(inside, "inside", summed)
    analysis(4, seed=0)
    summed.assert_called_once()


def test_wrong_options_are_refused() -> None:
    with pytest.raises(UsageError, match="negative"):
        Analyst(CHAINS, False, -1)
    with pytest.raises(UsageError, match="greater than 0"):
        Analyst(CHAINS, False, 1, temperature=0)


@pytest.fixture(scope="module")
def parser(tmp_path_factory: pytest.TempPathFactory) -> Parser:
    trees = toy_trees(40)
    return train(tiny_config(max_epochs=4), trees, trees, tmp_path_factory.mktemp("confidence") / "model")


def test_the_best_analysis_is_what_parse_gives(parser: Parser) -> None:
    found = list(parser.iter_analyze(SENTENCES, k=3))
    assert [one.tree for one in found] == parser.parse(SENTENCES) == [one.trees[0].tree for one in found]
    assert [one.score for one in found] == pytest.approx([s for _, s in parser.iter_scored(SENTENCES)], abs=1e-4)
    assert all(len(one.trees) == 3 for one in found)


def test_a_sentence_has_the_same_analysis_in_any_company(parser: Parser) -> None:
    together = list(parser.iter_analyze(SENTENCES))
    for one, sentence in zip(together, SENTENCES, strict=True):
        alone = parser.analyze(sentence)
        assert alone.tree == one.tree
        assert [part.probability for part in alone.constituents] == pytest.approx(
            [part.probability for part in one.constituents], abs=1e-4
        )


def test_a_sentence_too_long_for_more_has_its_best_tree(parser: Parser, monkeypatch: pytest.MonkeyPatch) -> None:
    short, long = ["the", "cat"], ["the", "cat", "sat", "on", "the", "mat"]
    expected = list(parser.iter_analyze([short, long, short], 3))
    monkeypatch.setattr("fencepost.parsing.confidence.LARGEST_CHART", 4 * 5 * 5 * len(parser.vocabularies.labels))
    first, alone, last = parser.iter_analyze([short, long, short], 3)
    for one, other in ((first, expected[0]), (last, expected[2])):
        assert [found.tree for found in one.trees] == [found.tree for found in other.trees]
        assert all(constituent.probability is not None for constituent in one.constituents)
    assert alone.tree == expected[1].tree
    assert [found.tree for found in alone.trees] == [alone.tree]
    assert {constituent.probability for constituent in alone.constituents} == {None}


def test_a_string_is_one_sentence_to_analyze(parser: Parser) -> None:
    assert parser.analyze("The cat sat. It slept.").tree.words() == ["The", "cat", "sat.", "It", "slept", "."]
    with pytest.raises(InputError, match="no words"):
        parser.analyze(" ")


def test_text_becomes_trees_of_its_sentences(parser: Parser, tmp_path: Path) -> None:
    text = 'The cat didn\'t sleep.\nIt said "no" (loudly).\n\nA heading\n'
    words = ["The cat did n't sleep .", "It said `` no '' ( loudly ) .", "A heading"]
    assert [" ".join(tree.words()) for tree in parser.parse_text(text)] == words
    assert list(parser.iter_parse_text(text.splitlines(keepends=True))) == parser.parse_text(text)
    assert [len(tree.leaves()) for tree in parser.parse_text(text, "line")] == [6, 9, 2]


def test_nothing_but_blanks_gives_no_trees(parser: Parser) -> None:
    assert parser.parse_text(" \n ") == []
