"""The shape of a tree without punctuation: how many phrases it has, how wide they are, and to which side they grow."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from fencepost.trees.brackets import ROOT_SYMBOLS
from fencepost.trees.layout import Child, Layout


class Shape(NamedTuple):
    """Counts that add up over trees. The root symbol isn't counted."""

    words: int
    phrases: int
    children: int  # of all phrases
    branching: int  # phrases with two or more children
    right: int  # of these, the ones whose last child has more words than the first
    left: int  # of these, the ones whose first child has more words than the last


def shape(layout: Layout) -> Shape:
    """The shape of a tree.

    >>> from fencepost import Tree
    >>> tree = Tree.from_string("(S (NP (PRP She)) (VP (VBD was) (NP (DT a) (NN cook))))")
    >>> shape(Layout(tree))
    Shape(words=4, phrases=4, children=7, branching=3, right=2, left=0)
    """
    first = _first(layout)
    children = layout.children[first:]
    branching = [each for each in children if len(each) > 1]
    balance = [_size(layout, each[-1]) - _size(layout, each[0]) for each in branching]
    return Shape(
        words=len(layout.leaves),
        phrases=len(children),
        children=sum(map(len, children)),
        branching=len(branching),
        right=sum(difference > 0 for difference in balance),
        left=sum(difference < 0 for difference in balance),
    )


def labels(layout: Layout) -> Counter[str]:
    """How many phrases have each label; functions such as -SBJ are ignored."""
    return Counter(layout.names[_first(layout) :])


def _first(layout: Layout) -> int:
    return 1 if layout.names[0] in ROOT_SYMBOLS else 0


def _size(layout: Layout, child: Child) -> int:
    return 1 if child.is_word else layout.ends[child.number] - layout.starts[child.number]
