"""The page about labels: its tables are those of the table of labels, and its trees fit the examples."""

from __future__ import annotations

import re

import pytest

from fencepost.trees.label_names import KINDS, label_names
from fencepost.trees.tree import Leaf, Tree
from website import labels

ROWS = [(kind, label) for kind in KINDS for label in label_names()[kind]]


def test_every_label_has_trees_and_every_tree_has_a_label() -> None:
    assert {kind: list(trees) for kind, trees in labels.TREES.items()} == {
        kind: list(names) for kind, names in label_names().items()
    }


@pytest.mark.parametrize(("kind", "label"), ROWS)
def test_the_trees_of_a_label_have_the_words_of_its_example_and_the_label_where_its_stars_are(
    kind: str, label: str
) -> None:
    example = label_names()[kind][label].example
    phrases = example.split("; ")
    trees = map(Tree.from_string, labels.TREES[kind][label])
    marked = [labels.marked_nodes(tree, kind, label, part) for tree, part in zip(trees, phrases, strict=True)]
    assert all(marked)


@pytest.mark.parametrize(("kind", "label"), ROWS)
def test_a_drawing_marks_its_label(kind: str, label: str) -> None:
    for drawing in labels.drawings(kind, label):
        marked = re.findall(r'<text class="marked (?:phrase|tag)"[^>]*>([^<]*)<', drawing)
        shown = {text.replace("&#x27;", "'") for text in marked}
        assert shown == {label} if kind != "functions" else all(label in text.split("-")[1:] for text in shown)


def test_a_tree_with_other_words_than_its_example_is_an_error() -> None:
    tree = Tree.from_string("(NP (DT the) (NN dog))")
    with pytest.raises(ValueError, match="aren't those of the example"):
        labels.marked_nodes(tree, "tags", "NN", "the *cat*")


def test_a_label_that_covers_other_words_than_the_stars_is_an_error() -> None:
    tree = Tree.from_string("(NP (DT the) (NN cat))")
    with pytest.raises(ValueError, match="no NN of"):
        labels.marked_nodes(tree, "tags", "NN", "*the* cat")


def test_only_the_nodes_between_the_stars_are_marked() -> None:
    tree = Tree.from_string("(NP (NP (NN bread)) (CC and) (NP (NN butter)))")
    assert labels.marked_nodes(tree, "tags", "NN", "bread and *butter*") == [Leaf("NN", "butter")]
    assert labels.marked_nodes(tree, "phrases", "NP", "*bread and butter*") == [tree]


def test_the_tables_of_the_page_are_up_to_date() -> None:
    text = labels.PAGE.read_text("utf-8")
    assert labels.with_tables(text) == text, "run python -m website.labels"
    assert text.count("\n| `") == len(ROWS)


def test_every_label_has_an_address_of_its_own() -> None:
    anchors = [labels.anchor(kind, label) for kind, label in ROWS]
    assert len(set(anchors)) == len(ROWS)
    assert all(re.fullmatch(r"[A-Za-z-]+", anchor) for anchor in anchors)
