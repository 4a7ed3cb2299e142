"""Turns trees into labelled spans and back (§2.1). Spans are half-open, between fenceposts; a unary chain is one label.

``(S (NP (PRP It)) (VP (VBZ works)))`` is ``[Span(0, 2, ("S",)), Span(0, 1, ("NP",)), Span(1, 2, ("VP",))]``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from fencepost.errors import TreeError
from fencepost.trees.brackets import ROOT_SYMBOLS
from fencepost.trees.tree import Leaf, Node, Tree, unchecked_tree

Chain: TypeAlias = tuple[str, ...]  # labels of a unary chain, from the top; () is the empty label


class Span(NamedTuple):
    start: int
    end: int
    label: Chain


class Phrase(NamedTuple):
    """One label of a span."""

    label: str
    start: int
    end: int
    parent: str  # the label right above; empty below the root symbol


def spans_of(tree: Tree) -> list[Span]:
    """All constituents, each before those inside it."""
    spans: list[Span] = []
    open_spans: list[tuple[int, int, Chain]] = []  # index in ``spans``, start, label
    position = 0
    stack: list[Node | None] = [tree]  # None ends the innermost open span
    while stack:
        node = stack.pop()
        if node is None:
            index, start, label = open_spans.pop()
            spans[index] = Span(start, position, label)
        elif type(node) is Tree:
            chain, children = _chain(node)
            open_spans.append((len(spans), position, chain))
            spans.append(Span(position, position, chain))
            stack.append(None)
            stack.extend(reversed(children))
        else:
            position += 1
    return spans


def spans_below_root(tree: Tree) -> list[Span]:
    """All constituents but the root symbol (TOP, ROOT, S1, VROOT), which a parser needn't predict."""
    first, *rest = spans = spans_of(tree)
    if tree.label not in ROOT_SYMBOLS:
        return spans
    return [Span(first.start, first.end, first.label[1:]), *rest] if first.label[1:] else rest


def phrases(spans: Sequence[Span]) -> list[Phrase]:
    """One phrase for each label of each span. Outer spans come before inner ones."""
    found: list[Phrase] = []
    around: list[tuple[int, str]] = []  # end and innermost label of each phrase that is open
    for start, end, chain in spans:
        while around and around[-1][0] <= start:
            around.pop()
        parent = around[-1][1] if around else ""
        for label in chain:
            found.append(Phrase(label, start, end, parent))
            parent = label
        around.append((end, parent))
    return found


def _chain(node: Tree) -> tuple[Chain, tuple[Node, ...]]:
    labels = [node.label]
    while len(node.children) == 1 and type(node.children[0]) is Tree:
        node = node.children[0]
        labels.append(node.label)
    return tuple(labels), node.children


def nest(
    leaves: Sequence[Leaf], starts: Sequence[int], ends: Sequence[int], labels: Sequence[Chain], root: str | None
) -> Tree:
    """Builds a tree from its constituents, given as three columns, outer constituents before inner ones.

    ``root`` is the label above them all. It may be None only if one constituent covers all words.
    """
    top: list[Node] = []
    children = top
    open_nodes: list[tuple[int, Chain, list[Node]]] = []  # end, label, and the parent's children
    done = 0  # words that are in the tree already
    words = len(leaves)
    for start, end, label in zip((*starts, words), (*ends, words), (*labels, ()), strict=True):
        while open_nodes and open_nodes[-1][0] <= start:
            closed, chain, above = open_nodes.pop()
            if done < closed:
                children += leaves[done:closed]
                done = closed
            node = unchecked_tree(chain[-1], tuple(children))
            above.append(node if len(chain) == 1 else _under(chain[:-1], node))
            children = above
        if done < start:
            children += leaves[done:start]
            done = start
        if open_nodes and end > open_nodes[-1][0]:
            raise TreeError(f"spans cross: ({start}, {end}) and one that ends at {open_nodes[-1][0]}")
        if label:
            if not start < end <= words:
                raise TreeError(f"({start}, {end}) is not a span of {words} words")
            open_nodes.append((end, label, children))
            children = []
    if root is not None:
        return unchecked_tree(root, tuple(top))
    if len(top) == 1 and type(top[0]) is Tree:
        return top[0]
    raise TreeError("no span covers all words", hint="give a root label")


def _under(chain: Chain, node: Tree) -> Tree:
    for label in reversed(chain):
        node = unchecked_tree(label, (node,))
    return node
