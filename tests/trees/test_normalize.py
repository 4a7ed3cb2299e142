from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings

from fencepost.trees.brackets import ROOT_SYMBOLS
from fencepost.trees.normalize import Normalization, normalize, strip_label
from fencepost.trees.tree import Leaf, Tree
from fencepost.trees.treebank import iter_trees
from tests.trees.strategies import trees

CHOICES = {
    "en/craft": Normalization(unwrap=("TITLE", "HEADING", "CAPTION")),
    "en/gum": Normalization(),
    "en/wsj-sample": Normalization(),
    "en/masc": Normalization(drop=("CODE", "-DFL-", "SU")),
}


def after(text: str, choices: Normalization = Normalization()) -> str | None:  # noqa: B008 (it is frozen)
    tree = normalize(Tree.from_string(text), choices)
    return None if tree is None else str(tree)


def test_traces_go_with_the_phrases_they_leave_empty() -> None:
    raw = "( (S (NP-SBJ (-NONE- *)) (VP (VB Go) (S (NP (-NONE- *PRO*)) (VP (-NONE- *?*))))))"
    assert after(raw) == "(TOP (S (VP (VB Go))))"
    assert after(raw, Normalization(keep_traces=True)) == (
        "(TOP (S (NP (-NONE- *)) (VP (VB Go) (S (NP (-NONE- *PRO*)) (VP (-NONE- *?*))))))"
    )


def test_a_tree_of_traces_alone_leaves_nothing() -> None:
    assert after("( (S (NP-SBJ (-NONE- *)) (VP (-NONE- *?*))))") is None


@pytest.mark.parametrize(
    ("label", "plain", "functions", "indices"),
    [
        ("NP-SBJ-1", "NP", "NP-SBJ", "NP-1"),
        ("PP-LOC-CLR=2", "PP", "PP-LOC-CLR", "PP=2"),
        ("NP=3", "NP", "NP", "NP=3"),
        ("ADVP|PRT", "ADVP|PRT", "ADVP|PRT", "ADVP|PRT"),
        ("PRT", "PRT", "PRT", "PRT"),
        ("-NONE-", "-NONE-", "-NONE-", "-NONE-"),
        ("-DFL-", "-DFL-", "-DFL-", "-DFL-"),
        ("np-", "np", "np-", "np"),
    ],
)
def test_function_tags_and_indices_are_kept_each_on_demand(
    label: str, plain: str, functions: str, indices: str
) -> None:
    assert strip_label(label) == plain
    assert strip_label(label, keep_functions=True) == functions
    assert strip_label(label, keep_indices=True) == indices
    assert strip_label(label, keep_functions=True, keep_indices=True) == label


def test_tags_lose_an_index_but_nothing_else() -> None:
    raw = "(TOP (NP (N-D orð) (-LRB- -LRB-) (NNS-4 cats)))"
    assert after(raw) == "(TOP (NP (N-D orð) (-LRB- -LRB-) (NNS cats)))"
    assert after(raw, Normalization(keep_indices=True)) == raw


def test_x_over_x_is_merged_also_where_only_a_trace_or_a_function_tag_stood_between() -> None:
    raw = "(TOP (S (S-TPC (NP-1 (NP (NN cat)) (NP (-NONE- *))))))"
    assert after(raw) == "(TOP (S (NP (NN cat))))"
    assert after(raw, Normalization(keep_repeats=True)) == "(TOP (S (S (NP (NP (NN cat))))))"


def test_kept_function_tags_keep_nodes_apart() -> None:
    raw = "(TOP (NP-SBJ (NP (NN cat))))"
    assert after(raw, Normalization(keep_functions=True)) == raw


def test_x_over_x_with_a_sister_stays() -> None:
    assert after("(TOP (NP (NP (NN cat)) (NN dog)))") == "(TOP (NP (NP (NN cat)) (NN dog)))"


@pytest.mark.parametrize("root", ["", *sorted(ROOT_SYMBOLS)])
def test_every_root_symbol_becomes_top(root: str) -> None:
    assert after(f"({root} (S (NN cat)))") == "(TOP (S (NN cat)))"
    assert after(f"( ({root or 'ROOT'} (S (NN cat))))") == "(TOP (S (NN cat)))"


def test_a_tree_without_a_root_symbol_gets_one() -> None:
    assert after("(S (NN cat))") == "(TOP (S (NN cat)))"
    assert after("(NN cat)") == "(TOP (NN cat))"


def test_a_root_symbol_inside_a_tree_is_no_phrase() -> None:
    assert after("(TOP (S (NN cat) (TOP (NP (NN dog)))))") == "(TOP (S (NN cat) (NP (NN dog))))"


def test_marks_that_are_not_language_are_dropped_with_all_below_them() -> None:
    raw = "( (S (CODE <x>) (NP (NN cat)) (CODE (NN y)) (ID 1,2) (META (NN z)) (-DFL- E_S)))"
    assert after(raw) == "(TOP (S (NP (NN cat))))"
    assert after("( (CODE <TURN>))") is None


def test_what_is_dropped_can_be_chosen() -> None:
    raw = "(TOP (S (CODE <x>) (NN cat) (SU /)))"
    assert after(raw, Normalization(drop=("SU",))) == "(TOP (S (CODE <x>) (NN cat)))"
    assert after(raw, Normalization(drop=())) == raw


def test_unwrapped_labels_go_while_their_children_move_up() -> None:
    raw = "( (TITLE (NP (NML-1 (NN amino) (NN acid)) (NN chain))))"
    choices = Normalization(unwrap=("TITLE", "NML"))
    assert after(raw, choices) == "(TOP (NP (NN amino) (NN acid) (NN chain)))"


def test_unwrapping_can_bring_x_over_x_about_which_is_merged() -> None:
    assert after("(TOP (NP (NML (NP (NN cat)))))", Normalization(unwrap=("NML",))) == "(TOP (NP (NN cat)))"


def test_blanks_inside_a_word_become_underscores_and_go_at_its_ends() -> None:
    leaves = [Leaf("NN", word) for word in ("Xpd\u200aTTD", "\u2009†\xa0\xa0XP\u200a", "\u3000")]
    tree = normalize(Tree("TOP", leaves))
    assert tree is not None
    assert tree.words() == ["Xpd_TTD", "†_XP", "_"]


def test_normalizing_two_thousand_levels_does_not_recurse() -> None:
    raw = "(S-1 " * 2000 + "(NN cat)" + ")" * 2000
    assert after(raw) == "(TOP (S (NN cat)))"


@given(trees)
@settings(deadline=None, max_examples=60)
def test_normalizing_twice_changes_nothing_more(tree: Tree) -> None:
    once = normalize(tree)
    assert once is None or normalize(once) == once


@given(trees)
@settings(deadline=None, max_examples=60)
def test_keeping_everything_loses_no_word(tree: Tree) -> None:
    kept = normalize(tree, Normalization(keep_traces=True, drop=()))
    assert kept is not None
    assert len(kept.words()) == len(tree.words())


@pytest.mark.parametrize("name", CHOICES)
@pytest.mark.parametrize("part", ["train", "dev", "test"])
def test_raw_treebanks_become_the_prepared_ones_line_for_line(shared: Path, name: str, part: str) -> None:
    folder = shared / "treebanks" / name
    (raw,) = (folder / "raw").glob(f"{part}.*.gz")
    made = (normalize(tree, CHOICES[name]) for tree in iter_trees(raw, unlabelled="TOP"))
    with open(folder / f"{part}.txt", encoding="utf-8", newline="\n") as file:
        assert all(f"{tree}\n" == line for tree, line in zip(filter(None, made), file, strict=True))


@pytest.mark.parametrize("name", CHOICES)
def test_the_single_files_of_dev_become_dev(shared: Path, name: str) -> None:
    folder = shared / "treebanks" / name
    made = (normalize(tree, CHOICES[name]) for tree in iter_trees(folder / "raw" / "dev", unlabelled="TOP"))
    with open(folder / "dev.txt", encoding="utf-8", newline="\n") as file:
        assert [f"{tree}\n" for tree in made if tree] == list(file)
