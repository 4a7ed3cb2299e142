from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from fencepost import Tree
from fencepost.trees.heads import COLLINS, HeadRules, plain_label
from fencepost.trees.tree import Leaf

GOLDEN = Path(__file__).parents[1] / "golden" / "heads" / "collins.tsv"


def test_collins_rules_choose_the_heads_that_stanfords_program_chooses() -> None:
    rows = [line.split("\t") for line in GOLDEN.read_text("utf-8").splitlines()[1:]]
    wrong = [row for row in rows if COLLINS.choose(row[0], row[1].split()) != int(row[2])]
    assert len(rows) > 300
    assert not wrong


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("(S (NP (DT The) (NN cat)) (VP (VBD sat)))", "sat"),
        ("(VP (MD may) (VP (VB sleep)))", "may"),
        ("(NP (NP (NN cat)) (PP (IN on) (NP (NN mat))))", "cat"),
        ("(NP (NN salt) (CC and) (NN pepper))", "salt"),
        ("(NP (NNP Kim) (POS 's))", "'s"),
        ("(PP (RB only) (IN on) (NP (NNP Monday)))", "on"),
        ("(SBAR (IN that) (S (NP (PRP it)) (VP (VBD sat))))", "that"),
        ("(NP-SBJ (DT the) (NN-X cat) (SBAR=2 (WP who)))", "cat"),
    ],
)
def test_the_head_word_of_a_phrase(text: str, word: str) -> None:
    assert COLLINS.head(Tree.from_string(text)).word == word


def test_head_words_are_counted_through_the_whole_sentence() -> None:
    tree = Tree.from_string("(S (NP (NP (DT the) (NN cat)) (PP (IN in) (NP (NN hats)))) (VP (VBD sat)))")
    words = tree.words()
    heads = [words[head] for head in COLLINS.head_words(tree)]
    assert heads == ["sat", "cat", "cat", "in", "hats", "sat"]


def test_a_mark_in_the_treebank_beats_the_rules() -> None:
    tree = Tree.from_string("(S (VVFIN-HD schläft) (NP-SB (ART die) (NN Katze)))")
    assert HeadRules({"S": [("right", ("NP",))]}, marks=["HD"]).head_child(tree) == 0
    assert HeadRules({"S": [("right", ("NP",))]}).head_child(tree) == 1


def test_avoided_labels_are_heads_only_when_alone() -> None:
    rules = HeadRules({}, avoid=[".", ","])
    assert rules.choose("FRAG", ["NP", ",", "."]) == 0
    assert rules.choose("FRAG", [",", "."]) == 1


@pytest.mark.parametrize(
    ("label", "plain"),
    [("NP", "NP"), ("NP-SBJ-1", "NP"), ("NP=2", "NP"), ("-LRB-", "-LRB-"), ("-NONE-", "-NONE-"), ("ADVP|PRT", "ADVP")],
)
def test_plain_labels(label: str, plain: str) -> None:
    assert plain_label(label) == plain


def test_rules_can_be_pickled() -> None:
    again = pickle.loads(pickle.dumps(COLLINS))
    assert again.rules == COLLINS.rules
    assert again.choose("NP", ["NN", "CC", "NN"]) == 0


def test_a_deep_tree_has_a_head() -> None:
    tree: Tree = Tree("NP", [Leaf("NN", "cat")])
    for _ in range(2_000):
        tree = Tree("NP", [tree, Leaf("CC", "and")])
    assert COLLINS.head(tree).word == "cat"
    assert COLLINS.head_words(tree) == [0] * 2_001
