"""Arbitrary trees for property tests: any label, any word that text can hold."""

from __future__ import annotations

from hypothesis import strategies as st

from fencepost.trees.tree import Leaf, Tree

AWKWARD_WORDS = [
    "(", ")", "{", "}", "[", "]", "-LRB-", "-RRB-", "-LRB(", "-LCB{", "((", ":-)", "``", "''", '"', "'", "\\", "/", "*",
    "#", "%%", "/*", "-NONE-", "שלום", "مرحبا", "👩‍👩‍👧", "e\u0301", "10\xa0000", "\u200aA", "\u3000",
    "\ufeff", "\x85", "\u2028",
]  # fmt: skip

symbols = st.text(
    st.characters(exclude_categories=["Cs", "Zs", "Zl", "Zp", "Cc"], exclude_characters="()"), min_size=1, max_size=8
)
labels = st.sampled_from(["S", "NP", "VP", "NP-SBJ", "-X-", "ADVP|PRT", "TOP"]) | symbols
words = st.sampled_from(AWKWARD_WORDS) | st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0 \t\n\r\f\v"), min_size=1, max_size=12
)
leaves = st.builds(Leaf, labels, words)
trees = st.recursive(
    st.builds(Tree, labels, st.lists(leaves, min_size=1, max_size=3)),
    lambda below: st.builds(Tree, labels, st.lists(below | leaves, min_size=1, max_size=4)),
    max_leaves=25,
)
