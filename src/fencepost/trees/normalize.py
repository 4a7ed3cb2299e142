"""Prepares raw Penn-style trees for a parser: no traces, no function tags, one root symbol, no X over X.

The choices in ``Normalization`` are independent; ``docs/treebanks.md`` lists those that give the usual data sets.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from fencepost.trees.brackets import DEFAULT_ROOT, ROOT_SYMBOLS
from fencepost.trees.tree import Leaf, Node, Tree, unchecked_leaf, unchecked_tree

TRACE: Final = "-NONE-"
NOT_LANGUAGE: Final = ("CODE", "ID", "META", "-DFL-")
_PARTS: Final = re.compile(r".[^-=]*")
_BLANKS: Final = re.compile(r"\s+")


@dataclass(frozen=True)
class Normalization:
    """What to change in a tree. The defaults are what most papers do."""

    keep_traces: bool = False  # empty elements (-NONE-) and the phrases that hold nothing else
    keep_functions: bool = False  # function tags: NP-SBJ, PP-LOC-CLR
    keep_indices: bool = False  # indices and gapping marks, on phrases and on tags: NP-1, NP=2, NNS-4
    keep_repeats: bool = False  # a node over a single child of the same label
    drop: tuple[str, ...] = NOT_LANGUAGE  # labels and tags to remove, with everything below them
    unwrap: tuple[str, ...] = ()  # labels to remove; their children move up


USUAL: Final = Normalization()


def normalize(tree: Tree, choices: Normalization = USUAL) -> Tree | None:
    """The normalized tree, always under TOP; None if nothing is left of it.

    Labels are compared without their function tags. A root symbol inside a tree (``TOP``, ``ROOT``, ``S1``,
    ``VROOT``) isn't a phrase: its children move up. Blanks inside a word become ``_``; blanks at its ends are removed.
    """
    dropped = {*choices.drop} if choices.keep_traces else {*choices.drop, TRACE}
    unwrapped = {*choices.unwrap, *ROOT_SYMBOLS}
    children: list[Node] = []  # the children so far of the innermost open phrase
    above: list[tuple[str, list[Node]]] = []  # for each open phrase: its label and its parent's children
    stack: list[Node | None] = [tree]  # None closes a phrase
    while stack:
        node = stack.pop()
        if node is None:
            label, siblings = above.pop()
            siblings.extend(_close(label, children, choices.keep_repeats))
            children = siblings
        elif type(node) is Leaf:
            if node.tag not in dropped:
                children.append(_clean(node, choices.keep_indices))
        elif type(node) is Tree:
            base = strip_label(node.label)
            if base in dropped:
                continue
            if base in unwrapped:
                stack.extend(reversed(node.children))
                continue
            above.append((strip_label(node.label, choices.keep_functions, choices.keep_indices), children))
            children = []
            stack.append(None)
            stack.extend(reversed(node.children))
    return unchecked_tree(DEFAULT_ROOT, tuple(children)) if children else None


@lru_cache(maxsize=2**12)
def strip_label(label: str, keep_functions: bool = False, keep_indices: bool = False) -> str:
    """Turns ``NP-SBJ-1`` into ``NP``, ``NP-SBJ`` or ``NP-1``. A label that begins with ``-`` stays as it is."""
    if label.startswith("-"):
        return label
    parts: list[str] = _PARTS.findall(label)
    return parts[0] + "".join(part for part in parts[1:] if (keep_indices if part[1:].isdigit() else keep_functions))


def _close(label: str, children: list[Node], keep_repeats: bool) -> list[Node]:
    if not children:
        return children
    only = children[0]
    if not keep_repeats and len(children) == 1 and type(only) is Tree and only.label == label:
        return children
    return [unchecked_tree(label, tuple(children))]


def _clean(leaf: Leaf, keep_indices: bool) -> Leaf:
    tag = strip_label(leaf.tag, keep_functions=True, keep_indices=keep_indices)
    word = leaf.word if leaf.word.isascii() else _BLANKS.sub("_", leaf.word.strip()) or "_"
    return leaf if tag == leaf.tag and word == leaf.word else unchecked_leaf(tag, word)
