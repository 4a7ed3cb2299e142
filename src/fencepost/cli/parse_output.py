"""Writes the output of ``fencepost parse``: one class per format."""

from __future__ import annotations

import json
from typing import Any, Final, Protocol, TextIO

from fencepost.cli.parse_input import Item
from fencepost.drawing import html
from fencepost.drawing.svg import stack_svg, to_svg
from fencepost.drawing.terminal import pretty
from fencepost.drawing.visible_text import visible
from fencepost.parsing.confidence import Analysis, Constituent, ScoredTree
from fencepost.parsing.pictures import drawings_of


class Writer(Protocol):
    def __init__(self, file: TextIO) -> None: ...

    def write(self, item: Item, analysis: Analysis | None) -> None: ...

    def finish(self) -> None: ...


class Brackets:
    """One tree per line; an empty line for a sentence without a tree, and after the k best trees of a sentence."""

    def __init__(self, file: TextIO) -> None:
        self.file = file

    def write(self, item: Item, analysis: Analysis | None) -> None:
        if analysis is None or not analysis.trees:
            self.file.write("\n" if analysis is None else f"{analysis.tree}\n")
        else:
            self.file.write("".join(f"{one.tree}\n" for one in analysis.trees) + "\n")

    def finish(self) -> None:
        pass


class JsonLines:
    """One JSON object per line."""

    def __init__(self, file: TextIO) -> None:
        self.file = file

    def write(self, item: Item, analysis: Analysis | None) -> None:
        self.file.write(json.dumps(record(item, analysis), ensure_ascii=False) + "\n")

    def finish(self) -> None:
        pass


class Pretty:
    """Each sentence, followed by its drawing and an empty line."""

    def __init__(self, file: TextIO) -> None:
        self.file = file

    def write(self, item: Item, analysis: Analysis | None) -> None:
        self.file.write(visible(" ".join(item.text_sentence.text.split())) + "\n")
        if item.problem is not None:
            self.file.write(f"{item.problem}\n")
        for title, tree, notes in drawings_of(analysis):
            self.file.write(f"{title}\n" if title else "")
            self.file.write(pretty(tree, notes=notes) + "\n")
        self.file.write("\n")

    def finish(self) -> None:
        pass


class Svg:
    """One picture of all trees, stacked."""

    def __init__(self, file: TextIO) -> None:
        self.file = file
        self.drawings: list[str] = []

    def write(self, item: Item, analysis: Analysis | None) -> None:
        self.drawings += [to_svg(tree, notes) for _, tree, notes in drawings_of(analysis)]

    def finish(self) -> None:
        one = len(self.drawings) == 1
        self.file.write((self.drawings[0] if one else stack_svg(self.drawings)) + "\n")


class Html:
    """One page that needs no other file."""

    def __init__(self, file: TextIO) -> None:
        self.file = file
        file.write(html.HEAD)

    def write(self, item: Item, analysis: Analysis | None) -> None:
        for title, tree, notes in drawings_of(analysis):
            caption = f"{item.text_sentence.text} · {title}" if title else item.text_sentence.text
            self.file.write(html.figure(caption, tree, notes))

    def finish(self) -> None:
        self.file.write(html.FOOT)


WRITERS: Final[dict[str, type[Writer]]] = {
    "brackets": Brackets,
    "json": JsonLines,
    "pretty": Pretty,
    "svg": Svg,
    "html": Html,
}


def record(item: Item, analysis: Analysis | None) -> dict[str, Any]:
    """A sentence as plain data. Offsets of tokens count characters of ``text``; those of constituents count tokens."""
    tokens = item.text_sentence.tokens
    tags = [None] * len(tokens) if analysis is None else analysis.tree.tags()
    content: dict[str, Any] = {
        "file": item.origin.file,
        "document": item.origin.document,
        "text": item.text_sentence.text,
        "offset": item.text_sentence.offset,
        "tokens": [
            {"text": token.text, "start": token.start, "end": token.end, "tag": tag}
            for token, tag in zip(tokens, tags, strict=True)
        ],
        "tree": None if analysis is None else str(analysis.tree),
        "score": None if analysis is None else analysis.score,
        "constituents": [] if analysis is None else [_constituent(part) for part in analysis.constituents],
    }
    if analysis is not None and analysis.trees:
        content["kbest"] = [_scored(one) for one in analysis.trees]
    if item.problem is not None:
        content["error"] = item.problem
    return content


def _constituent(part: Constituent) -> dict[str, Any]:
    plain: dict[str, Any] = {"label": part.label, "start": part.start, "end": part.end}
    if part.probability is not None:
        plain["probability"] = round(part.probability, 6)
    if part.function_probability is not None:
        plain |= {"function": part.function, "function_probability": round(part.function_probability, 6)}
    return plain


def _scored(one: ScoredTree) -> dict[str, Any]:
    return {"tree": str(one.tree), "score": one.score, "probability": one.probability}
