"""Trees as SVG: words in one row at the bottom, phrases above them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from fencepost.drawing import colours
from fencepost.drawing.boxes import Box, lay_out
from fencepost.drawing.direction import is_right_to_left
from fencepost.drawing.markup import Markup, element, join, picture
from fencepost.drawing.text_width import pixels
from fencepost.trees.tree import Tree

FONT: Final = "'Helvetica Neue',Helvetica,Arial,'Noto Sans','DejaVu Sans',sans-serif"
_MARGIN: Final = 12
_GAP: Final = 14
_ROW_HEIGHT: Final = 44
_PHRASE_SIZE: Final = 14  # font sizes
_TAG_SIZE: Final = 12
_WORD_SIZE: Final = 16
_BOLD: Final = 1.06  # how much wider bold letters are
STYLE: Final = (
    f".fencepost text{{font-family:{FONT};text-anchor:middle}}"
    f".fencepost .phrase{{font-size:{_PHRASE_SIZE}px;fill:{colours.PHRASE};font-weight:600}}"
    f".fencepost .tag{{font-size:{_TAG_SIZE}px;fill:{colours.TAG}}}"
    f".fencepost .word{{font-size:{_WORD_SIZE}px;fill:{colours.WORD}}}"
    f".fencepost path{{fill:none;stroke:{colours.BRANCH};stroke-width:1.2;stroke-linejoin:round}}"
)


def to_svg(tree: Tree, notes: Sequence[str] | None = None, *, standalone: bool = True) -> Markup:
    """A picture of a tree. ``notes`` are shown beside the labels, one for each phrase.

    A ``standalone`` picture has its own style and background; the others rely on a page that contains ``STYLE``.
    """
    boxes = lay_out(tree, _label_width, _word_width, _GAP, notes)
    width = round(boxes[0].width) + 2 * _MARGIN
    height = boxes[0].level * _ROW_HEIGHT + _PHRASE_SIZE + _WORD_SIZE + 12 + 2 * _MARGIN
    background = (element("style", Markup(STYLE)), element("rect", width="100%", height="100%", fill=colours.PAPER))
    return picture(
        width,
        height,
        element("title", " ".join(box.word for box in boxes if box.word is not None)),
        *(background if standalone else ()),
        _branches(boxes),
        _texts(boxes, is_right_to_left(tree.words())),
        class_="fencepost",
        role="img",
    )


def stack_svg(drawings: Sequence[str]) -> str:
    """One picture with all drawings, each below the one before."""
    sizes = [_size(drawing) for drawing in drawings]
    width, height = max((width for width, _ in sizes), default=0), sum(height for _, height in sizes)
    parts, top = [], 0
    for drawing, (_, own_height) in zip(drawings, sizes, strict=True):
        parts.append(drawing.replace("<svg ", f'<svg y="{top}" ', 1))
        top += own_height
    return f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}">{"".join(parts)}</svg>'


def _size(drawing: str) -> tuple[int, int]:
    width, height = drawing.split('width="', 1)[1].split('" height="', 1)
    return int(width), int(height.split('"', 1)[0])


def _baseline(box: Box, top_level: int) -> int:
    return _MARGIN + (top_level - box.level) * _ROW_HEIGHT + _PHRASE_SIZE


def _branches(boxes: list[Box]) -> Markup:
    """Lines down from a phrase, across, and down to each child. Slanted lines would cross: all words share one row.

    All branches of a phrase are one path: several paths would look darker where they overlap.
    """
    top = boxes[0].level
    return join(element("path", d=_branch(box, boxes, top)) for box in boxes if box.children)


def _branch(box: Box, boxes: list[Box], top_level: int) -> str:
    line = _baseline(box, top_level)
    start = f"M{_x(box):.1f} {line + 5}V{line + 13}"
    children = (boxes[child] for child in box.children)
    return "".join(f"{start}H{_x(child):.1f}V{_baseline(child, top_level) - _PHRASE_SIZE}" for child in children)


def _texts(boxes: list[Box], right_to_left: bool) -> Markup:
    top = boxes[0].level
    direction = {"direction": "rtl"} if right_to_left else {}  # mirrors the brackets among the words
    parts: list[Markup] = []
    for box in boxes:
        kind = "phrase" if box.word is None else "tag"
        parts.append(element("text", box.label, class_=kind, x=_x(box), y=_baseline(box, top)))
        if box.word is not None:
            y = _baseline(box, top) + _WORD_SIZE + 6
            parts.append(element("text", box.word, class_="word", x=_x(box), y=y, **direction))
    return join(parts)


def _x(box: Box) -> float:
    return box.center + _MARGIN


def _label_width(text: str) -> float:
    return pixels(text, _PHRASE_SIZE * _BOLD)


def _word_width(text: str) -> float:
    return pixels(text, _WORD_SIZE)
