"""Java's regular expressions: the same matches as Java's, in bounded time."""

from __future__ import annotations

import pickle
import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.errors import InputError
from fencepost.search import java_regex
from fencepost.search.machine import build
from fencepost.search.regexes import Regex, to_python

# What Java's Matcher.find answers: the match and its groups, or None.
JAVA = [
    ("NP", "XNPX", ("NP",)),
    ("^NP$", "NP-SBJ", None),
    ("^NP", "NP-SBJ", ("NP",)),
    ("(?i)np", "xNP", ("NP",)),
    ("a(?i)b", "aB", ("aB",)),
    ("a(?i)b", "AB", None),
    ("(?:a(?i)b)c", "aBC", None),
    ("(?i)é", "É", None),
    ("(?iu)é", "É", ("É",)),
    ("(?i:a)b", "Ab", ("Ab",)),
    (r"\w+", "é_a1", ("_a1",)),
    (r"\d", "٣", None),
    (r"(?U)\d", "٣", ("٣",)),
    (r"\p{L}+", "12éa", ("éa",)),
    (r"\p{Lu}", "aÉ", ("É",)),
    (r"\P{L}", "a1", ("1",)),
    (r"\pL", "1a", ("a",)),
    (r"\p{Punct}", "a.b", (".",)),
    (r"\p{Upper}", "É", None),
    (r"\p{IsGreek}", "aλ", ("λ",)),
    (r"\p{IsAlphabetic}", "1λ", ("λ",)),
    (r"\p{IsHan}+", "の人々〇", ("人々〇",)),
    (r"\p{IsHiragana}+", "アの", ("の",)),
    (r"\p{IsKatakana}+", "・カー", ("カ",)),
    (r"\p{InKatakana}+", "あ・カー", ("・カー",)),
    (r"\p{IsLatin}+", "1ªﬁＡé", ("ªﬁＡé",)),
    (r"\p{IsIdeographic}+", "々〇人", ("〇人",)),
    (r"\p{InLATIN_1_SUPPLEMENT}", "aé", ("é",)),
    (r"\p{InLatin-1 Supplement}", "aé", ("é",)),
    (r"\p{sc=Greek}", "aλ", ("λ",)),
    (r"\p{blk=Greek}", "aλ", ("λ",)),
    (r"(?U)\w+", "²é", ("é",)),
    (r"(?U)\s", "\x1c\u3000", ("\u3000",)),
    ("[a-c&&[^b]]+", "abcc", ("a",)),
    ("[a-c&&[b-d]]+", "abcd", ("bc",)),
    ("[a-c[x-z]]+", "qaxz", ("axz",)),
    ("[^a-c[x]]", "axq", ("q",)),
    (r"[\w&&[^\d]]+", "12ab", ("ab",)),
    ("[]a]+", "x]a", ("]a",)),
    ("[a-]+", "x-a", ("-a",)),
    ("[a^]+", "^a", ("^a",)),
    (r"\Qa.b\E+", "aXb a.bb", ("a.bb",)),
    (r"\x41\u0042\x{43}\0104", "ABCD", ("ABCD",)),
    ("a*+a", "aaa", None),
    ("a++b", "aab", ("aab",)),
    ("(?>a|ab)c", "abc", None),
    ("(?>ab|a)c", "abc", ("abc",)),
    ("(a)(b)?", "ac", ("a", "a", None)),
    (r"(.)\1", "abba", ("bb", "b")),
    (r"(?<x>.)\k<x>", "abba", ("bb", "b")),
    ("(?=a)a", "ba", ("a",)),
    ("a(?!b)", "abac", ("a",)),
    ("(?<=a)b", "cbab", ("b",)),
    ("(?<!a)b", "abcb", ("b",)),
    ("(?<=a|bc)d", "bcd", ("d",)),
    ("(?<!a|bc)d", "bcd", None),
    ("a|ab", "ab", ("a",)),
    ("(a|ab)(c|bcd)", "abcd", ("abcd", "a", "bcd")),
    ("a{2,3}", "aaaa", ("aaa",)),
    ("a{2,3}?", "aaaa", ("aa",)),
    ("a{2}", "a", None),
    (r"\bb", "ab b", ("b",)),
    (r"\Bb", "ab b", ("b",)),
    ("(?x) a b # c", "ab", ("ab",)),
    ("^$", "", ("",)),
    ("a??b", "ab", ("ab",)),
    (r"\$", "PRP$", ("$",)),
    (r"\.", "a.", (".",)),
]


@pytest.mark.parametrize(("source", "label", "expected"), JAVA)
def test_expression_matches_as_in_java(source: str, label: str, expected: tuple[str | None, ...] | None) -> None:
    assert Regex(source).search(label) == expected


@pytest.mark.parametrize(("source", "label", "expected"), JAVA)
def test_machine_finds_what_python_finds(source: str, label: str, expected: tuple[str | None, ...] | None) -> None:
    machine = build(*java_regex.parse(source))
    assert machine is None or machine.search(label) == expected


def test_machine_can_do_all_but_references_and_atomic_groups() -> None:
    impossible = {source for source, _, _ in JAVA if build(*java_regex.parse(source)) is None}
    assert impossible == {"(?>a|ab)c", "(?>ab|a)c", r"(.)\1", r"(?<x>.)\k<x>", "(?<=a|bc)d", "(?<!a|bc)d"}


# What is repeated here is never empty: matchers disagree on how often nothing can be repeated, and it doesn't matter.
EXPRESSIONS = st.recursive(
    st.sampled_from(["a", "b", ".", "[ab]", "^", "$", r"\b", "(?=a)", "(?!b)"]),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map("".join),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: f"(?:{'|'.join(parts)})"),
        inner.map(lambda part: f"({part})"),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "*?", "??", "{1,2}", "{2}"])).map(
            lambda p: f"(?:{p[0]}[ab]){p[1]}"
        ),
    ),
    max_leaves=6,
)


@settings(max_examples=300, deadline=None)
@given(EXPRESSIONS, st.text("abc", max_size=6))
def test_machine_agrees_with_python_on_random_expressions(source: str, label: str) -> None:
    part, groups = java_regex.parse(source)
    machine = build(part, groups)
    assert machine is not None
    found = re.compile(to_python(part)).search(label)
    ours = machine.search(label)
    assert (ours is None) == (found is None)
    if ours is not None and found is not None:
        assert ours[0] == found[0]


CATASTROPHIC = [
    "(a+)+$",
    "(a|a)*$",
    "(a|aa)+$",
    "(.*a){20}$",
    "^(([a-z])+.)+[A-Z]([a-z])+$",
    "(a?){30}a{30}$",
    "(.*)*b",
    ".*.*.*.*.*=.*",
    "(?:(?:a*)*)*b",
    "(?=(a+)+$)b",
    "a*a*a*a*a*b",
]


@pytest.mark.parametrize("source", CATASTROPHIC)
@pytest.mark.parametrize("label", ["a" * 30 + "!", "a" * 400 + "!"], ids=["30", "400"])
def test_catastrophic_expression_takes_bounded_time(source: str, label: str) -> None:
    begin = time.process_time()
    Regex(source).search(label)
    assert time.process_time() - begin < 3


def test_what_cannot_be_bounded_is_refused() -> None:
    expression = Regex(r"(a+)+\1$")
    assert expression.search("aa") is not None
    with pytest.raises(InputError, match="exponential"):
        expression.search("a" * 60 + "!")


def test_lookahead_at_every_character_of_a_giant_label_is_refused() -> None:
    expression = Regex("(?=(a+)+b)c")
    assert expression.search("a" * 400 + "bc") is None
    with pytest.raises(InputError, match="takes too long on a label of 3001 characters"):
        expression.search("a" * 3_000 + "!")


def test_lookbehind_of_fixed_length_costs_little() -> None:
    assert Regex("(?<=a)(a+)+b$").search("a" * 3_000 + "b") is not None


def test_expressions_can_be_pickled() -> None:
    again = pickle.loads(pickle.dumps(Regex("^np", "i")))
    assert again == Regex("^np", "i")
    assert again.search("NP") == ("NP",)
