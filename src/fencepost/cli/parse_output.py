"""Writes the output of ``fencepost parse``: one class per format."""

from __future__ import annotations

import json
from typing import Any, Final, Protocol, TextIO

from fencepost.cli.parse_input import Item
from fencepost.drawing import html
from fencepost.drawing.svg import stack_svg, to_svg
from fencepost.drawing.terminal import pretty
from fencepost.drawing.visible_text import visible
from fencepost.parsing.confidence import Analysis
from fencepost.parsing.pictures import drawings_of
from fencepost.parsing.records import sentence_record


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
    """A sentence as plain data, with where it comes from."""
    content = {
        "file": item.origin.file,
        "document": item.origin.document,
        **sentence_record(item.text_sentence, analysis),
    }
    if item.problem is not None:
        content["error"] = item.problem
    return content
