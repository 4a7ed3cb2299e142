"""Penn brackets, read and written. Reading streams: one tree is in memory at a time, however long the file.

Every ``(`` starts a node, so the text is cut at ``(`` and each piece is either a label (``NP ``) or a leaf with
the brackets that close after it (``NN cat)) ``). Pieces repeat, and are looked at closely only once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from fencepost.errors import (
    EmptyNodeError,
    ExtraTextError,
    InputError,
    MissingLabelError,
    TreeError,
    UnbalancedError,
    UntaggedLeafError,
)
from fencepost.trees.tree import Leaf, Node, Tree, escape, unchecked_leaf, unchecked_tree, unescape

DEFAULT_ROOT: Final = "TOP"
COMMENT_MARKS: Final = ("#", "*", "/*", "%%")
LONGEST_TREE: Final = 64 * 2**20  # characters; more than that without a closing bracket is no tree
_CACHE_SIZE: Final = 2**17

_LABEL_PIECE = re.compile(r"\s*([^\s()]*)\s*", re.ASCII)
_LEAF_PIECE = re.compile(r"\s*([^\s()]+)\s+([^\s()]+)\s*(\)[\s)]*)", re.ASCII)


class SourceLine(NamedTuple):
    """A line of text and where it stands."""

    text: str
    number: int


_Piece = tuple[Leaf | None, str, int]  # leaf or None, label, brackets that close after the leaf's own


class _PieceCache(dict[str, _Piece]):
    """What a piece of text between two opening brackets means."""

    def __missing__(self, piece: str) -> _Piece:
        if len(self) >= _CACHE_SIZE:
            self.clear()
        entry = self[piece] = _read_piece(piece)
        return entry


def _read_piece(piece: str) -> _Piece:
    if match := _LEAF_PIECE.fullmatch(piece):
        tag, word, closing = match.groups()
        return unchecked_leaf(tag, unescape(word)), "", closing.count(")") - 1
    if match := _LABEL_PIECE.fullmatch(piece):
        return None, match[1], 0
    head, bracket, tail = piece.partition(")")
    if bracket and len(head.split()) < 2:
        raise EmptyNodeError("a node with neither a child nor a word", excerpt=_excerpt("(" + piece))
    if bracket and len(head.split()) == 2:
        raise ExtraTextError("text outside a tagged leaf", excerpt=_excerpt(tail.lstrip(" )")))
    raise UntaggedLeafError("a leaf is one tag and one word", excerpt=_excerpt("(" + piece))


_cache = _PieceCache()


def parse_trees(text: str) -> list[Tree]:
    """All trees in a text. An unlabelled root gets the label TOP, and so does a leaf that stands alone."""
    before, *pieces = text.split("(")
    if before.strip():
        raise _outside(before)
    trees: list[Tree] = []
    labels: list[str] = []
    siblings: list[list[Node]] = []  # the children so far of each open node but the innermost
    children: list[Node] = []  # the children so far of the innermost open node
    for piece in pieces:
        leaf, label, closing = _cache[piece]
        if leaf is None:
            if not label:
                if labels:
                    raise MissingLabelError("a node without a label below the root", excerpt=_excerpt("(" + piece))
                label = DEFAULT_ROOT
            labels.append(label)
            siblings.append(children)
            children = []
            continue
        children.append(leaf)
        if closing > len(labels):
            raise UnbalancedError("a bracket closes that was never opened", excerpt=_excerpt("(" + piece))
        for _ in range(closing):
            phrase = unchecked_tree(labels.pop(), tuple(children))
            children = siblings.pop()
            children.append(phrase)
        if not labels:
            node = children.pop()
            trees.append(node if type(node) is Tree else unchecked_tree(DEFAULT_ROOT, (node,)))
    if labels:
        raise UnbalancedError("a bracket is never closed", excerpt=_excerpt(text))
    return trees


def parse_tree(text: str) -> Tree:
    """The one tree in a text."""
    trees = parse_trees(text)
    if len(trees) != 1:
        raise TreeError(f"expected one tree, found {len(trees)}", excerpt=_excerpt(text))
    return trees[0]


def read_trees(lines: Iterable[SourceLine], source: str = "<text>") -> Iterator[Tree]:
    """Trees from numbered lines: one or several a line, or a tree over many lines. Comment lines are passed over."""
    for text, first in tree_texts(lines, source):
        try:
            yield from parse_trees(text)
        except InputError as error:
            raise _located(error, text, source, first) from None


def tree_texts(lines: Iterable[SourceLine], source: str) -> Iterator[tuple[str, int]]:
    """Cuts lines where all brackets are closed: (text, number of its first line)."""
    held: list[str] = []
    depth = size = first = 0
    suspect = 0  # where a new tree seems to begin inside an open one
    for line, number in lines:
        if not depth:
            if not line.strip() or line.startswith(COMMENT_MARKS):
                continue
            first, suspect, size = number, 0, 0
        elif not suspect and line.startswith("("):
            suspect = number
        depth += line.count("(") - line.count(")")
        if depth > 0:
            held.append(line)
            size += len(line)
            if size > LONGEST_TREE:
                raise _unclosed(source, first, suspect, held)
        elif held:
            held.append(line)
            yield "".join(held), first
            held, depth = [], 0
        else:
            yield line, first
            depth = 0
    if held:
        raise _unclosed(source, first, suspect, held)


def format_tree(tree: Node) -> str:
    """The tree on one line: ``(TOP (S (NP (DT The) (NN cat)) ...``."""
    parts: list[str] = []
    stack: list[Node | None] = [tree]  # None closes a bracket
    while stack:
        node = stack.pop()
        if node is None:
            parts.append(")")
        elif type(node) is Tree:
            parts.append(" (" + node.label)
            stack.append(None)
            stack.extend(reversed(node.children))
        else:
            assert isinstance(node, Leaf)
            parts.append(f" ({node.tag} {escape(node.word)})")
    return "".join(parts)[1:]


# Errors


def _located(error: InputError, text: str, source: str, first: int) -> InputError:
    """The same error with its file and line: the line of the piece that the error quotes."""
    start = max(text.find((error.excerpt or "").removesuffix("…")), 0)
    line = first + text.count("\n", 0, start)
    return type(error)(error.problem, source=source, line=line, excerpt=error.excerpt, hint=error.hint)


def _unclosed(source: str, first: int, suspect: int, held: list[str]) -> UnbalancedError:
    hint = f"a new tree seems to begin on line {suspect}" if suspect else "is the file cut short?"
    return UnbalancedError("a bracket is never closed", source=source, line=first, excerpt=_excerpt(held[0]), hint=hint)


def _outside(text: str) -> InputError:
    if ")" in text:
        return UnbalancedError("a bracket closes that was never opened", excerpt=_excerpt(text))
    return ExtraTextError(
        "text outside brackets", excerpt=_excerpt(text), hint="is this a file of trees? words alone are for `parse`"
    )


def _excerpt(text: str, width: int = 60) -> str:
    line = text.strip().split("\n", 1)[0]
    shown = line if len(line) <= width else line[: width - 1] + "…"
    return shown if shown.isprintable() else ascii(shown)[1:-1]
