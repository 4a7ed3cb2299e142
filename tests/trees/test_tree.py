from __future__ import annotations

import copy
import pickle

import pytest
from hypothesis import given, settings

from fencepost.errors import EmptyNodeError, MismatchError, TreeError
from fencepost.text.stream import read_stream
from fencepost.text.tokens import tokenize
from fencepost.trees.tree import Leaf, Tree, escape, unescape
from tests.trees.strategies import trees, words

CAT = Tree("S", [Tree("NP", [Leaf("DT", "The"), Leaf("NN", "cat")]), Tree("VP", [Leaf("VBD", "sat")])])


def deep_tree(depth: int) -> Tree:
    tree = Tree("X0", [Leaf("NN", "word")])
    for level in range(1, depth):
        tree = Tree(f"X{level % 7}", [tree])
    return tree


def test_a_tree_knows_its_words_tags_and_phrases() -> None:
    assert CAT.words() == ["The", "cat", "sat"]
    assert CAT.tags() == ["DT", "NN", "VBD"]
    assert [phrase.label for phrase in CAT.subtrees()] == ["S", "NP", "VP"]
    assert [phrase.words() for phrase in CAT.subtrees("NP")] == [["The", "cat"]]


def test_walk_visits_a_phrase_before_its_children() -> None:
    names = [node.label if isinstance(node, Tree) else node.word for node in CAT.walk()]
    assert names == ["S", "NP", "The", "cat", "VP", "sat"]


def test_str_is_penn_brackets_and_repr_builds_the_tree_again() -> None:
    assert str(CAT) == "(S (NP (DT The) (NN cat)) (VP (VBD sat)))"
    assert eval(repr(CAT)) == CAT
    assert eval(repr(CAT.leaves()[0])) == Leaf("DT", "The")


@pytest.mark.parametrize("target", [CAT, CAT.leaves()[0]])
@pytest.mark.parametrize("name", ["label", "children", "tag", "word", "other"])
def test_nothing_of_a_tree_or_leaf_can_be_set_or_deleted(target: Tree | Leaf, name: str) -> None:
    with pytest.raises(AttributeError, match="can't be changed"):
        setattr(target, name, "X")
    with pytest.raises(AttributeError, match="can't be changed"):
        delattr(target, name)


def test_children_given_as_a_list_cannot_be_changed_from_outside() -> None:
    children = [Leaf("NN", "cat")]
    tree = Tree("NP", children)
    children.append(Leaf("NN", "dog"))
    assert tree.words() == ["cat"]


def test_a_phrase_without_children_is_refused() -> None:
    with pytest.raises(EmptyNodeError, match="NP has none"):
        Tree("NP", [])


@pytest.mark.parametrize("label", ["", "N P", "N(P", "NP)", "N\nP", "N\xa0P", "N\0P", "\ud800"])
def test_a_label_or_tag_that_brackets_could_not_hold_is_refused(label: str) -> None:
    with pytest.raises(TreeError, match="one symbol"):
        Tree(label, [Leaf("NN", "cat")])
    with pytest.raises(TreeError, match="one symbol"):
        Leaf(label, "cat")


@pytest.mark.parametrize("word", ["", "two words", "tab\t", "\n", "N\0L", "\udcff"])
def test_a_word_that_a_line_of_text_could_not_hold_is_refused(word: str) -> None:
    with pytest.raises(TreeError, match="a word must not be empty"):
        Leaf("NN", word)


def test_a_child_that_is_a_plain_string_is_refused() -> None:
    with pytest.raises(TreeError, match="a child is a Tree or a Leaf, got 'cat'"):
        Tree("NP", ["cat"])  # type: ignore[list-item]


def test_words_are_real_text_whichever_way_they_are_given() -> None:
    assert Leaf("-LRB-", "-LRB-").word == "("
    assert Leaf("NN", "f-LRB-x-RRB-") == Leaf("NN", "f(x)")
    assert str(Leaf("NN", "f(x)")) == "(NN f-LRB-x-RRB-)"


def test_square_brackets_and_slashes_are_not_escaped() -> None:
    assert str(Leaf("NN", "[1/2]")) == "(NN [1/2])"


@given(words)
@settings(deadline=None, max_examples=60)
def test_escaping_leaves_no_bracket_and_is_undone_for_every_leaf(word: str) -> None:
    leaf = Leaf("NN", word)
    assert not set("(){}") & set(escape(leaf.word))
    assert unescape(escape(leaf.word)) == leaf.word


@given(trees)
@settings(deadline=None, max_examples=60)
def test_pickling_copying_and_printing_keep_a_tree(tree: Tree) -> None:
    assert pickle.loads(pickle.dumps(tree)) == tree
    assert copy.deepcopy(tree) is tree
    assert copy.copy(tree) is tree
    assert Tree.from_string(str(tree)) == tree


@given(trees, trees)
@settings(deadline=None, max_examples=60)
def test_trees_are_equal_exactly_when_they_print_alike(one: Tree, other: Tree) -> None:
    assert (one == other) == (str(one) == str(other))
    again = Tree.from_string(str(one))
    assert hash(again) == hash(one)
    assert len({one, again}) == 1


def test_a_tree_is_not_equal_to_its_text_or_to_a_leaf() -> None:
    assert str(CAT) != CAT
    assert CAT.leaves()[0] != CAT
    assert not CAT.leaves()[0] == CAT  # noqa: SIM201
    assert CAT.leaves()[0] != "The"


def test_leaves_pickle_and_hash_by_value() -> None:
    leaf = Leaf("NN", "(")
    assert pickle.loads(pickle.dumps(leaf)) == leaf
    assert len({leaf, Leaf("NN", "-LRB-")}) == 1


def test_a_tree_two_thousand_deep_prints_reads_pickles_compares_and_hashes() -> None:
    tree = deep_tree(2000)
    again = pickle.loads(pickle.dumps(tree))
    assert again == tree
    assert hash(again) == hash(tree)
    assert sum(1 for _ in tree.subtrees()) == 2000
    assert copy.deepcopy(tree) == tree


def test_trees_that_differ_only_at_the_bottom_differ() -> None:
    one, other = (str(deep_tree(2000)).replace("word", word) for word in ("left", "right"))
    assert Tree.from_string(one) != Tree.from_string(other)


def test_a_sentence_of_five_thousand_words_prints_and_reads() -> None:
    tree = Tree("TOP", [Leaf("NN", f"w{number}") for number in range(5000)])
    assert Tree.from_string(str(tree)) == tree
    assert len(tree.words()) == 5000


def test_spans_are_those_of_all_phrases_outer_before_inner() -> None:
    tree = Tree.from_string("(TOP (S (NP (DT The) (NN cat)) (VP (VBD sat)) (. .)))")
    assert tree.spans() == [("TOP", 0, 4), ("S", 0, 4), ("NP", 0, 2), ("VP", 2, 3)]
    assert [tree.words()[start:end] for _, start, end in tree.spans()] == [part.words() for part in tree.subtrees()]


def test_characters_say_where_phrases_stand_in_a_text() -> None:
    text = "Yes.  The cat sat, she said."
    for found in read_stream([text]):
        tree = Tree("TOP", [Tree("S", [Leaf("X", token.form) for token in found.tokens])])
        assert tree.characters(found.tokens) == [("TOP", 0, len(found.text)), ("S", 0, len(found.text))]
        assert text[found.offset :].startswith(found.text)
    with pytest.raises(MismatchError, match="1 words but 2 tokens"):
        Tree.from_string("(TOP (X a))").characters(tokenize("a b"))
    noun_phrase = Tree.from_string("(TOP (NP (DT The) (NN cat)) (VBD sat))")
    _, (_, start, end) = noun_phrase.characters(tokenize("The  cat sat"))
    assert "The  cat sat"[start:end] == "The  cat"
