"""Reads and writes Penn brackets. Reading streams: only one tree is in memory at a time, however long the file is.

Every ``(`` starts a node, so the text is cut at ``(`` and each piece is either a label (``NP ``) or a leaf with
the brackets that close after it (``NN cat)) ``). Pieces repeat, so each different piece is analysed only once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from operator import length_hint
from typing import Final

from fencepost.errors import (
    EmptyNodeError,
    ExtraTextError,
    MissingLabelError,
    TreeError,
    UnbalancedError,
    UntaggedLeafError,
)
from fencepost.storage.text_reader import SourceLine
from fencepost.trees.tree import NOT_TEXT, Leaf, Node, Tree, escape, unchecked_leaf, unchecked_tree, unescape

DEFAULT_ROOT: Final = "TOP"
ROOT_SYMBOLS: Final = frozenset({"TOP", "ROOT", "S1", "VROOT"})
COMMENT_MARKS: Final = ("#", "*", "/*", "%%")
LONGEST_TREE: Final = 64 * 2**20  # characters; a longer text without a closing bracket isn't a tree
_CACHE_SIZE: Final = 2**17
_LONGEST_CACHED: Final = 200  # characters; longer pieces hardly ever repeat and would fill the memory

# A word may hold blanks that are not ASCII, such as the no-break space; labels and tags may not.
_LEAF_PIECE = re.compile(r"\s*([^\s()]+)[ \t\n\r\f\v]+([^ \t\n\r\f\v()]+)[ \t\n\r\f\v]*(\)[\s)]*)")
_CLOSING = re.compile(r"[\s)]*")


Piece = tuple[Leaf | None, str, int]  # leaf or None, label, brackets that close after the leaf's own


class PieceError(Exception):
    """A problem in a piece whose line isn't known yet. ``offset`` counts characters within the piece."""

    def __init__(self, kind: type[TreeError], problem: str, offset: int = -1, hint: str | None = None) -> None:
        super().__init__(problem)
        self.kind, self.problem, self.offset, self.hint = kind, problem, offset, hint


class _PieceCache(dict[str, Piece]):
    """The meaning of each piece of text between two opening brackets."""

    def __missing__(self, piece: str) -> Piece:
        entry = read_piece(piece)
        if len(piece) < _LONGEST_CACHED:
            if len(self) >= _CACHE_SIZE:
                self.clear()
            self[piece] = entry
        return entry


def read_piece(piece: str) -> Piece:
    """The meaning of a piece: its leaf or its label, and the brackets that close after it. Raises PieceError."""
    if found := NOT_TEXT.search(piece):
        raise PieceError(TreeError, f"the character U+{ord(found[0]):04X} isn't text", found.start())
    if match := _LEAF_PIECE.fullmatch(piece):
        tag, word, closing = match.groups()
        return unchecked_leaf(tag, unescape(word)), "", closing.count(")") - 1
    head, bracket, tail = piece.partition(")")
    symbols = head.split(None, 2)
    if len(symbols) < 2:
        if bracket:
            raise PieceError(EmptyNodeError, "a node has neither a child nor a word")
        return None, symbols[0] if symbols else "", 0
    extra = len(head) + len(bracket) + _CLOSING.match(tail).end()  # type: ignore[union-attr]
    if len(symbols) == 2 and extra < len(piece):
        raise PieceError(ExtraTextError, "text outside any leaf", extra)
    raise PieceError(UntaggedLeafError, "a leaf must be one tag and one word")


_cache = _PieceCache()


def parse_trees(text: str, source: str | None = None, first_line: int = 1, unlabelled: str | None = None) -> list[Tree]:
    """All trees in a text. A root without a label becomes TOP; a leaf that stands alone is put under TOP.

    ``unlabelled`` is the label for nodes below the root that have none. By default they are an error.
    If ``source`` is given, errors name the line in it; the text starts on its line ``first_line``.
    """
    pieces = text.split("(")
    remaining = iter(pieces)
    try:
        return _build(remaining, unlabelled)
    except PieceError as fault:
        done = pieces[: len(pieces) - length_hint(remaining) - 1]
        offset = max(sum(map(len, done)) + len(done) + fault.offset, 0)
        raise fault.kind(
            fault.problem,
            source=source,
            line=None if source is None else first_line + _newlines_before_text(text, offset),
            excerpt=excerpt_of(text[offset : offset + 200]),
            hint=fault.hint,
        ) from None


def _build(pieces: Iterator[str], unlabelled: str | None) -> list[Tree]:
    before = next(pieces)
    if before.strip():
        raise _outside(before)
    trees: list[Tree] = []
    labels: list[str] = []
    siblings: list[list[Node]] = []  # the children so far of each other open node
    children: list[Node] = []  # the children so far of the innermost open node
    for piece in pieces:
        leaf, label, closing = _cache[piece]
        if leaf is None:
            if not label:
                label = (DEFAULT_ROOT if not labels else unlabelled) or ""
                if not label:
                    hint = "`fencepost treebank normalize` moves its children up"
                    raise PieceError(MissingLabelError, "a node below the root has no label", hint=hint)
            labels.append(label)
            siblings.append(children)
            children = []
            continue
        children.append(leaf)
        if closing > len(labels):
            raise PieceError(UnbalancedError, "a closing bracket has no opening one")
        for _ in range(closing):
            phrase = unchecked_tree(labels.pop(), tuple(children))
            children = siblings.pop()
            children.append(phrase)
        if not labels:
            node = children.pop()
            trees.append(node if type(node) is Tree else unchecked_tree(DEFAULT_ROOT, (node,)))
    if labels:
        raise PieceError(UnbalancedError, "a bracket is never closed")
    return trees


def parse_tree(text: str) -> Tree:
    """The one tree in a text."""
    trees = parse_trees(text)
    if len(trees) != 1:
        raise TreeError(f"expected one tree, found {len(trees)}", excerpt=excerpt_of(text))
    return trees[0]


def read_trees(lines: Iterable[SourceLine], source: str = "<text>", unlabelled: str | None = None) -> Iterator[Tree]:
    """Trees from numbered lines. A line may hold several trees, and a tree several lines. Comment lines are skipped."""
    for text, first in tree_texts(lines, source):
        yield from parse_trees(text, source, first, unlabelled)


def tree_texts(lines: Iterable[SourceLine], source: str) -> Iterator[tuple[str, int]]:
    """Joins lines until all brackets are closed, and yields each text with the number of its first line."""
    held: list[str] = []
    depth = size = first = 0
    suspect = 0  # the line on which a new tree seems to begin inside an open one
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


def _unclosed(source: str, first: int, suspect: int, held: list[str]) -> UnbalancedError:
    hint = f"a new tree seems to begin on line {suspect}" if suspect else "is the file cut short?"
    return UnbalancedError(
        "a bracket is never closed", source=source, line=first, excerpt=excerpt_of(held[0][:200]), hint=hint
    )


def _outside(before: str) -> PieceError:
    if ")" in before:
        return PieceError(UnbalancedError, "a closing bracket has no opening one")
    return PieceError(ExtraTextError, "text outside brackets", hint="is this a file of trees in Penn brackets?")


def _newlines_before_text(text: str, offset: int) -> int:
    blank = len(text[offset:]) - len(text[offset:].lstrip())
    return text.count("\n", 0, offset + blank)


def excerpt_of(text: str, width: int = 60) -> str:
    """The beginning of the first line, safe to print."""
    line = text.strip().split("\n", 1)[0]
    shown = line if len(line) <= width else line[: width - 1] + "…"
    return shown if shown.isprintable() else ascii(shown)[1:-1]
