from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.trees.stats import Stats
from fencepost.trees.tree import Tree
from fencepost.trees.treebank import iter_trees

TREES = [
    Tree.from_string(text)
    for text in (
        "(TOP (S (VP (VB Go)) (. .)))",
        "(TOP (S (VP (VB Go)) (. .)))",
        "(TOP (S (VP (NP (NN cat) (NN dog) (NN cow)))))",
        "(TOP (NN Abstract))",
    )
]
PUBLISHED = {  # sentences, tokens, average length, longest, labels, tags, chains, deepest, one-word, repeated
    "en/craft/dev.txt": (2820, 72963, 25.9, 123, 25, 44, 18, 25, 91, 188),
    "en/gum/test.txt": (1464, 28397, 19.4, 134, 26, 46, 15, 31, 12, 33),
    "en/wsj-sample/train.txt": (3098, 74532, 24.1, 249, 26, 45, 25, 28, 1, 6),
    "en/masc/train.txt": (3530, 66680, 18.9, 174, 27, 49, 45, 30, 13, 273),
    "de/pcc/dev.txt": (215, 3389, 15.8, 48, 15, 44, 15, 10, 6, 0),
    "he/htb/dev.txt": (500, 12631, 25.3, 99, 19, 34, 23, 22, 0, 1),
    "ja/keyaki/dev.txt": (1760, 33830, 19.2, 142, 16, 38, 24, 20, 20, 56),
    "sv/talbanken-excerpts/train.txt": (275, 3417, 12.4, 67, 14, 129, 7, 8, 9, 2),
    "zh/sinica-sample/test.txt": (1000, 10452, 10.5, 40, 48, 177, 21, 12, 0, 0),
}


def test_figures_of_a_few_trees() -> None:
    assert Stats.of(TREES).figures() == {
        "sentences": 4,
        "tokens": 8,
        "average_length": 2.0,
        "longest": 3,
        "labels": 3,
        "tags": 3,
        "unary_chains": 1,
        "depth": 3,
        "one_word": 1,
        "repeated": 1,
    }


def test_labels_are_counted_inside_chains_and_the_root_is_not_one() -> None:
    assert Stats.of(TREES).labels == {"S": 3, "VP": 3, "NP": 1}


def test_two_labels_over_the_same_words_are_a_unary_chain() -> None:
    assert Stats.of([Tree.from_string("(TOP (S (VP (VB Go))))")]).figures()["unary_chains"] == 1


def test_a_tree_without_a_root_symbol_counts_as_one_with_it() -> None:
    with_root, without = (Stats.of([Tree.from_string(text)]) for text in ("(TOP (S (NN cat)))", "(S (NN cat))"))
    assert without.labels == with_root.labels == {"S": 1}
    assert without.figures() == with_root.figures()


def test_figures_of_parts_add_up_to_the_whole() -> None:
    assert Stats.of(TREES[:1]) + Stats.of(TREES[1:]) == Stats.of(TREES)


def test_no_trees_give_zeros() -> None:
    assert set(Stats().figures().values()) == {0}


@pytest.mark.parametrize("name", PUBLISHED)
def test_figures_equal_those_published_with_the_treebanks(shared: Path, name: str) -> None:
    assert tuple(Stats.of(iter_trees(shared / "treebanks" / name)).figures().values()) == PUBLISHED[name]
