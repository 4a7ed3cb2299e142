"""Grammatical functions in labels: ``NP-SBJ`` is an NP that is a subject. Labels are split, and put together again.

A phrase has at most one function here. Where a treebank gives several, ``choose`` takes one: ``SBJ``, ``LGS`` and
``PRD``, which relate a phrase to its verb, come first; those that say little more than the label come last.

A function with a question mark is one that the phrase may have instead: ``PP-CLR?`` has the function CLR or none, and
``SBAR-ADV-TMP?`` has ADV or TMP. It is for treebanks that don't mark all functions, when they are trained on together
with others that do.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from fencepost.trees.brackets import ROOT_SYMBOLS
from fencepost.trees.tree import Node, Tree, unchecked_tree

FIRST: Final = ("SBJ", "LGS", "PRD")
LAST: Final = ("CLR", "NOM", "TPC", "TTL", "HLN", "IMP", "ETC", "UNF", "FRM")
MAYBE: Final = "?"
_PARTS: Final = re.compile(r".[^-=]*")


@dataclass(frozen=True)
class Mark:
    """What a treebank says about the function of a phrase."""

    function: str | None = None  # None if it has no function
    maybe: tuple[str, ...] = ()  # functions that it may have instead

    def __bool__(self) -> bool:
        return self.function is not None or bool(self.maybe)

    def __str__(self) -> str:
        """What follows the label and a hyphen; empty if there is nothing to write."""
        certain = [] if self.function is None else [self.function]
        return "-".join([*certain, *(function + MAYBE for function in self.maybe)])


@lru_cache(maxsize=2**12)
def split_label(label: str) -> tuple[str, Mark]:
    """Splits ``NP-SBJ-1`` into ``NP`` and ``SBJ``. Indices are dropped; a label that begins with ``-`` stays whole."""
    if label.startswith("-"):
        return label, Mark()
    name, *parts = _PARTS.findall(label)
    functions = [part[1:] for part in parts if len(part) > 1 and not part[1:].isdigit()]
    certain = [function for function in functions if not function.endswith(MAYBE)]
    maybe = tuple(function[: -len(MAYBE)] for function in functions if function.endswith(MAYBE))
    return name, Mark(choose(certain) if certain else None, maybe)


def choose(functions: Sequence[str]) -> str:
    """The function to keep of several: by ``FIRST`` and ``LAST``, else the one written first."""
    return min(functions, key=_rank)


def _rank(function: str) -> int:
    if function in FIRST:
        return FIRST.index(function) - len(FIRST)
    return 1 + LAST.index(function) if function in LAST else 0


def split_functions(tree: Tree) -> tuple[Tree, list[Mark]]:
    """The tree with plain labels, and a mark for each of its phrases below the root symbol, outer before inner.

    Phrases with the same plain label, one the only child of the other, become one phrase: ``(NP-SBJ (NP x))`` is
    ``(NP x)`` with the function SBJ. The outer function counts if there are two.
    """
    marks: list[Mark] = []
    children: list[Node] = []  # the children so far of the innermost open phrase
    above: list[tuple[str, list[Node]]] = []  # for each open phrase: its label and its parent's children
    stack: list[Node | None] = [tree]  # None closes a phrase
    while stack:
        node = stack.pop()
        if node is None:
            label, siblings = above.pop()
            siblings.append(unchecked_tree(label, tuple(children)))
            children = siblings
        elif type(node) is Tree:
            label, mark, inner = _merged(node)
            if above or label not in ROOT_SYMBOLS:
                marks.append(mark)
            above.append((label, children))
            children = []
            stack.append(None)
            stack.extend(reversed(inner))
        else:
            children.append(node)
    (root,) = children
    assert isinstance(root, Tree)
    return root, marks


def _merged(node: Tree) -> tuple[str, Mark, tuple[Node, ...]]:
    label, mark = split_label(node.label)
    while len(node.children) == 1 and type(child := node.children[0]) is Tree and child.label != node.label:
        plain, its_mark = split_label(child.label)
        if plain != label:
            break
        node, mark = child, mark or its_mark
    return label, mark, node.children


def without_functions(tree: Tree) -> Tree:
    """The tree with plain labels; see ``split_functions``."""
    return split_functions(tree)[0]


def with_functions(tree: Tree, functions: Sequence[str | Mark | None]) -> Tree:
    """Adds functions to the labels: one, or None, for each phrase below the root symbol, outer before inner."""
    texts = [str(function or "") for function in functions]
    remaining = iter(["", *texts] if tree.label in ROOT_SYMBOLS else texts)
    children: list[Node] = []
    above: list[tuple[str, list[Node]]] = []
    stack: list[Node | None] = [tree]
    while stack:
        node = stack.pop()
        if node is None:
            label, siblings = above.pop()
            siblings.append(unchecked_tree(label, tuple(children)))
            children = siblings
        elif type(node) is Tree:
            function = next(remaining)
            above.append((f"{node.label}-{function}" if function else node.label, children))
            children = []
            stack.append(None)
            stack.extend(reversed(node.children))
        else:
            children.append(node)
    (root,) = children
    assert isinstance(root, Tree)
    return root
