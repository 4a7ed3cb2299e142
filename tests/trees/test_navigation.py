"""Children, paths, text and dictionaries of trees."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest
from hypothesis import given, settings

from fencepost import Sentence, Treebank, score
from fencepost.errors import FencepostError, InputError, MismatchError, TreeError, UsageError
from fencepost.text.stream import read_stream
from fencepost.text.tokens import tokenize
from fencepost.trees.tree import Leaf, Tree
from tests.trees.strategies import trees

CAT = Tree.from_string("(S (NP (DT The) (NN cat)) (VP (VBD sat)) (. .))")
TEXT = "“Cats (and dogs)  can't  swim,” she said."
SWIM = Tree.from_string(
    "(TOP (S (`` ``) (S (NP (NNS Cats) (PRN (-LRB- -LRB-) (CC and) (NNS dogs) (-RRB- -RRB-))) (VP (MD ca) (RB n't)"
    " (VP (VB swim)))) (, ,) ('' '') (NP (PRP she)) (VP (VBD said)) (. .)))"
)


def deep(depth: int) -> Tree:
    tree = Tree("NP", [Leaf("NN", "cat")])
    for level in range(1, depth):
        tree = Tree(("S", "NP", "VP", "SBAR")[level % 4], [tree, Leaf("CC", f"w{level}")])
    return tree


def test_a_tree_is_a_sequence_of_its_children() -> None:
    assert CAT[0] == Tree.from_string("(NP (DT The) (NN cat))")
    assert CAT[-1] == Leaf(".", ".")
    assert CAT[1:] == CAT.children[1:]
    assert list(CAT) == list(CAT.children)
    assert len(CAT) == 3
    assert CAT[0] in CAT
    assert Leaf("NN", "cat") not in CAT


def test_indices_outside_the_tree_are_refused() -> None:
    with pytest.raises(IndexError):
        CAT[3]
    with pytest.raises(IndexError, match="step 3"):
        CAT[0, 1, 0]
    with pytest.raises(IndexError, match="step 2"):
        CAT[0, 2]


def test_looking_for_a_string_in_a_tree_says_how_to_look_for_labels_and_words() -> None:
    with pytest.raises(UsageError, match=r"any\(tree.subtrees\('NP'\)\)"):
        "NP" in CAT  # noqa: B015


def test_a_label_in_square_brackets_says_how_to_look_for_labels() -> None:
    tree: Any = Tree.from_string("(S (NP (PRP It)) (VP (VBZ works)))")
    with pytest.raises(UsageError, match="not by the string 'NP'") as raised:
        tree["NP"]
    assert raised.value.hint == "next(tree.subtrees('NP')) is the first phrase with this label"


def test_subtrees_takes_several_labels_and_refuses_a_list() -> None:
    assert [phrase.label for phrase in CAT.subtrees("NP", "VP")] == ["NP", "VP"]
    assert list(CAT.subtrees("XX")) == []
    with pytest.raises(UsageError, match=r"subtrees\(\*labels\)"):
        CAT.subtrees(["NP", "VP"])  # type: ignore[arg-type]


@given(trees)
@settings(deadline=None, max_examples=60)
def test_paths_lead_to_the_nodes_of_walk(tree: Tree) -> None:
    paths, nodes = list(tree.paths()), list(tree.walk())
    assert len(paths) == len(set(paths)) == len(nodes)
    assert all(tree[path] is node for path, node in zip(paths, nodes, strict=True))
    for path, node in zip(paths[1:], nodes[1:], strict=True):
        parent = tree.parent(path)
        assert parent is not None
        assert parent[path[-1]] is node
        assert tree.ancestors(path)[-1] is tree
    assert tree.parent(()) is None


@given(trees)
@settings(deadline=None, max_examples=60)
def test_the_height_is_the_longest_path_and_the_word(tree: Tree) -> None:
    assert tree.height() == max(map(len, tree.paths())) + 2


@given(trees)
@settings(deadline=None, max_examples=60)
def test_dictionaries_and_json_keep_a_tree(tree: Tree) -> None:
    assert Tree.from_dict(json.loads(json.dumps(tree.to_dict()))) == tree


@pytest.mark.parametrize(
    "data",
    [
        {"tag": "NN", "word": "cat"},
        {"label": "NP"},
        {"label": "NP", "children": "cat"},
        {"label": "NP", "children": ["cat"]},
        {"label": "NP", "children": [{"tag": "NN"}]},
        {"label": 3, "children": []},
        {"label": "NP", "children": []},
        {"label": "N P", "children": [{"tag": "NN", "word": "cat"}]},
        [],
        None,
    ],
)
def test_dictionaries_that_are_not_trees_are_refused(data: Any) -> None:
    with pytest.raises(TreeError):
        Tree.from_dict(data)


def test_the_text_of_a_phrase_has_the_original_characters() -> None:
    tree = SWIM.placed(TEXT, tokenize(TEXT))
    assert tree.text == TEXT
    assert [phrase.text for phrase in tree.subtrees("VP")] == ["can't  swim", "swim", "said"]
    assert [phrase.text for phrase in tree.subtrees("PRN")] == ["(and dogs)"]
    assert [leaf.text for leaf in tree.leaves()][:2] == ["“", "Cats"]
    for phrase in tree.subtrees():
        assert phrase.offsets is not None
        start, end = phrase.offsets
        assert TEXT[start:end] == phrase.text


def test_without_a_text_a_tree_gives_its_words_and_no_offsets() -> None:
    assert CAT.text == "The cat sat ."
    assert CAT.offsets is None
    assert CAT.leaves()[0].offsets is None


def test_places_survive_pickling_and_change_neither_equality_nor_brackets() -> None:
    tree = SWIM.placed(TEXT, tokenize(TEXT))
    again = pickle.loads(pickle.dumps(tree))
    leaf = pickle.loads(pickle.dumps(tree.leaves()[0]))
    assert again == tree == SWIM
    assert str(again) == str(SWIM)
    assert hash(again) == hash(SWIM)
    assert again.text == TEXT
    assert leaf.offsets == (0, 1)


def test_places_count_from_the_start_of_the_sentence_or_of_the_text() -> None:
    text = "Yes.  The cat sat."
    second = list(read_stream([text]))[1]
    tree = CAT.placed(second.text, second.tokens, second.offset)
    assert tree[0].text == "The cat"
    assert tree.offsets == (6, 18)
    assert CAT.placed(second.text, second.tokens).offsets == (0, 12)


def test_as_many_tokens_as_words_are_needed() -> None:
    with pytest.raises(MismatchError, match="4 words but 2 tokens"):
        CAT.placed("The cat", tokenize("The cat"))


def test_one_tree_where_many_are_expected_is_refused() -> None:
    with pytest.raises(UsageError, match=r"Treebank\(\[tree\]\)"):
        Treebank(CAT)
    with pytest.raises(UsageError, match="gold is one tree"):
        score(CAT, [CAT])
    with pytest.raises(InputError, match="the words of a sentence are a list"):
        Sentence(CAT)  # type: ignore[arg-type]


def test_no_method_recurses_into_a_deep_tree() -> None:
    tree = deep(2_000)
    words = tree.words()
    assert tree.height() == 2_002
    assert tree.text.startswith("cat w1 w2")
    assert len(tree.ancestors((0,) * 1_999)) == 1_999
    assert sum(1 for _ in tree.paths()) == 4_000
    assert Tree.from_dict(tree.to_dict()) == tree
    assert len(tree.phrases()) == 2_000
    assert [phrase.start for phrase in tree.phrases(kind="base", language="de")] == [0, 0, 0, 0]
    assert len(tree.dependencies()) == len(words)
    assert tree.clauses() == []
    assert tree.head.word in words
    assert pickle.loads(pickle.dumps(tree)) == tree
    assert tree.pretty(80).count("\n") > 100
    assert tree.to_svg().startswith("<svg")
    assert tree[0] in tree


def test_every_error_here_is_one_of_ours() -> None:
    with pytest.raises(FencepostError):
        CAT.phrases(kind="some")  # type: ignore[arg-type]
    with pytest.raises(FencepostError, match=r"phrases\(\*labels\)"):
        CAT.phrases(["NP"])  # type: ignore[arg-type]
    with pytest.raises(FencepostError, match="language can't be 'xx'"):
        CAT.dependencies("xx")
