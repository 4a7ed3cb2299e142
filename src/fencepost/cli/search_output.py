"""The output of ``fencepost search``: one class per format."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TextIO

from fencepost.cli.terminal import send, shown
from fencepost.trees.tree import unescape

if TYPE_CHECKING:
    from fencepost.search.nodes import Nodes
    from fencepost.search.pattern import Pattern, Place
    from fencepost.trees.tree import Leaf

_MATCH, _NAMED, _RESET = "\x1b[1;32m", "\x1b[1;36m", "\x1b[0m"
_CONTEXT: Final = 40  # characters before and after a match


@dataclass(frozen=True)
class Found:
    """A match to print: the number of its tree from 1, its file, and the node in the tree's nodes."""

    number: int
    file: str | None
    nodes: Nodes
    place: Place
    leaves: Sequence[Leaf] | None = None  # of the tree, if they know their places in a text

    def names(self) -> dict[str, int]:
        return {name: node for name, node in self.place.bound.items() if isinstance(node, int)}

    def words(self, start: int, end: int) -> str:
        nodes = self.nodes
        return " ".join(unescape(nodes.labels[nodes.words[word]]) for word in range(start, end))

    def span(self, node: int) -> dict[str, Any]:
        """The words of a node, counted in words and in characters, and their text."""
        start, end = self.nodes.span(node)
        characters = self.characters(start, end)
        return {
            "start": start,
            "end": end,
            "start_char": characters and characters[0],
            "end_char": characters and characters[1],
            "text": self.words(start, end),
        }

    def characters(self, start: int, end: int) -> tuple[int, int] | None:
        if self.leaves is None:
            return None
        first, last = self.leaves[start].offsets, self.leaves[end - 1].offsets
        return None if first is None or last is None else (first[0], last[1])


def wants_colour(output: TextIO) -> bool:
    """True for a terminal whose user hasn't asked for plain text."""
    return output.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


class _Brackets:
    """``NUMBER: (subtree)``, as Tregex prints it. In a terminal, named nodes are coloured."""

    def __init__(self, pattern: Pattern, output: TextIO) -> None:
        self.output = output
        self.colour = wants_colour(output)

    def __call__(self, found: Found) -> None:
        if self.colour and found.names():
            text = coloured(found, found.place.node, dict.fromkeys(found.names().values(), _NAMED))
            send(self.output, f"{found.number}: {text}\n")
        else:
            self.output.write(f"{found.number}: {found.nodes.brackets(found.place.node)}\n")


class _Whole:
    """``NUMBER: (tree)``. In a terminal, the match and named nodes are coloured."""

    def __init__(self, pattern: Pattern, output: TextIO) -> None:
        self.output = output
        self.colour = wants_colour(output)

    def __call__(self, found: Found) -> None:
        if self.colour:
            colours = dict.fromkeys(found.names().values(), _NAMED)
            text = coloured(found, 0, colours | {found.place.node: _MATCH})
            send(self.output, f"{found.number}: {text}\n")
        else:
            self.output.write(f"{found.number}: {found.nodes.brackets(0)}\n")


def coloured(found: Found, root: int, colours: dict[int, str]) -> str:
    """The brackets of a node, with some nodes below it in colour. An inner colour wins over an outer one.

    Control characters among the words are shown, so that the text can be sent to a terminal as it is.
    """
    text = found.nodes.brackets(root)
    offset, _ = found.nodes.place_in_brackets(root)
    last = found.nodes.ends[root]
    marks: list[tuple[int, int, str]] = []
    current = [_RESET]
    for node in sorted(node for node in colours if root <= node < last):
        start, end = found.nodes.place_in_brackets(node)
        marks.append((start - offset, node, colours[node]))
        marks.append((end - offset, -node, ""))
    pieces: list[str] = []
    at = 0
    for place, _, colour in sorted(marks):
        pieces.append(shown(text[at:place]))
        at = place
        if colour:
            current.append(colour)
        else:
            current.pop()
        pieces.append(current[-1] if len(current) == 1 or colour else _RESET + current[-1])
    return "".join(pieces) + shown(text[at:])


class _Kwic:
    """Key words in context: the words that match in a column, with the words before and after them."""

    def __init__(self, pattern: Pattern, output: TextIO) -> None:
        self.output = output
        self.colour = wants_colour(output)

    def __call__(self, found: Found) -> None:
        start, end = found.nodes.span(found.place.node)
        before = found.words(max(0, start - _CONTEXT), start)
        after = found.words(end, min(len(found.nodes.words), end + _CONTEXT))
        before = before if len(before) <= _CONTEXT else "…" + before[1 - _CONTEXT :]
        after = after if len(after) <= _CONTEXT else after[: _CONTEXT - 1] + "…"
        left, words = f"{found.number:>6}  {before:>{_CONTEXT}}  ", found.words(start, end)
        if self.colour:
            send(self.output, f"{shown(left)}{_MATCH}{shown(words)}{_RESET}  {shown(after)}".rstrip() + "\n")
        else:
            self.output.write(f"{left}{words}  {after}".rstrip() + "\n")


class _Json:
    """One object per line."""

    def __init__(self, pattern: Pattern, output: TextIO) -> None:
        self.output = output

    def __call__(self, found: Found) -> None:
        variables = {name[1:]: text for name, text in found.place.bound.items() if isinstance(text, str)}
        row = {"file": found.file, "tree": found.number, **_described(found, found.place.node)}
        row["names"] = {name: _described(found, node) for name, node in found.names().items()}
        if variables:
            row["variables"] = variables
        self.output.write(json.dumps(row, ensure_ascii=False) + "\n")


def _described(found: Found, node: int) -> dict[str, Any]:
    return {"label": found.nodes.labels[node], **found.span(node), "match": found.nodes.brackets(node)}


class _Csv:
    """One row per match, with the span and the text of each named node."""

    def __init__(self, pattern: Pattern, output: TextIO) -> None:
        self.names = pattern.names
        columns = ["file", "tree", "label", "start", "end", "start_char", "end_char", "text", "match"]
        named = [f"{name}_{part}" for name in self.names for part in ("start", "end", "text")]
        self.writer = csv.writer(output, lineterminator="\n")
        self.writer.writerow([*columns, *named])

    def __call__(self, found: Found) -> None:
        described = _described(found, found.place.node)
        row = [found.file, found.number, *described.values()]
        names = found.names()
        for name in self.names:
            if name in names:
                span = found.span(names[name])
                row += [span["start"], span["end"], span["text"]]
            else:
                row += ["", "", ""]
        self.writer.writerow(row)


FORMATS: Final[dict[str, Callable[[Pattern, TextIO], Callable[[Found], None]]]] = {
    "brackets": _Brackets,
    "whole": _Whole,
    "kwic": _Kwic,
    "json": _Json,
    "csv": _Csv,
}
