"""Converts trees to and from NLTK."""

from __future__ import annotations

from typing import Any

from fencepost.errors import MissingExtraError, UntaggedLeafError
from fencepost.trees.tree import Leaf, Node, Tree, escape

try:
    import nltk
except ImportError as error:
    raise MissingExtraError("nltk", "nltk", "converting to and from nltk.Tree") from error


def to_nltk(tree: Tree) -> nltk.Tree:
    """The same tree for NLTK, with words escaped as NLTK's own readers leave them (-LRB-)."""
    root = nltk.Tree(tree.label, [])
    stack = [(tree, root)]
    while stack:
        node, copy = stack.pop()
        for child in node.children:
            if isinstance(child, Leaf):
                copy.append(nltk.Tree(child.tag, [escape(child.word)]))
            else:
                copy.append(nltk.Tree(child.label, []))
                stack.append((child, copy[-1]))
    return root


def from_nltk(tree: nltk.Tree) -> Tree:
    """The same tree as a ``Tree``. Every word must be the only child of its tag; an empty root label becomes TOP."""
    node = _convert(tree)
    return node if isinstance(node, Tree) else Tree("TOP", [node])


def _convert(tree: Any) -> Node:
    finished: list[Node] = []
    stack: list[tuple[Any, bool]] = [(tree, False)]  # node, and whether its children are finished
    while stack:
        node, ready = stack.pop()
        if not isinstance(node, nltk.Tree):
            raise UntaggedLeafError(f"the word {node!r} is not the only child of a tag")
        if len(node) == 1 and isinstance(node[0], str):
            finished.append(Leaf(str(node.label()), node[0]))
        elif not ready:
            stack.append((node, True))
            stack.extend((child, False) for child in reversed(node))
        else:
            first = len(finished) - len(node)
            finished[first:] = [Tree(str(node.label()) or ("TOP" if node is tree else ""), finished[first:])]
    return finished[0]
