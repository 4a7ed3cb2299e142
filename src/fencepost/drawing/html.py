"""A page of many trees. It is complete in itself: no scripts, no fonts, nothing to fetch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from fencepost.drawing.colours import PAPER, RULE, WORD
from fencepost.drawing.direction import is_right_to_left
from fencepost.drawing.markup import element
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


def figure(text: str, tree: Tree, notes: Sequence[str] | None = None) -> str:
    """A sentence and the drawing of its tree. ``notes`` are shown beside the labels, one for each phrase."""
    direction = "rtl" if is_right_to_left(tree.words()) else "ltr"  # as in the drawing below
    caption = element("figcaption", visible(" ".join(text.split())), dir=direction)
    drawing = element("div", to_svg(tree, notes, standalone=False), class_="drawing")
    return element("figure", caption, drawing) + "\n"
