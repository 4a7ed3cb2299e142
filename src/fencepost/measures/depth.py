"""Yngve's and Frazier's depth of the words of a tree, and the depth to which its clauses are embedded.

Yngve (1960): number the branches of every phrase from the right, starting with 0. The depth of a word is the sum of the
numbers on its path to the root: how much a speaker has to remember at this word.

Frazier (1985): walk up from a word for as long as the path comes from the first child. Each phrase on the way counts
1, a clause 1.5: how much structure a listener has to open at this word. A word that isn't a first child counts 0.

Both take trees without punctuation, and the root symbol doesn't count.
"""

from __future__ import annotations

from typing import Final

from fencepost.trees.brackets import ROOT_SYMBOLS
from fencepost.trees.clauses import find_clauses
from fencepost.trees.layout import Layout

_CLAUSE_LABELS: Final = frozenset({"S", "SBAR", "SBARQ", "SINV", "SQ"})
_CLAUSE_WEIGHT: Final = 1.5


def yngve_depths(layout: Layout) -> list[int]:
    """The Yngve depth of every word.

    >>> from fencepost import Tree
    >>> tree = Tree.from_string("(S (NP (PRP She)) (VP (VBD was) (NP (DT a) (NN cook))))")
    >>> yngve_depths(Layout(tree))
    [1, 1, 1, 0]
    """
    phrases, words = [0] * len(layout.phrases), [0] * len(layout.leaves)
    for number, children in enumerate(layout.children):
        is_root = number == 0 and layout.names[0] in ROOT_SYMBOLS
        for order, child in enumerate(reversed(children)):
            depths = words if child.is_word else phrases
            depths[child.number] = phrases[number] + (0 if is_root else order)
    return words


def frazier_depths(layout: Layout) -> list[float]:
    """The Frazier depth of every word.

    >>> from fencepost import Tree
    >>> tree = Tree.from_string("(S (NP (PRP She)) (VP (VBD was) (NP (DT a) (NN cook))))")
    >>> frazier_depths(Layout(tree))
    [2.5, 1, 1, 0]
    """
    phrases: list[float] = [0] * len(layout.phrases)  # for a first child, what the phrases above count
    words: list[float] = [0] * len(layout.leaves)
    for number, children in enumerate(layout.children):
        name = layout.names[number]
        if number > 0 or name not in ROOT_SYMBOLS:
            first = children[0]
            depths = words if first.is_word else phrases
            depths[first.number] = phrases[number] + (_CLAUSE_WEIGHT if name in _CLAUSE_LABELS else 1)
    return words


def embedding(layout: Layout) -> int:
    """How deep finite clauses are embedded: 0 if no finite clause is inside another.

    >>> from fencepost import Tree
    >>> tree = Tree.from_string("(S (NP (PRP I)) (VP (VBP know) (SBAR (S (NP (PRP it)) (VP (VBD sat))))))")
    >>> embedding(Layout(tree))
    1
    """
    cores = {clause.core for clause in find_clauses(layout)}
    around = [0] * len(layout.phrases)  # the clauses that contain each phrase, itself included
    deepest = 0
    for number, parent in enumerate(layout.parents):
        around[number] = (around[parent] if parent >= 0 else 0) + (number in cores)
        deepest = max(deepest, around[number] - 1)
    return deepest
