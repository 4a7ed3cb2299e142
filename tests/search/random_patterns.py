"""Random trees and random patterns for hypothesis."""

from __future__ import annotations

from hypothesis import strategies as st

from fencepost.search.definitions import NUMBERED, SIMPLE, STEPS
from fencepost.trees.tree import Leaf, Node, Tree

LABELS = ("NP", "VP", "S", "NP-SBJ", "UCP")
TAGS = ("NN", "DT", "CC", ",")
WORDS = ("a", "b", "ab")
SYMBOLS = sorted({*SIMPLE} - {":"} | {":"})

LEAVES: st.SearchStrategy[Node] = st.builds(Leaf, st.sampled_from(TAGS), st.sampled_from(WORDS))


def _phrase(inner: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    return st.builds(Tree, st.sampled_from(LABELS), st.lists(inner, min_size=1, max_size=4))


TREES: st.SearchStrategy[Tree] = st.builds(
    Tree, st.sampled_from(LABELS), st.lists(st.recursive(LEAVES, _phrase, max_leaves=12), min_size=1, max_size=3)
)

DESCRIPTIONS = st.builds(
    "{}{}{}".format,
    st.sampled_from(["", "", "", "!"]),
    st.sampled_from(["", "", "@"]),
    st.one_of(
        st.just("__"),
        st.sampled_from([*LABELS, *TAGS[:3], *WORDS, "NP|VP", "NN|a"]),
        st.sampled_from(["/^N/", "/P$/", "/[ab]/", "/np/i", "/(?=N)./"]),
    ),
)
NUMBERS = st.sampled_from([1, 2, 3, -1, -2, -3])
RELATIONS = st.one_of(
    st.sampled_from(sorted(SIMPLE)),
    st.builds(lambda symbol, number: f"{symbol[:-1]}{number}", st.sampled_from(sorted(NUMBERED)), NUMBERS),
    st.builds(lambda symbol, chain: f"{symbol}({chain})", st.sampled_from(sorted(STEPS)), DESCRIPTIONS),
)


def _with_conditions(nodes: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    related = st.builds("{}{} ({})".format, st.sampled_from(["", "", "", "!", "?"]), RELATIONS, nodes)
    joined = st.builds(
        lambda parts, sign: sign.join(parts), st.lists(related, min_size=1, max_size=3), st.sampled_from([" ", " & "])
    )
    either = st.lists(joined, min_size=1, max_size=2).map(" | ".join)
    grouped = st.one_of(
        either,
        st.builds(
            "{}[{}]".format,
            st.sampled_from(["", "!"]),
            st.lists(related.filter(lambda r: r[0] != "?"), min_size=2, max_size=2).map(" | ".join),
        ),
    )
    return st.builds("{} {}".format, DESCRIPTIONS, grouped)


PATTERNS = st.recursive(DESCRIPTIONS, _with_conditions, max_leaves=4)
