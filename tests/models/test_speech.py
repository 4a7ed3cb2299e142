"""Sentences that quote somebody, and repairs of training trees."""

from __future__ import annotations

import random

import pytest
from repairs import repair
from speech import LONGEST, spoken

from fencepost.trees.tree import Tree

TOLD = Tree.from_string("(TOP (S (NP-SBJ (DT The) (NN road)) (VP (VBZ is) (ADJP-PRD (JJ closed))) (. .)))")
ASKED = Tree.from_string("(TOP (SBARQ (WHADVP (WRB Where)) (SQ (VBP are) (NP-SBJ (PRP you)) (VP (VBG going))) (. ?)))")


def every_way(tree: Tree) -> set[str]:
    return {str(said) for seed in range(3000) if (said := spoken(tree, random.Random(seed))) is not None}


def test_statements_end_in_a_comma_before_their_speaker() -> None:
    topic = "(S-TPC (NP-SBJ (DT The) (NN road)) (VP (VBZ is) (ADJP-PRD (JJ closed)))) (, ,)"
    ways = every_way(TOLD)
    assert f"(TOP (S {topic} (NP-SBJ (NNS police)) (VP (VBD said)) (. .)))" in ways
    assert f"(TOP (SINV (`` ``) {topic} ('' '') (VP (VBD said)) (NP-SBJ (DT the) (JJ old) (NN man)) (. .)))" in ways
    assert f"(TOP (S (`` ``) {topic} ('' '') (NP-SBJ (PRP she)) (VP (VBD replied)) (. .)))" in ways


def test_questions_keep_their_mark_inside_before_their_speaker() -> None:
    topic = "(SBARQ-TPC (WHADVP (WRB Where)) (SQ (VBP are) (NP-SBJ (PRP you)) (VP (VBG going))) (. ?))"
    ways = every_way(ASKED)
    assert f"(TOP (SINV (`` ``) {topic} ('' '') (VP (VBD asked)) (NP-SBJ (NNP Mary)) (. .)))" in ways
    assert f"(TOP (S (`` ``) {topic} ('' '') (NP-SBJ (PRP he)) (VP (VBD asked)) (. .)))" in ways
    assert not any("(, ,) ('' '')" in way for way in ways)


def test_the_speaker_may_come_first() -> None:
    said = "(SBARQ (WHADVP (WRB Where)) (SQ (VBP are) (NP-SBJ (PRP you)) (VP (VBG going))))"
    way = f"(TOP (S (NP-SBJ (DT The) (NN guard)) (VP (VBD asked) (, ,) (`` ``) {said}) (. ?) ('' '')))"
    assert way in every_way(ASKED)


def test_pronouns_never_follow_their_verb() -> None:
    assert not any("(SINV" in way and "(PRP he))" in way for way in every_way(TOLD) | every_way(ASKED))


@pytest.mark.parametrize(
    "tree",
    [
        "(TOP (NP (DT The) (NN road)) (. .))",  # no clause
        "(TOP (S (NP (PRP It)) (VP (VBZ works))))",  # no mark at its end
        "(TOP (S (`` ``) (NP (PRP It)) (VP (VBZ works)) (. .) ('' '')))",  # already quoted
        f"(TOP (S {'(NP (PRP It)) ' * LONGEST}(VP (VBZ works)) (. .)))",  # too long
    ],
)
def test_other_sentences_are_left_alone(tree: str) -> None:
    assert not every_way(Tree.from_string(tree))


def test_lone_nouns_in_a_clause_become_phrases_and_commas_commas() -> None:
    tree = Tree.from_string("(TOP (FRAG (NNS Thanks) (. ,) (SBAR (IN in) (NN order) (S (DT the) (NN jury)))))")
    fixed = "(TOP (FRAG (NP (NNS Thanks)) (, ,) (SBAR (IN in) (NN order) (S (DT the) (NN jury)))))"
    assert str(repair(tree)) == fixed
