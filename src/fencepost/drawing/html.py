"""Pages of many trees, and what notebooks show. Both are complete in themselves: no scripts, no fonts, no downloads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Final, NamedTuple

from fencepost.drawing.colours import PAPER, RULE, WORD
from fencepost.drawing.direction import is_right_to_left
from fencepost.drawing.markup import Markup, element, join
from fencepost.drawing.svg import FONT, STYLE, to_svg
from fencepost.drawing.visible_text import visible
from fencepost.trees.tree import Tree

HEAD: Final = (
    '<!DOCTYPE html>\n<html>\n<head>\n<meta charset="utf-8">\n<title>fencepost</title>\n<style>\n'
    f"body{{margin:2rem auto;max-width:75rem;padding:0 1rem;background:{PAPER};color:{WORD};font-family:{FONT}}}\n"
    "figure{margin:0 0 2.5rem}figcaption{margin-bottom:.5rem;line-height:1.5;overflow-wrap:anywhere}\n"
    f".drawing{{overflow-x:auto;border:1px solid {RULE};border-radius:6px}}"
    ".drawing svg{display:block;margin:0 auto}\n"
    f"{STYLE}\n</style>\n</head>\n<body>\n"
)
FOOT: Final = "</body>\n</html>\n"
MOST_DRAWN: Final = 20  # trees in one notebook cell


class Drawing(NamedTuple):
    caption: str
    tree: Tree
    notes: Sequence[str] | None = None  # shown beside the labels, one for each phrase


def figure(text: str, tree: Tree, notes: Sequence[str] | None = None) -> str:
    """A sentence and the drawing of its tree. ``notes`` are shown beside the labels, one for each phrase."""
    caption = element("figcaption", visible(" ".join(text.split())), dir=_direction(tree))
    drawing = element("div", to_svg(tree, notes, standalone=False), class_="drawing")
    return element("figure", caption, drawing) + "\n"


def notebook_drawings(drawings: Iterable[Drawing]) -> Markup:
    """The first trees of many, as a part of a page whose styles are unknown."""
    remaining = iter(drawings)
    shown = [_in_notebook(each) for each in islice(remaining, MOST_DRAWN)]
    hidden = sum(1 for _ in remaining)
    note = [element("p", f"… and {hidden:,} more")] if hidden else []
    return element("div", join([*shown, *note]))


def _in_notebook(drawing: Drawing) -> Markup:
    caption = element("p", visible(" ".join(drawing.caption.split())), dir=_direction(drawing.tree))
    return join([caption, element("div", to_svg(drawing.tree, drawing.notes), style="overflow-x:auto")])


def _direction(tree: Tree) -> str:
    """The direction of a caption: that of the words in the drawing below it."""
    return "rtl" if is_right_to_left(tree.words()) else "ltr"
