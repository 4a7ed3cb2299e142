"""One notation for all treebanks."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from harmonize import (
    close_brackets,
    harmonize,
    name_wh_phrases,
    penn_words,
    rename_citations,
    rename_tags,
    replace_nml,
    wrap_parentheses,
)

from fencepost.trees.tree import Tree


def check(step: Callable[[Tree], Tree], before: str, after: str) -> None:
    assert str(step(Tree.from_string(before))) == after


def test_a_closing_bracket_goes_down_to_the_opening_one() -> None:
    check(
        close_brackets,
        "(TOP (S (NP (NP (NN x)) (-LRB- -LRB-) (NP (NN y))) (-RRB- -RRB-) (VP (VBZ is))))",
        "(TOP (S (NP (NP (NN x)) (-LRB- -LRB-) (NP (NN y)) (-RRB- -RRB-)) (VP (VBZ is))))",
    )


def test_the_innermost_open_bracket_is_closed_first() -> None:
    check(
        close_brackets,
        "(TOP (S (NP (-LRB- -LRB-) (NP (-LRB- [) (NN y))) (-RRB- ]) (-RRB- -RRB-)))",
        "(TOP (S (NP (-LRB- -LRB-) (NP (-LRB- [) (NN y) (-RRB- ])) (-RRB- -RRB-))))",
    )


def test_a_bracket_beside_its_opening_one_stays() -> None:
    tree = "(TOP (NP (-LRB- -LRB-) (NP (NN y)) (-RRB- -RRB-)))"
    check(close_brackets, tree, tree)


def test_a_phrase_in_brackets_after_another_is_a_parenthesis() -> None:
    check(
        wrap_parentheses,
        "(TOP (NP (NP (NN x)) (-LRB- -LRB-) (NP (NN y)) (-RRB- -RRB-)))",
        "(TOP (NP (NP (NN x)) (PRN (-LRB- -LRB-) (NP (NN y)) (-RRB- -RRB-))))",
    )


def test_brackets_around_a_whole_phrase_go_out_of_it() -> None:
    check(
        wrap_parentheses,
        "(TOP (NP (NN law) (VP (-LRB- -LRB-) (VBN seen) (RB above) (-RRB- -RRB-))))",
        "(TOP (NP (NN law) (PRN (-LRB- -LRB-) (VP (VBN seen) (RB above)) (-RRB- -RRB-))))",
    )


@pytest.mark.parametrize(
    "tree",
    [
        "(TOP (S (-LRB- -LRB-) (NP (PRP It)) (VP (VBZ rains)) (. .) (-RRB- -RRB-)))",
        "(TOP (NP (NN poly) (-LRB- -LRB-) (NN A) (-RRB- -RRB-) (NN tail)))",
        "(TOP (NP (-LRB- -LRB-) (CD 317) (-RRB- -RRB-) (CD 634-6102)))",
        "(TOP (NP (LST (-LRB- -LRB-) (LS a) (-RRB- -RRB-)) (NN x)))",
        "(TOP (NP (NN x) (-LRB- -LRB-) (NP (NN y))))",
    ],
)
def test_other_brackets_make_no_parenthesis(tree: str) -> None:
    check(wrap_parentheses, tree, tree)


def test_a_citation_in_brackets_is_a_parenthesis_and_else_a_noun_phrase() -> None:
    check(
        rename_citations,
        "(TOP (CIT (-LRB- -LRB-) (CD 1) (-RRB- -RRB-)))",
        "(TOP (PRN (-LRB- -LRB-) (CD 1) (-RRB- -RRB-)))",
    )
    check(rename_citations, "(TOP (CIT (NNP Huang) (CD 1999)))", "(TOP (NP (NNP Huang) (CD 1999)))")


def test_inner_structure_of_noun_phrases_goes() -> None:
    check(
        replace_nml,
        "(TOP (NP (DT the) (NML (NML (NN amino) (NN acid)) (NN sequence)) (NN data)))",
        "(TOP (NP (DT the) (NN amino) (NN acid) (NN sequence) (NN data)))",
    )


def test_an_nml_in_a_parenthesis_is_a_noun_phrase() -> None:
    check(
        replace_nml,
        "(TOP (NP (NN x) (PRN (-LRB- -LRB-) (NML (NN y)) (-RRB- -RRB-))))",
        "(TOP (NP (NN x) (PRN (-LRB- -LRB-) (NP (NN y)) (-RRB- -RRB-))))",
    )


def test_an_nml_with_a_phrase_after_its_noun_is_a_nac() -> None:
    check(
        replace_nml,
        "(TOP (NP (NML (NML (NNP Bank)) (PP (IN of) (NP (NNP England)))) (NNS notes)))",
        "(TOP (NP (NAC (NNP Bank) (PP (IN of) (NP (NNP England)))) (NNS notes)))",
    )


def test_a_range_is_no_phrase_after_a_noun() -> None:
    check(
        replace_nml,
        "(TOP (NP (NML (NML (CD 3)) (PP (SYM -) (NP (CD 5)))) (NNS days)))",
        "(TOP (NP (CD 3) (PP (SYM -) (NP (CD 5))) (NNS days)))",
    )


def test_coordinated_phrases_at_the_end_of_a_noun_phrase_are_nx() -> None:
    check(
        replace_nml,
        "(TOP (NP (DT a) (NML (NML (NN land) (NN agent)) (CC and) (NML (NN poet)))))",
        "(TOP (NP (DT a) (NX (NX (NN land) (NN agent)) (CC and) (NX (NN poet)))))",
    )


def test_coordinated_modifiers_are_flat() -> None:
    check(
        replace_nml,
        "(TOP (NP (NML (NML (NN land)) (CC and) (NML (NN sea))) (NNS birds)))",
        "(TOP (NP (NN land) (CC and) (NN sea) (NNS birds)))",
    )


def test_a_relative_pronoun_is_a_wh_phrase() -> None:
    check(
        name_wh_phrases,
        "(TOP (NP (NP (NNS men)) (SBAR (NP (WP who)) (S (VP (VBP sing))))))",
        "(TOP (NP (NP (NNS men)) (SBAR (WHNP (WP who)) (S (VP (VBP sing))))))",
    )


def test_a_noun_phrase_that_holds_a_free_relative_stays() -> None:
    tree = "(TOP (SBAR (IN that) (NP (SBAR (WHNP (WP what)) (S (VP (VBZ is)))))))"
    check(name_wh_phrases, tree, tree)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("(IN to)", "(TO to)"),
        ("(IN of)", "(IN of)"),
        ("(HYPH /)", "(SYM /)"),
        ("(HYPH -)", "(HYPH -)"),
        ("(-LSB- [)", "(-LRB- [)"),
        ("(NFP ...)", "(: ...)"),
        ("(AFX pre)", "(JJ pre)"),
        ("(AFX 's)", "(NNS 's)"),
    ],
)
def test_tags_are_those_of_penn_and_the_hyphen(before: str, after: str) -> None:
    check(rename_tags, f"(TOP {before})", f"(TOP {after})")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('(`` ")', "(`` ``)"),
        ("('' ”)", "('' '')"),
        ("(`` ')", "(`` `)"),
        ("(POS ')", "(POS ')"),
        ("(CD 1\\/2)", "(CD 1/2)"),
        ("(-LRB- -LSB-)", "(-LRB- [)"),
        ("(-RRB- -RSB-)", "(-RRB- ])"),
    ],
)
def test_words_are_written_as_our_tokeniser_writes_them(before: str, after: str) -> None:
    check(penn_words, f"(TOP {before})", f"(TOP {after})")


def test_a_phrase_over_itself_is_merged_after_all_steps() -> None:
    check(harmonize, "(TOP (NP (NML (NP (NN x)))))", "(TOP (NP (NN x)))")
