"""Pictures as SVG text, written by hand: heat maps, arcs between words, bars."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from html import escape
from typing import Final

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.floating]
LEVELS: Final = 20  # shades of a heat map
CELL: Final = 18
LETTER: Final = 6.8  # width of a letter at 12 px
INK, BLUE, ORANGE, GREY = "#1f2933", "#1d5fa8", "#c2571a", "#8a94a0"


def text_width(text: str) -> float:
    """About how wide a text is drawn; letters of Chinese and its neighbours are twice as wide, marks have no width."""
    widths = (0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
    return LETTER * sum(widths)


def cells(matrix: Matrix, maximum: float = 1.0) -> str:
    """The coloured squares of a heat map, one unit each, to be put into a picture of any size."""
    shades = np.clip(np.rint(matrix / maximum * LEVELS), 0, LEVELS).astype(int)
    paths = []
    for level in range(1, LEVELS + 1):
        squares = "".join(f"M{column} {row}h1v1h-1z" for row, column in np.argwhere(shades == level))
        if squares:
            paths.append(f'<path d="{squares}" fill-opacity="{level / LEVELS:g}"/>')
    return f'<g fill="{BLUE}" shape-rendering="crispEdges">{"".join(paths)}</g>'


def heat_map(
    matrix: Matrix,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    maximum: float = 1.0,
    inside: str = "",
    row_title: str = "",
    column_title: str = "",
    cell: int = CELL,
    upright: bool = False,
) -> str:
    """Rows by columns, darker for more. ``inside`` stands for ``cells(matrix)`` where they are drawn elsewhere."""
    left = max(map(text_width, rows)) + 14 + (18 if row_title else 0)
    top = (18 if upright else max(map(text_width, columns)) * 0.8 + 16) + (18 if column_title else 0)
    width, height = len(columns) * cell, len(rows) * cell
    right = 14 if upright else max(map(text_width, columns)) * 0.6
    parts = [
        f'<rect x="{left:.1f}" y="{top:.1f}" width="{width}" height="{height}" fill="#f4f6f8"/>',
        f'<g transform="translate({left:.1f} {top:.1f}) scale({cell})">{inside or cells(matrix, maximum)}</g>',
    ]
    for number, name in enumerate(rows):
        y = top + (number + 0.5) * cell + 4
        parts.append(f'<text x="{left - 6:.1f}" y="{y:.1f}" text-anchor="end">{escape(name)}</text>')
    for number, name in enumerate(columns):
        x = left + (number + 0.5) * cell
        if upright:
            parts.append(f'<text x="{x:.1f}" y="{top - 6:.1f}" text-anchor="middle">{escape(name)}</text>')
        else:
            parts.append(f'<text transform="translate({x + 4:.1f} {top - 6:.1f}) rotate(-55)">{escape(name)}</text>')
    if row_title:
        middle = top + height / 2
        parts.append(
            f'<text class="axis" transform="translate(11 {middle:.1f}) rotate(-90)" text-anchor="middle">'
            f"{escape(row_title)}</text>"
        )
    if column_title:
        parts.append(
            f'<text class="axis" x="{left + width / 2:.1f}" y="12" text-anchor="middle">{escape(column_title)}</text>'
        )
    titles = _tooltips(matrix, rows, columns, left, top, cell) if matrix.size <= 1024 and not inside else ""
    return _picture(left + width + right, top + height + 6, "".join(parts) + titles)


def _tooltips(matrix: Matrix, rows: Sequence[str], columns: Sequence[str], left: float, top: float, cell: int) -> str:
    squares = (
        f'<rect x="{column}" y="{row}" width="1" height="1"><title>{escape(rows[row])}, {escape(columns[column])}: '
        f"{matrix[row, column]:.2f}</title></rect>"
        for row in range(len(rows))
        for column in range(len(columns))
    )
    transform = f"translate({left:.1f} {top:.1f}) scale({cell})"
    return f'<g transform="{transform}" fill="transparent">{"".join(squares)}</g>'


def thumbnail(inside: str, size: int, pixels: int = 72) -> str:
    """A small heat map without names."""
    return (
        f'<svg viewBox="0 0 {size} {size}" width="{pixels}" height="{pixels}" class="thumb">'
        f'<rect width="{size}" height="{size}" fill="#f4f6f8"/>{inside}</svg>'
    )


def arcs(tokens: Sequence[str], matrix: Matrix, least: float = 0.1) -> str:
    """A sentence with an arc from each token to those it attends to: above it to earlier, below it to later ones.

    Arcs of less than ``least`` are left out; a dot under a word is attention to itself. Hebrew and Arabic run from
    right to left.
    """
    widths = [text_width(token) + 14 for token in tokens]
    centres = [sum(widths[:place]) + widths[place] / 2 + 10 for place in range(len(tokens))]
    apart = 3.0  # an arc leaves a word beside the place where others arrive
    if runs_right_to_left(tokens):
        centres, apart = [sum(widths) + 20 - centre for centre in centres], -apart
    found = [(i, j) for i, j in np.argwhere(matrix >= least).tolist() if i != j]
    above = max((_rise(centres[i], centres[j]) for i, j in found if j < i), default=0.0)
    below = max((_rise(centres[i], centres[j]) for i, j in found if j > i), default=0.0)
    line = above + 22
    parts = []
    for i, j in sorted(found, key=lambda pair: float(matrix[pair])):
        side = -1 if j < i else 1  # of the line of words, as y counts
        title = f"{tokens[i]} → {tokens[j]}: {matrix[i, j]:.2f}"
        base = line + (-16 if j < i else 12)
        parts.append(_arc(centres[i] + side * apart, centres[j] - side * apart, base, side, float(matrix[i, j]), title))
    for place, token in enumerate(tokens):
        parts.append(f'<text x="{centres[place]:.1f}" y="{line:.1f}" text-anchor="middle">{escape(token)}</text>')
        if matrix[place, place] >= least:
            radius = 1 + 3 * matrix[place, place]
            parts.append(f'<circle cx="{centres[place]:.1f}" cy="{line + 8:.1f}" r="{radius:.1f}" fill="{GREY}"/>')
    return _picture(sum(widths) + 20, line + below + 24, "".join(parts))


def _arc(start: float, end: float, base: float, side: int, weight: float, title: str) -> str:
    top = base + side * _rise(start, end) * 4 / 3  # where the controls of the curve are; it goes up three quarters
    name, colour = ("earlier", BLUE) if side < 0 else ("later", ORANGE)
    return (
        f'<path d="M{start:.1f} {base:.1f}C{start:.1f} {top:.1f} {end:.1f} {top:.1f} {end:.1f} {base:.1f}" '
        f'stroke="{colour}" stroke-opacity="{weight:.2f}" stroke-width="{0.6 + 2 * weight:.1f}" fill="none" '
        f'marker-end="url(#{name})"><title>{escape(title)}</title></path>'
    )


def runs_right_to_left(tokens: Sequence[str]) -> bool:
    """Whether more words are in a script that does than in one that doesn't."""
    kinds = [{unicodedata.bidirectional(letter) for letter in token} for token in tokens]
    return sum(bool(kind & {"R", "AL"}) for kind in kinds) > sum("L" in kind for kind in kinds)


def _rise(one: float, other: float) -> float:
    """How far an arc over such a distance goes up."""
    return 10.0 + 0.2 * abs(one - other)


def bars(rows: Sequence[tuple[str, float, str]], maximum: float = 100.0, width: int = 320) -> str:
    """Name, value and remark of each row, with a bar as long as the value."""
    left = max(text_width(name) for name, _, _ in rows) + 10
    right = max(text_width(remark) for _, _, remark in rows) + 56
    parts = []
    for number, (name, value, remark) in enumerate(rows):
        y = number * 22
        length = width * min(value / maximum, 1.0)
        parts.append(
            f'<text x="{left - 6:.1f}" y="{y + 15}" text-anchor="end">{escape(name)}</text>'
            f'<rect x="{left:.1f}" y="{y + 3}" width="{width}" height="15" fill="#eef1f4"/>'
            f'<rect x="{left:.1f}" y="{y + 3}" width="{length:.1f}" height="15" fill="{BLUE}"/>'
            f'<text x="{left + width + 6:.1f}" y="{y + 15}">{value:.1f}</text>'
            f'<text x="{left + width + 46:.1f}" y="{y + 15}" fill="{GREY}">{escape(remark)}</text>'
        )
    return _picture(left + width + right, len(rows) * 22 + 4, "".join(parts))


def _picture(width: float, height: float, inside: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="system-ui, sans-serif" font-size="12" fill="{INK}">'
        f"{_ARROWS}{inside}</svg>"
    )


_ARROWS: Final = (
    "<defs>"
    + "".join(
        f'<marker id="{name}" viewBox="0 0 6 6" refX="5" refY="3" markerWidth="5" markerHeight="5" '
        f'markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0L6 3L0 6z" fill="{colour}"/></marker>'
        for name, colour in (("earlier", BLUE), ("later", ORANGE))
    )
    + "</defs>"
)
