"""The same tree with its sentence written as people write: without a full stop, in capitals, with other quotes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from nodes import change_leaves, merge_repeats, with_leaves

from fencepost.trees.tree import Leaf, Tree

SMALL_IN_TITLES: Final = frozenset({"IN", "DT", "CC", "TO"})
NEGATIONS: Final = ("n't", "n’t")
STRAIGHT: Final = {"``": '"', "''": '"', "`": "'"}
CURLY: Final = {"``": "“", "''": "”", "`": "‘", "'": "’"}


def without_final_stop(tree: Tree) -> Tree | None:
    """None if the last word isn't a stop, or is the only word. An S that held only an S and the stop goes, too."""
    leaves = tree.leaves()
    shorter = _without_last(tree) if len(leaves) > 1 and leaves[-1].tag == "." else None
    return None if shorter is None else merge_repeats(shorter)


def _without_last(tree: Tree) -> Tree | None:
    *others, last = tree.children
    shorter = _without_last(last) if isinstance(last, Tree) else None
    children = others if shorter is None else [*others, shorter]
    return Tree(tree.label, children) if children else None


def in_capitals(tree: Tree) -> Tree:
    return change_leaves(tree, lambda leaf: Leaf(leaf.tag, leaf.word.upper()))


def in_small_letters(tree: Tree) -> Tree:
    return change_leaves(tree, lambda leaf: Leaf(leaf.tag, leaf.word.lower()))


def as_headline(tree: Tree) -> Tree:
    """Every Word with a Capital, except short ones in between and parts of words (the "n't" of "Don't")."""
    first, *others = tree.leaves()
    return with_leaves(tree, [_capitalized(first), *map(_headline_word, others)])


def _headline_word(leaf: Leaf) -> Leaf:
    is_small = leaf.word.lower() in NEGATIONS or (len(leaf.word) < 4 and leaf.tag in SMALL_IN_TITLES)
    return Leaf(leaf.tag, leaf.word.lower()) if is_small else _capitalized(leaf)


def _capitalized(leaf: Leaf) -> Leaf:
    return Leaf(leaf.tag, leaf.word[0].upper() + leaf.word[1:])


def with_small_start(tree: Tree) -> Tree | None:
    """None if the first word is a name, an abbreviation, "I", or already in lower case."""
    first, *others = tree.leaves()
    if first.tag in ("NNP", "NNPS") or first.word == "I" or not first.word.istitle():
        return None
    return with_leaves(tree, [Leaf(first.tag, first.word.lower()), *others])


def with_quotes(tree: Tree, quotes: Mapping[str, str]) -> Tree:
    """The tree with Penn's quotes written as ``STRAIGHT`` or ``CURLY`` says."""
    return change_leaves(
        tree, lambda leaf: Leaf(leaf.tag, quotes.get(leaf.word, leaf.word) if leaf.tag in ("``", "''") else leaf.word)
    )
