from __future__ import annotations

import subprocess
import sys

import nltk
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.errors import EmptyNodeError, TreeError, UntaggedLeafError, UsageError
from fencepost.trees.tree import Leaf, Tree
from fencepost.trees.treebank import Treebank

labels = st.sampled_from(["S", "NP", "VP", "-X-"])
leaves = st.builds(Leaf, labels, st.sampled_from(["cat", "(", "f(x)", "{", "[", "猫", "10\xa0000", "-LRB-", "'"]))
trees = st.recursive(
    st.builds(Tree, labels, st.lists(leaves, min_size=1, max_size=3)),
    lambda below: st.builds(Tree, labels, st.lists(below | leaves, min_size=1, max_size=3)),
    max_leaves=15,
)


@given(trees)
@settings(deadline=None)
def test_a_tree_goes_to_nltk_and_comes_back(tree: Tree) -> None:
    assert Tree.from_nltk(tree.to_nltk()) == tree


def test_nltk_sees_what_its_own_reader_sees() -> None:
    text = "(TOP (S (NP (DT The) (NN cat)) (-LRB- -LRB-)))"
    assert Tree.from_string(text).to_nltk() == nltk.Tree.fromstring(text)
    assert Tree.from_nltk(nltk.Tree.fromstring(text)) == Tree.from_string(text)


def test_a_treebank_takes_nltk_trees_and_nothing_that_is_no_tree() -> None:
    text = "(S (NP (DT The) (NN cat)))"
    assert Treebank([nltk.Tree.fromstring(text)]) == Treebank([Tree.from_string(text)])
    with pytest.raises(UsageError, match="expected a tree, got '\\(S"):
        Treebank([text])


def test_an_empty_root_label_becomes_top_and_a_lone_leaf_gets_a_root() -> None:
    assert str(Tree.from_nltk(nltk.Tree("", [nltk.Tree("NN", ["cat"])]))) == "(TOP (NN cat))"
    assert str(Tree.from_nltk(nltk.Tree("NN", ["cat"]))) == "(TOP (NN cat))"


def test_grammar_symbols_serve_as_labels() -> None:
    symbol = nltk.grammar.Nonterminal("NP")
    assert str(Tree.from_nltk(nltk.Tree(symbol, [nltk.Tree("NN", ["cat"])]))) == "(NP (NN cat))"


def test_other_kinds_of_nltk_trees_convert_too() -> None:
    frozen = nltk.ImmutableTree("NP", [nltk.ImmutableTree("NN", ["cat"])])
    assert str(Tree.from_nltk(frozen)) == "(NP (NN cat))"


@pytest.mark.parametrize(
    ("tree", "error"),
    [
        (nltk.Tree("S", ["the", nltk.Tree("NN", ["cat"])]), UntaggedLeafError),
        (nltk.Tree("NP", ["black", "cat"]), UntaggedLeafError),
        (nltk.Tree("S", [nltk.Tree("NP", [])]), EmptyNodeError),
        (nltk.Tree("S", []), EmptyNodeError),
        (nltk.Tree("S", [nltk.Tree("", [nltk.Tree("NN", ["cat"])])]), TreeError),
        (nltk.Tree("S", [nltk.Tree("NN", ["two words"])]), TreeError),
        (nltk.Tree("S", [("cat", "NN")]), UntaggedLeafError),
        ("(S (NN cat))", UntaggedLeafError),
    ],
)
def test_what_is_no_tree_of_tagged_words_is_refused(tree: object, error: type[TreeError]) -> None:
    with pytest.raises(error):
        Tree.from_nltk(tree)


def test_a_tree_two_thousand_deep_converts_both_ways() -> None:
    tree = Tree.from_string("(X " * 2000 + "(NN cat)" + ")" * 2000)
    assert Tree.from_nltk(tree.to_nltk()) == tree


def test_without_nltk_the_error_says_what_to_install() -> None:
    program = (
        "import sys; sys.modules['nltk'] = None\n"
        "from fencepost import FencepostError, Tree\n"
        "try: Tree.from_string('(NN cat)').to_nltk()\n"
        "except FencepostError as error: print(error.hint)"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True)
    assert result.stdout.startswith('pip install ".[nltk]" in a checkout')
