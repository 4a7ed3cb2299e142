"""Counts of the errors that users meet."""

from __future__ import annotations

import pytest
from errors import (
    Counts,
    as_json,
    chains,
    finders,
    impossible_tags,
    labelled,
    nested_chains,
    questions,
    rare_nouns,
    reports,
    table,
    won_as_modal,
)

import fencepost
from fencepost.features.possible_tags import PossibleTags
from fencepost.trees.tree import Tree

READ = Tree.from_string
NOTHING = PossibleTags({}, (), ())


@pytest.mark.parametrize(
    "tree",
    [
        "(TOP (S (S (NP (NNS Roads)) (VP (VBP close))) (, ,) (NP (NNS police)) (VP (VBD said)) (. .)))",
        "(TOP (S (S (NP (NNS Roads)) (VP (VBP close)) (, ,)) (NP (NNS police)) (VP (VBD said)) (. .)))",
        "(TOP (S (`` ``) (S (NP (NNS Roads)) (VP (VBP close))) (, ,) ('' '') (NP (NNS police)) (VP (VBD said)) (. .)))",
    ],
)
def test_a_report_is_the_same_wherever_its_punctuation_is(tree: str) -> None:
    assert reports(READ(tree)) == {(0, 4, 2)}
    assert questions(READ(tree)) == set()


def test_a_report_inside_the_verb_phrase_is_none() -> None:
    tree = "(TOP (S (NP (NN It)) (VP (VP (VBZ is) (VP (VBN closed))) (, ,) (NP (NNS police)) (VP (VBD said))) (. .)))"
    assert reports(READ(tree)) == set()


def test_questions_count_with_their_speaker_in_either_order() -> None:
    asked = "(TOP (S (`` ``) (SBARQ (WHADVP (WRB Why)) (. ?)) ('' '') (NP (PRP she)) (VP (VBD asked)) (. .)))"
    inverted = "(TOP (SINV (`` ``) (SQ (VBZ Is) (NP (PRP it))) (. ?) ('' '') (VP (VBD asked)) (NP (NNP Tom)) (. .)))"
    alone = "(TOP (SBARQ (WHADVP (WRB Why)) (. ?)))"
    assert questions(READ(asked)) == {("S", 0, 3, "SBARQ", 1)}
    assert questions(READ(inverted)) == {("SINV", 0, 4, "SQ", 2)}
    assert questions(READ(alone)) == set()
    assert labelled("SINV", READ(inverted)) == {(0, 4)}


def test_nouns_directly_below_a_clause_are_found_and_those_in_a_phrase_are_not() -> None:
    tree = READ("(TOP (S (NN Rain) (NP (NN rain)) (SBAR (IN in) (NN order) (S (VP (VB go)))) (PRP it)))")
    assert finders(NOTHING)["noun or pronoun directly below a clause"](tree) == {(0,), (5,)}


def test_a_noun_directly_below_a_prepositional_phrase_is_found() -> None:
    tree = READ("(TOP (NP (NP ($ $) (CD 5)) (PP (DT a) (NN share)) (PP (IN in) (NP (NN cash)))))")
    assert finders(NOTHING)["noun, number or article directly below a `PP`"](tree) == {(2,), (3,)}


def test_a_chain_is_flat_or_nested() -> None:
    one = "(S (NP (PRP I)) (VP (VBD came)))"
    flat = READ(f"(TOP (S {one} (, ,) {one} (CC and) {one} (. .)))")
    nested = READ(f"(TOP (S {one} (, ,) (S {one} (CC and) {one}) (. .)))")
    assert (chains(flat), nested_chains(flat)) == ({(0, 7)}, set())
    assert (chains(nested), nested_chains(nested)) == (set(), {(0, 7)})


def test_tags_that_words_never_have_are_counted() -> None:
    possible = PossibleTags(signs={",": (",",)}, rare_signs=(",", "."), words=("NN", "MD"))
    tree = READ("(TOP (NP (NN won) (. ,) (, dog) (. !) (NN ?)))")
    assert impossible_tags(possible, tree) == {(1, "."), (2, ","), (4, "NN")}


def test_won_is_a_verb() -> None:
    assert won_as_modal(READ("(TOP (S (MD Won) (VBD won)))")) == {(0,)}


def test_a_table_has_a_row_for_each_phenomenon_and_test_set_that_has_it() -> None:
    counts = Counts()
    counts.add({(0, 3), (1, 2)}, {(0, 3), (4, 5), (6, 7)})
    assert counts == Counts(gold=2, found=3, right=1)
    found = {
        "a/b": {("x", "wsj"): counts, ("x", "gum"): Counts()},
        "c": {("x", "wsj"): Counts(2), ("x", "gum"): Counts()},
    }
    assert list(table(found))[2:] == ["| x | wsj | 2 | 3, 1 | 0, 0 |"]
    assert as_json(found)["c"][0] == {"phenomenon": "x", "test set": "wsj", "gold": 2, "found": 0, "right": 0}


def test_every_finder_reads_the_trees_of_a_model() -> None:
    parser = fencepost.load()
    trees = parser.parse([["It", "works", ","], ["Who", "won", "?"], ["Yes"]])
    possible = PossibleTags.of(leaf for tree in trees for leaf in tree.leaves())
    for find in finders(possible).values():
        assert all(isinstance(find(tree), set) for tree in trees)
    assert rare_nouns(parser, trees).gold == 0
