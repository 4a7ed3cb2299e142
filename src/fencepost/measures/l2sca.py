"""The nine counts and fourteen indices of Lu's L2 Syntactic Complexity Analyzer (L2SCA).

X. Lu. 2010. Automatic analysis of syntactic complexity in second language writing. International Journal of Corpus
Linguistics 15(4), 474-496. The patterns are those of his program, which counts every matching node once (``-C -o``);
its ROOT is TOP here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final

from fencepost.search.nodes import Nodes
from fencepost.search.pattern import Pattern
from fencepost.trees.brackets import DEFAULT_ROOT, ROOT_SYMBOLS
from fencepost.trees.tree import Leaf, Tree, unchecked_tree

_FINITE: Final = "MD|VBZ|VBP|VBD"
_CLAUSE: Final = f"S|SINV|SQ [> TOP <, (VP <# VB) | <# {_FINITE} | < (VP [<# {_FINITE} | < CC < (VP <# {_FINITE})])]"
_T_UNIT: Final = "S|SBARQ|SINV|SQ [> TOP | [$-- S|SBARQ|SINV|SQ !>> SBAR|VP]]"

# Several patterns for one count are added up.
PATTERNS: Final[Mapping[str, tuple[str, ...]]] = {
    "VP": ("VP > S|SINV|SQ", f"{_FINITE} > (SQ !< VP)"),
    "C": (_CLAUSE, f"FRAG > TOP !<< ({_CLAUSE})"),
    "T": (_T_UNIT, f"FRAG > TOP !<< ({_T_UNIT})"),
    "DC": (f"SBAR < ({_CLAUSE})",),
    "CT": (f"{_T_UNIT} << (SBAR < ({_CLAUSE}))",),
    "CP": ("ADJP|ADVP|NP|VP < CC",),
    "CN": (
        "NP !> NP [<< JJ|POS|PP|S|VBG | << (NP $++ NP !$+ CC)]",
        "SBAR [<# WHNP | <# (IN < That|that|For|for) | <, S] & [$+ VP | > VP]",
        "S < (VP <# VBG|TO) $+ VP",
    ),
}
COUNTS: Final = ("W", "S", *PATTERNS)
INDICES: Final[Mapping[str, tuple[str, str]]] = {
    "MLS": ("W", "S"),
    "MLT": ("W", "T"),
    "MLC": ("W", "C"),
    "C/S": ("C", "S"),
    "VP/T": ("VP", "T"),
    "C/T": ("C", "T"),
    "DC/C": ("DC", "C"),
    "DC/T": ("DC", "T"),
    "T/S": ("T", "S"),
    "CT/T": ("CT", "T"),
    "CP/T": ("CP", "T"),
    "CP/C": ("CP", "C"),
    "CN/T": ("CN", "T"),
    "CN/C": ("CN", "C"),
}
_WORD_TAG: Final = re.compile(r"[A-Z]+\$?")


def is_word(leaf: Leaf) -> bool:
    """True if Lu counts this leaf as a word: its tag consists of capital letters, perhaps with a ``$`` at the end.

    >>> [word for tag, word in [("PRP$", "her"), (",", ","), ("$", "$"), ("CD", "5")] if is_word(Leaf(tag, word))]
    ['her', '5']
    """
    return _WORD_TAG.fullmatch(leaf.tag) is not None


def rooted(tree: Tree) -> Tree:
    """The tree under the root symbol that the patterns expect.

    >>> print(rooted(Tree.from_string("(ROOT (NP (NN Silence)))")))
    (TOP (NP (NN Silence)))
    """
    if tree.label == DEFAULT_ROOT:
        return tree
    return unchecked_tree(DEFAULT_ROOT, tree.children if tree.label in ROOT_SYMBOLS else (tree,))


@cache
def _compiled(name: str) -> tuple[Pattern, ...]:
    return tuple(map(Pattern, PATTERNS[name]))


def structures(nodes: Nodes, name: str) -> Iterator[int]:
    """The nodes that add to a count, by their numbers: ``structures(nodes, "DC")`` are the dependent clauses.

    >>> nodes = Nodes.of(Tree.from_string("(TOP (S (NP (NNS Cats) (CC and) (NNS dogs)) (VP (VBP sleep))))"))
    >>> [nodes.labels[number] for number in structures(nodes, "CP")]
    ['NP']
    """
    for pattern in _compiled(name):
        for place in pattern.places(nodes, once=True):
            yield place.node


def indices(counts: Mapping[str, int]) -> dict[str, float]:
    """The fourteen indices. As in Lu's program, an index is 0 if there is nothing to divide by.

    >>> indices({"W": 12, "S": 2, "VP": 3, "C": 3, "T": 2, "DC": 1, "CT": 1, "CP": 0, "CN": 2})["MLT"]
    6.0
    """
    return {name: counts[over] / counts[by] if counts[by] else 0.0 for name, (over, by) in INDICES.items()}
