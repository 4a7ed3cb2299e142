from __future__ import annotations

import pytest

from fencepost.errors import MismatchError
from fencepost.measures import l2sca
from fencepost.measures.measure import TextMeasures, measure
from fencepost.measures.names import DESCRIPTIONS
from fencepost.search.nodes import Nodes
from fencepost.trees.tree import Leaf, Tree

RAIN = Tree.from_string(
    "(TOP (S (NP (PRP She)) (VP (VBD left) (SBAR (IN because) (S (NP (PRP it)) (VP (VBD rained))))) (. .)))"
)


class Sentence:
    tree = RAIN


def test_root_symbols_and_missing_roots_make_no_difference() -> None:
    (inner,) = RAIN.children
    assert isinstance(inner, Tree)
    for other in (Tree("ROOT", [inner]), Tree("S1", [inner]), inner):
        assert measure([other]) == measure([RAIN])


def test_anything_with_a_tree_can_be_measured() -> None:
    assert measure([Sentence()]) == measure([RAIN])


def test_a_row_has_the_figures_that_are_described() -> None:
    assert list(measure([RAIN])) == [*DESCRIPTIONS, "labels", "confidence"]


def test_sums_and_means_are_over_the_whole_text() -> None:
    row = measure([RAIN, Tree.from_string("(TOP (FRAG (UH No) (. .)))")])
    assert (row["W"], row["S"], row["C"], row["MLS"]) == (6, 2, 3, 3.0)
    assert row["yngve_mean"] == pytest.approx(4 / 6)
    assert row["embedding_mean"] == 0.5
    assert row["labels"] == {"NP": 2, "S": 2, "VP": 2, "FRAG": 1, "SBAR": 1}


def test_confidence_is_the_mean_probability_of_what_was_counted() -> None:
    text = TextMeasures()
    #                             S    NP   VP   SBAR S    NP   VP
    text.add(RAIN, probabilities=[0.9, 1.0, 0.8, 0.5, 0.7, 1.0, 0.6])
    confidence = text.row()["confidence"]
    assert confidence["all"] == pytest.approx(5.5 / 7)
    assert confidence["C"] == pytest.approx(0.8)
    assert confidence["VP"] == pytest.approx(0.7)
    assert (confidence["T"], confidence["DC"], confidence["CP"]) == (0.9, 0.5, None)
    assert (confidence["DC/C"], confidence["CP/T"]) == (0.5, 0.9)


def test_probabilities_must_fit_the_tree() -> None:
    with pytest.raises(MismatchError, match="7 phrases but 1 probabilities"):
        TextMeasures().add(RAIN, probabilities=[0.9])


def test_a_deep_tree_is_measured() -> None:
    tree = Tree("NP", [Leaf("NN", "cat")])
    for level in range(1, 2_000):
        tree = Tree(("S", "NP", "VP", "SBAR")[level % 4], [tree, Leaf("NN", "w")])
    row = measure([tree])
    assert row["yngve_max"] == 1_999
    assert row["nonterminals"] == 2_000


def test_a_structure_is_counted_once_however_often_its_pattern_matches() -> None:
    nodes = Nodes.of(Tree.from_string("(TOP (NP (NN a) (CC and) (NN b) (CC and) (NN c)))"))
    assert list(l2sca.structures(nodes, "CP")) == [1]
