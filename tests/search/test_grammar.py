"""Reading patterns: what they say, and what is wrong with those that say nothing."""

from __future__ import annotations

import pickle

import pytest

from fencepost.errors import FencepostError, PatternError
from fencepost.search.grammar import parse_pattern
from fencepost.search.syntax import All, Any, Related

BAD = [
    ("", 1, "the pattern is empty", "such as NP, or NP < PP"),
    ("NP <", 5, "a label is missing after <", "a label such as NP, alternatives such as"),
    ("NP < (", 7, "a label is missing after (", "a label such as NP, alternatives such as"),
    ("NP < (NN", 6, "this ( is never closed", "close it with )"),
    ("NP (< NN", 4, "this ( is never closed", "close it with )"),
    ("NP << (NN", 7, "this ( is never closed", "close it with )"),
    ("()", 2, "there is no node between the brackets", "such as (NP < NN)"),
    ("NP < ()", 7, "there is no node between the brackets", "such as (NP < NN)"),
    ("NP)", 3, "this ) was never opened", "remove it, or open it with ("),
    ("NP < NN)", 8, "this ) was never opened", "remove it, or open it with ("),
    ("NP < NN]", 8, "this ] was never opened", "remove it, or open it with ["),
    ("NP [< NN", 4, "this [ is never closed", "close it with ]"),
    ("NP []", 5, "a relation must follow [", "such as [ < NP"),
    ("NP [NN]", 5, "a relation must follow [", "such as [ < NN"),
    ("NP &", 4, "& must stand between two relations", "such as NP < DT & < NN"),
    ("NP & < NN", 4, "& must stand between two relations", "such as NP < DT & < NN"),
    ("NP < NN &", 10, "a relation must follow &", "such as & < NP"),
    ("NP < NN |", 10, "a relation must follow |", "such as | < NP"),
    ("NP | VP", 4, "| must stand between two relations", "write alternative labels without blanks,"),
    ("NP < NN | NNS", 11, "a relation must follow |", "such as | < NNS; alternative labels have no"),
    ("NP | < NN", 4, "| must stand between two relations", "write alternative labels without blanks,"),
    ("NP < NN & & < DT", 11, "a relation must follow &", "such as & < NP"),
    ("NP NN", 4, "a relation is missing before NN", "such as < NN"),
    ("NP < NN DT", 9, "a relation is missing before DT", "such as < DT"),
    ("NP < NN (DT)", 9, "a relation is missing before (", "such as < (NP < NN)"),
    ("< NN", 1, "a label is missing before <", "write __ for any node, or an expression"),
    ("NP < < NN", 6, "a label is missing after <", "write __ for any node, or an expression"),
    ("NP $$ NN", 4, "$$ isn't a relation", "$ is any sister, $++ and $-- those to one side"),
    ("NP !", 5, "a relation must follow !", "such as ! < NP"),
    ("NP ! NN", 6, "a relation must follow !", "such as ! < NN"),
    ("NP ?", 5, "a relation must follow ?", "such as ? < NP"),
    ("NP ?!< NN", 4, "a relation can't be both negated and optional", "remove ! or ?"),
    ("NP !?< NN", 4, "a relation can't be both negated and optional", "remove ! or ?"),
    ("NP < !", 7, "a label is missing after !", "a label such as NP, alternatives such as"),
    ("NP < @", 7, "a label is missing after @", "a label such as NP, alternatives such as"),
    ("@!NP", 2, "! must come before @, and only once", "such as !@NP"),
    ("!!NP", 2, "! must come before @, and only once", "such as !@NP"),
    ("NP <0 NN", 5, "children are counted from 1", "<1 is the first, <-1 the last"),
    ("NP <-0 NN", 6, "children are counted from 1", "<1 is the first, <-1 the last"),
    ("NP <- -2 NN", 7, "there are two minus signs before the number", "such as <-2"),
    ("NP <1.5 NN", 6, "a label is missing after 1", "a label such as NP, alternatives such as"),
    ("=x < NN", 2, "no node before this one is named x", "name it first, as in NP=x"),
    ("NP < =x", 7, "no node before this one is named x", "name it first, as in NP=x"),
    ("NP=x < NN=x", 11, "another node is already named x", "write =x without a label to refer to that"),
    ("NP !< NN=x", 10, "x names a node that is negated", "a negated node can't be named"),
    ("NP ![< NN=x]", 11, "x names a node that is negated", "a negated node can't be named"),
    ("NP=", 4, "a name is missing after =", "a name begins with a letter, as in NP=subject"),
    ("NP=1", 4, "a name is missing after =", "a name begins with a letter, as in NP=subject"),
    ("NP=x=y", 5, "a node has only one name", "remove one of them"),
    ("NP=x < !=x", 8, "! can't stand before =x", "negate the relation, as in !== =x or !< =x"),
    ("NP=x << @=x", 9, "@ can't stand before =x", "remove the @"),
    ("NP < ~y", 7, "no node before this one is named y", "name it first, as in NP=y"),
    ("NP ~x", 4, "~ takes the place of a label", "such as NP=x $ ~x"),
    ("/NP( < NN", 1, "this expression is never closed", "end it with /, as in /^NP/"),
    ("/NP(/", 4, "this bracket is never closed", r"write \( for a bracket in a label"),
    ("/NP[/", 4, "this [ is never closed", r"write \[ for the character"),
    ("/NP)/", 4, "this bracket was never opened", r"write \) for a bracket in a label"),
    ("/*NP/", 2, "* has nothing to repeat", r"write \* for the character"),
    ("/a{2/", 3, "a { must begin a number of repeats, such as {2} or {1,3}", r"write \{ for the character"),
    ("/a{3,1}/", 3, "{3,1} counts backwards", "write {1,3}"),
    ("/[z-a]/", 3, "the range z-a goes backwards", "such as a-z"),
    (r"/\p{Nonsense}/", 2, "the class 'Nonsense' is unknown", r"such as \p{L}, \p{Lu}, \p{Punct}, \p{IsGreek} or"),
    (r"/\p{Han}/", 2, "the class 'Han' is unknown", r"\p{IsGreek} or \p{InGreek}"),
    (r"/\p{InKlingon}/", 2, "the class 'InKlingon' is unknown", r"\p{IsGreek} or \p{InGreek}"),
    (r"/\y/", 2, r"\y isn't a known escape", "write y for the letter"),
    ("/(?<=a+)b/", 2, "what (?<=…) and (?<!…) look for must have one length", "write one for each length"),
    (r"/a\/", 1, "this expression is never closed", "end it with /, as in /^NP/"),
    (r"/(.)\2/", 5, "the expression has no group 2", "groups are numbered from 1"),
    ("/NP/q", 5, "'q' isn't a flag of expressions", "i ignores case, as in /^np/i"),
    ("/(.)P/#2%x", 8, "the expression has no group 2", "it has 1; #0 is the whole match"),
    ("/(.)P/#%x", 8, "the number of a group is missing after #", "such as /(.)P/#1%x"),
    ("/(.)P/#1", 9, "% and the name of a variable must follow the number", "such as /(.)P/#1%x"),
    ("/(.)P/#1%", 10, "the name of a variable is missing after %", "such as /(.)P/#1%x"),
    ("/(.)P/=a#1%x", 9, "groups come right after the expression, and the name last", "such as /(.)P/#1%x=name"),
    ("!/(.)P/#1%x", 8, "a negated label has no groups", "remove the !, or the group"),
    ("NP <+ NN", 7, "( must follow <+", "such as NP <+(NP) NN"),
    ("NP <+() NN", 7, "there is no node between the brackets", "such as (NP < NN)"),
    ("NP <+(VP < V) NN", 10, "< can't stand inside <+(…)", "write one label inside the brackets,"),
    ("NP <+(VP=x) NN", 9, "= can't stand inside <+(…)", "write one label inside the brackets,"),
    ("NP <+(VP NN", 10, "NN can't stand inside <+(…)", "write one label inside the brackets,"),
    ("NP .+VP NN", 6, "( must follow .+", "such as NP .+(NP) NN"),
    (
        "(S) < NP",
        1,
        "relations can't follow a label that stands alone in brackets",
        "remove the brackets around the label",
    ),
    ("NP <+!NP NN", 6, "( must follow <+", "such as NP <+(NP) NN"),
    ("NP <+@/^N/ NN", 6, "( must follow <+", "such as NP <+(NP) NN"),
    ("NP <+[NP", 6, "this [ is never closed", "close it with ]"),
    ("NP <+[NP) NN", 9, ") can't stand inside <+[…]", "write one label inside the brackets,"),
    ("NP <+/^N/=x NN", 11, "no node before this one is named x", "name it first, as in NP=x"),
    ("NP <... DT", 9, "{ must follow <...", "such as NP <... { DT ; NN }"),
    ("NP <... { DT ; NN", 9, "this { is never closed", "close it with }"),
    ("NP % VP", 4, "% can't stand here", "see the list of relations in docs/search.md"),
    ("NP < _x", 6, "'_' can't begin a label", "a label begins with a letter; write any"),
    ("NP ... VP", 6, "a label is missing after ..", "write __ for any node, or an expression"),
    ("_ROOT_|TOP", 7, "| must stand between two relations", "write alternative labels without blanks,"),
    ("_ROOT_ S", 8, "a relation is missing before S", "such as < S"),
    ("NP >+(_ROOT_) S", 7, "a chain is described by a label", "such as <+(VP)"),
    ("NP < NN : ", 10, "a label is missing after :", "a label such as NP, alternatives such as"),
]


@pytest.mark.parametrize(("pattern", "column", "problem", "hint"), BAD)
def test_bad_pattern_is_refused_at_its_column_with_a_hint(pattern: str, column: int, problem: str, hint: str) -> None:
    with pytest.raises(PatternError) as caught:
        parse_pattern(pattern)
    assert (caught.value.column, caught.value.problem) == (column, problem)
    assert hint in (caught.value.hint or "")


def test_error_shows_the_pattern_with_a_caret_below_the_column() -> None:
    with pytest.raises(FencepostError) as caught:
        parse_pattern("NP < (NN $$ DT)")
    assert caught.value.message.splitlines()[1:] == ["  NP < (NN $$ DT)", "           ^"]
    assert pickle.loads(pickle.dumps(caught.value)).column == caught.value.column  # type: ignore[attr-defined]


def test_caret_stays_in_place_after_characters_that_cannot_be_printed() -> None:
    with pytest.raises(PatternError) as caught:
        parse_pattern("NP\t<\t(NN")
    assert caught.value.message.splitlines()[1:] == [r"  NP\t<\t(NN", "         ^"]


def test_nested_brackets_are_limited() -> None:
    with pytest.raises(PatternError, match="more than 100 brackets"):
        parse_pattern("NP < " + "(NP < " * 200 + "NN" + ")" * 200)


def test_long_pattern_is_refused_without_repeating_it() -> None:
    with pytest.raises(PatternError) as caught:
        parse_pattern("NP < NN " * 10_000)
    assert len(str(caught.value)) < 300


SAME = [
    ("NP < NN < DT", "NP < NN & < DT"),
    ("NP < NN < DT", "NP<NN<DT"),
    ("NP < NN | < DT & < JJ", "NP [< NN | [< DT & < JJ]]"),
    ("NP < NN", "(NP < NN)"),
    ("NP < NN", "((NP < NN))"),
    ("NP < NN < DT", "(NP < NN) < DT"),
    ("NP < NN | < DT", "NP (< NN | < DT)"),
    ("NP !< NN", "NP !!< NN"),
    ("NP !< NN", "NP ![< NN]"),
    ("NP <, DT", "NP <1 DT"),
    ("NP <- NN", "NP <-1 NN"),
    ("NP <- NN", "NP <` NN"),
    ("NP <- NN", "NP <' NN"),
    ("NP <<- NN", "NP <<' (NN)"),
    ("NN >>- NP", "NN >>' NP"),
    ("NP <-2 NN", "NP <- 2 NN"),
    ("NP >- S", "NP >` S"),
    ("NP <<- NN", "NP <<` NN"),
    ("NP $. VP", "NP $+ VP"),
    ("NP $, VP", "NP $- VP"),
    ("NP $.. VP", "NP $++ VP"),
    ("NP $,, VP", "NP $-- VP"),
    ("NP=x < NN", "NP = x < NN"),
    ("NP < NN", 'NP < "NN"'),
    ("NP <+(VP|NP) NN", "NP <+ ( NP|VP ) NN"),
    ("NP <+(VP|NP) NN", "NP <+[VP|NP] NN"),
    ("NP <+(!@NP) NN", "NP <+[!@NP] NN"),
    ("NP <+(/^N/) NN", "NP <+/^N/ NN"),
    ("NP <+(!/^N/) NN", "NP <+!/^N/ NN"),
    ("NP <... { DT ; NN }", "NP <1 DT <2 NN !<3 __"),
    ("NP <...{DT;NN}", "NP <1 DT <2 NN !<3 __"),
    ("_ROOT_ < S", "(__ !> __) < S"),
    ("NP > (S > _ROOT_=top)", "NP > (S > (__=top !> __))"),
    ("NP $ !_ROOT_", "NP $ (__ > __)"),
    ("S=x << (NP >=x)", "S=x << (NP > =x)"),
    ("S=x << (NP <=x)", "S=x << (NP < =x)"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_two_ways_to_say_the_same(one: str, other: str) -> None:
    assert parse_pattern(one) == parse_pattern(other)


@pytest.mark.parametrize(
    ("pattern", "labels"),
    [
        ("NP|VP", {"NP", "VP"}),
        ("NP|VP|", {"NP", "VP"}),
        ("-LRB-", {"-LRB-"}),
        ("NP-SBJ", {"NP-SBJ"}),
        ("''", {"''"}),
        ("'s", {"'s"}),
        ("``", {"``"}),
        ("é", {"é"}),
        ("中文", {"中文"}),
        ('"PRP$"', {"PRP$"}),
        ('"a b"', {"a b"}),
        (r'"\""', {'"'}),
        ('"', {'"'}),
        ("a_1", {"a_1"}),
    ],
)
def test_labels(pattern: str, labels: set[str]) -> None:
    assert parse_pattern(pattern).description.labels == labels


def test_names_of_alternatives_may_repeat() -> None:
    condition = parse_pattern("S [< NP=x | < VP=x] < =x").condition
    assert isinstance(condition, All)
    assert isinstance(condition.parts[0], Any)
    assert isinstance(condition.parts[1], Related)
    assert condition.parts[1].node.description.reference == "x"


def test_apostrophe_is_a_label_unless_a_label_follows() -> None:
    condition = parse_pattern("POS <'s").condition
    assert isinstance(condition, Related)
    assert condition.node.description.labels == {"'s"}
