"""A tree that isn't built yet is like any other, and costs nothing until something looks into it."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given

from fencepost.trees.brackets import BracketText
from fencepost.trees.tree import Tree, unbuilt_tree
from tests.trees.strategies import trees


class Counting(BracketText):
    """Counts how often a tree is built."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.built = 0

    def build(self) -> Tree:
        self.built += 1
        return super().build()


TEXT = "(TOP (S (NP (PRP It)) (VP (VBZ works)) (-LRB- -LRB-)))"


@given(trees)
def test_an_unbuilt_tree_is_like_the_tree_that_it_becomes(tree: Tree) -> None:
    def new() -> Tree:
        return unbuilt_tree(BracketText(str(tree)))

    assert type(new()) is Tree
    assert str(new()) == str(tree)
    assert new().words() == tree.words()
    assert new().tags() == tree.tags()
    assert new() == tree == new()
    assert hash(new()) == hash(tree)
    assert new().label == tree.label
    assert new().children == tree.children
    assert list(new().walk()) == list(tree.walk())
    assert new().spans() == tree.spans()
    assert pickle.loads(pickle.dumps(new())) == tree
    assert repr(new()) == repr(tree)


def test_words_tags_text_and_pickling_build_nothing() -> None:
    source = Counting(TEXT)
    tree = unbuilt_tree(source)
    assert (tree.words(), tree.tags(), str(tree)) == (["It", "works", "("], ["PRP", "VBZ", "-LRB-"], TEXT)
    assert copy.deepcopy(tree) is tree
    assert isinstance(pickle.dumps(tree), bytes)
    assert source.built == 0


def test_a_tree_is_built_once() -> None:
    source = Counting(TEXT)
    tree = unbuilt_tree(source)
    assert (tree.label, len(tree.children), tree.words(), str(tree)) == ("TOP", 1, ["It", "works", "("], TEXT)
    assert tree.children is tree.children
    assert source.built == 1


def test_threads_may_look_into_the_same_tree() -> None:
    with ThreadPoolExecutor(8) as pool:
        for _ in range(50):
            tree = unbuilt_tree(BracketText(TEXT))
            assert set(pool.map(lambda tree: (tree.label, len(tree.children)), [tree] * 8)) == {("TOP", 1)}


def test_an_unbuilt_tree_has_the_attributes_of_a_tree_and_no_others() -> None:
    tree = unbuilt_tree(BracketText(TEXT))
    with pytest.raises(AttributeError, match="a Tree has no branches"):
        _ = tree.branches  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match="can't be changed"):
        tree.label = "S"
