"""Trees as SVG, written by hand: words in a row, phrases above, readable on white."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from html import escape
from typing import Final

from fencepost.drawing.boxes import Box, is_right_to_left, lay_out
from fencepost.trees.tree import Tree

_MARGIN: Final = 12
_GAP: Final = 14
_ROW: Final = 44  # from one level to the next
_LABEL: Final = 14  # sizes of letters
_WORD: Final = 16
_FONT: Final = "'Helvetica Neue',Helvetica,Arial,'Noto Sans','DejaVu Sans',sans-serif"
STYLE: Final = (
    f".fencepost text{{font-family:{_FONT};text-anchor:middle}}"
    f".fencepost .phrase{{font-size:{_LABEL}px;fill:#1a4480;font-weight:600}}"
    f".fencepost .tag{{font-size:{_LABEL - 2}px;fill:#5c6670}}"
    f".fencepost .word{{font-size:{_WORD}px;fill:#111}}"
    ".fencepost path{fill:none;stroke:#9aa4ae;stroke-width:1.2;stroke-linejoin:round}"
)
_NARROW: Final = frozenset("ijlI.,;:'`|!()[]{}ftr/\\-\" ")
_WIDE: Final = frozenset("mwMW@%")


def to_svg(tree: Tree, notes: Sequence[str] | None = None, *, standalone: bool = True) -> str:
    """A drawing; ``standalone`` ones bring their own style and background."""
    boxes = lay_out(tree, _measure_label, _measure_word, _GAP, notes)
    width = round(boxes[0].width) + 2 * _MARGIN
    height = boxes[0].level * _ROW + _LABEL + _WORD + 12 + 2 * _MARGIN
    # Brackets are mirrored where the text around them goes to the left.
    direction = ' direction="rtl"' if is_right_to_left(tree) else ""
    title = _text(" ".join(box.word for box in boxes if box.word is not None))
    head = f'<style>{STYLE}</style><rect width="100%" height="100%" fill="#fff"/>' if standalone else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="fencepost" role="img" '
        f'width="{width}" height="{height}" viewBox="0 0 {width} {height}">'
        f"<title>{title}</title>{head}{_lines(boxes)}{_labels(boxes, direction)}</svg>"
    )


def stack_svg(drawings: Sequence[str]) -> str:
    """Several drawings below each other in one."""
    sizes = [_size(drawing) for drawing in drawings]
    width, height = max((w for w, _ in sizes), default=0), sum(h for _, h in sizes)
    parts, top = [], 0
    for drawing, (_, own) in zip(drawings, sizes, strict=True):
        parts.append(drawing.replace("<svg ", f'<svg y="{top}" ', 1))
        top += own
    return f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}">{"".join(parts)}</svg>'


def _size(drawing: str) -> tuple[int, int]:
    width, height = drawing.split('width="', 1)[1].split('" height="', 1)
    return int(width), int(height.split('"', 1)[0])


def _baseline(box: Box, top: int) -> float:
    return _MARGIN + (top - box.level) * _ROW + _LABEL


def _lines(boxes: list[Box]) -> str:
    """Down from the phrase, across and down to each child: slanted lines would cross, as words share one row."""
    top = boxes[0].level
    return "".join(
        f'<path d="M{_x(box)} {_baseline(box, top) + 5:g}V{_baseline(box, top) + 13:g}'
        f'H{_x(boxes[child])}V{_baseline(boxes[child], top) - _LABEL:g}"/>'
        for box in boxes
        for child in box.children
    )


def _labels(boxes: list[Box], direction: str) -> str:
    top = boxes[0].level
    parts: list[str] = []
    for box in boxes:
        kind = "phrase" if box.word is None else "tag"
        parts.append(f'<text class="{kind}" x="{_x(box)}" y="{_baseline(box, top):g}">{_text(box.label)}</text>')
        if box.word is not None:
            place = f'x="{_x(box)}" y="{_baseline(box, top) + _WORD + 6:g}"'
            parts.append(f'<text class="word" {place}{direction}>{_text(box.word)}</text>')
    return "".join(parts)


def _x(box: Box) -> str:
    return f"{box.center + _MARGIN:.1f}"


def _text(text: str) -> str:
    """Escaped, and without the two characters that XML can't hold although they print."""
    return escape(text).replace("\ufffe", "\ufffd").replace("\uffff", "\ufffd")


def _measure_label(text: str) -> float:
    return _measure(text) * _LABEL * 1.06  # bold


def _measure_word(text: str) -> float:
    return _measure(text) * _WORD


def _measure(text: str) -> float:
    """About how wide a text is, in heights of a letter: nothing here knows the reader's fonts."""
    return sum(map(_letter, text))


def _letter(character: str) -> float:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0.0
    if unicodedata.east_asian_width(character) in "WF":
        return 1.05
    if character in _NARROW:
        return 0.36
    if character in _WIDE:
        return 0.92
    return 0.7 if character.isupper() else 0.58
