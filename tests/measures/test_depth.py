from __future__ import annotations

import pytest
from hypothesis import given, settings

from fencepost.measures.depth import embedding, frazier_depths, yngve_depths
from fencepost.measures.pruned import is_punctuation, without_punctuation
from fencepost.measures.shape import Shape, labels, shape
from fencepost.trees.layout import Layout
from fencepost.trees.tree import Leaf, Tree
from tests.trees.strategies import trees

# The example sentence of Roark, Mitchell and Hollingshead (2007).
COOK = Tree.from_string(
    "(S (NP (PRP She)) (VP (VBD was) (NP (NP (DT a) (NN cook)) (PP (IN in) (NP (DT a) (NN school) (NN cafeteria))))))"
)


def test_yngve_depths_number_branches_from_the_right() -> None:
    assert yngve_depths(Layout(COOK)) == [1, 1, 2, 1, 1, 2, 1, 0]


def test_frazier_depths_add_up_phrases_that_open_at_a_word() -> None:
    assert frazier_depths(Layout(COOK)) == [2.5, 1, 2, 0, 1, 1, 0, 0]


def test_the_root_symbol_counts_nowhere() -> None:
    rooted = Layout(Tree("TOP", [COOK]))
    assert yngve_depths(rooted) == yngve_depths(Layout(COOK))
    assert frazier_depths(rooted) == frazier_depths(Layout(COOK))
    assert shape(rooted) == shape(Layout(COOK))
    two = Layout(Tree("TOP", [Leaf("UH", "Oh"), COOK]))
    assert yngve_depths(two) == [0, *yngve_depths(Layout(COOK))]
    assert frazier_depths(two) == [0, *frazier_depths(Layout(COOK))]


def by_definition(tree: Tree) -> tuple[list[int], list[float]]:
    """Both depths, path by path."""
    yngve, frazier = [], []
    for path in tree.paths():
        if isinstance(tree[path], Leaf):
            above = tree.ancestors(path)[::-1]
            yngve.append(sum(len(phrase) - 1 - step for phrase, step in zip(above, path, strict=True)))
            total = 0.0
            for phrase, step in zip(above[::-1], path[::-1], strict=True):
                if step > 0:
                    break
                total += 1.5 if phrase.label.split("-")[0] in {"S", "SBAR", "SBARQ", "SINV", "SQ"} else 1
            frazier.append(total)
    return yngve, frazier


@given(trees)
@settings(deadline=None, max_examples=60)
def test_depths_agree_with_their_definitions(tree: Tree) -> None:
    tree = Tree("S", [tree, Tree("SBAR", [tree])])
    layout = Layout(tree)
    assert (yngve_depths(layout), frazier_depths(layout)) == by_definition(tree)


@pytest.mark.parametrize(
    ("text", "depth"),
    [
        ("(S (NP (PRP It)) (VP (VBD sat)))", 0),
        ("(TOP (NP (NN Silence)))", 0),
        ("(TOP (S (S (NP (PRP I)) (VP (VBD sat))) (CC and) (S (NP (PRP I)) (VP (VBD ran)))))", 0),
        ("(S (NP (PRP I)) (VP (VBP know) (SBAR (S (NP (PRP you)) (VP (VBP think)"
         " (SBAR (S (NP (PRP it)) (VP (VBD sat)))))))))", 2),
        ("(S (NP (PRP I)) (VP (VBP want) (S (VP (TO to) (VP (VB go))))))", 0),
    ],
)  # fmt: skip
def test_embedding_counts_finite_clauses_around_a_finite_clause(text: str, depth: int) -> None:
    assert embedding(Layout(Tree.from_string(text))) == depth


def test_shape_counts_phrases_children_and_sides() -> None:
    assert shape(Layout(COOK)) == Shape(words=8, phrases=7, children=14, branching=6, right=4, left=0)
    left = Tree.from_string("(NP (NP (NP (NNP Kim) (POS 's)) (NN cat)) (NN hat))")
    assert shape(Layout(left)) == Shape(words=4, phrases=3, children=6, branching=3, right=0, left=2)
    assert labels(Layout(COOK)) == {"NP": 4, "VP": 1, "PP": 1, "S": 1}


def test_punctuation_and_phrases_of_punctuation_are_left_out() -> None:
    tree = Tree.from_string(
        "(TOP (S (NP (CD 5) (NN %)) (PRN (: --)) (VP (VBD rose) (PP (IN to) (NP ($ $) (CD 3)))) (. .)))"
    )
    assert str(without_punctuation(tree)) == (
        "(TOP (S (NP (CD 5) (NN %)) (VP (VBD rose) (PP (IN to) (NP ($ $) (CD 3))))))"
    )
    assert without_punctuation(Tree.from_string("(TOP (: --))")) is None


def test_traces_and_phrases_of_traces_are_left_out() -> None:
    tree = Tree.from_string(
        "(TOP (S (NP-1 (PRP He)) (VP (VBD was) (VP (VBN seen) (NP (-NONE- *-1)) (SBAR (-NONE- 0))))))"
    )
    assert str(without_punctuation(tree)) == "(TOP (S (NP-1 (PRP He)) (VP (VBD was) (VP (VBN seen)))))"
    assert without_punctuation(Tree.from_string("(TOP (NP (-NONE- *)))")) is None


@pytest.mark.parametrize("word", [".", "...", "“", "--", "—", "(", "¿", "。"])
def test_marks_are_punctuation(word: str) -> None:
    assert is_punctuation(word)


@pytest.mark.parametrize("word", ["a", "'s", "%", "&", "€", "$", "5.0", "e-mail", "+"])
def test_words_and_signs_are_not_punctuation(word: str) -> None:
    assert not is_punctuation(word)
