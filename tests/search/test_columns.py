"""Columns: the same whether they come from trees or straight from text."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.errors import TreeError
from fencepost.search.build_columns import ColumnsBuilder, columns_of
from fencepost.search.columns import Columns
from fencepost.search.nodes import Nodes, labels_of
from fencepost.storage.text_reader import SourceLine
from fencepost.trees.brackets import parse_trees
from fencepost.trees.tree import Tree
from tests.grammar import toy_trees
from tests.search.random_patterns import TREES


def read(text: str) -> Columns:
    builder = ColumnsBuilder()
    lines = text.splitlines(keepends=True)
    for _ in builder.add_lines((SourceLine(line, number) for number, line in enumerate(lines, 1)), "trees.txt"):
        pass
    return builder.columns()


def equal(one: Columns, other: Columns) -> bool:
    return (
        [one.vocabulary[number] for number in one.label] == [other.vocabulary[number] for number in other.label]
        and np.array_equal(one.parent, other.parent)
        and np.array_equal(one.end, other.end)
        and np.array_equal(one.roots, other.roots)
    )


TREES_TEXT = [
    "(TOP (S (NP (NN a)) (VP (VB b))))\n",
    "(S (NN a))\n(S (NN b))\n\n# a comment\n(S (NN c))\n",
    "(S\n  (NP (DT the)\n      (NN cat))\n  (VP (VBD sat)))\n",
    "( (S (NN a)))\n",
    "(NN alone)\n(S (NN a))\n",
    "(S (-LRB- -LRB-) (NN {) (NN a\\/b))\n",
    "(S (NN a)) (S (NN b))\n",
    "",
]


@pytest.mark.parametrize("text", TREES_TEXT)
def test_text_and_trees_give_the_same_columns(text: str) -> None:
    trees = [tree for part in [text.replace("# a comment\n", "")] for tree in parse_trees(part)] if text else []
    assert equal(read(text), columns_of(trees))


@given(st.lists(TREES, max_size=4))
@settings(max_examples=50, deadline=None)
def test_columns_and_lists_agree(trees: list[Tree]) -> None:
    columns = read("".join(f"{tree}\n" for tree in trees))
    assert columns.trees == len(trees)
    assert columns.tokens == sum(len(tree.leaves()) for tree in trees)
    for number, tree in enumerate(trees):
        nodes, again = Nodes.of(tree), columns.nodes(number)
        first = int(columns.roots[number])
        assert (again.labels, again.parents) == (nodes.labels, nodes.parents)
        assert labels_of(tree) == nodes.labels
        assert [*map(list, again.children)] == [*map(list, nodes.children)]
        assert [end - first for end in columns.end[first : columns.roots[number + 1]].tolist()] == nodes.ends
        for node in range(len(nodes)):
            head = node
            while nodes.children[head]:
                head = nodes.head(head)
            assert columns.head_word[first + node] - first == head


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("(S (NN a))\n(S (NN b)\n", "trees.txt:2"),
        ("(S (NN a))\n\n(S (NN))\n", "trees.txt:3"),
        ("(S (NN a) b)\n", "trees.txt:1"),
        ("(S ((NN a)))\n", "trees.txt:1"),
        ("text\n", "trees.txt:1"),
    ],
)
def test_bad_brackets_are_reported_with_their_line(text: str, problem: str) -> None:
    with pytest.raises(TreeError, match=problem):
        read(text)


def test_long_files_are_read_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    trees = toy_trees(40)
    text = "".join(f"{tree}\n" for tree in trees)
    whole = read(text)
    monkeypatch.setattr("fencepost.search.build_columns._CHUNK", 200)
    monkeypatch.setattr("fencepost.search.build_columns._MOST_PIECES", 10)
    assert equal(read(text), whole)
    assert equal(whole, columns_of(trees))
