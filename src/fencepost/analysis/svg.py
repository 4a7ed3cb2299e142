"""Charts as SVG: heat maps, arcs between words, bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from fencepost.analysis.tokens import runs_right_to_left
from fencepost.drawing.colours import BLUE, EMPTY_BAR, GREY, INK, ORANGE, PANEL
from fencepost.drawing.markup import Markup, element, picture
from fencepost.drawing.text_width import pixels

Matrix = npt.NDArray[np.floating]
LEAST: Final = 0.1  # attention below this isn't drawn as an arc
SHADES: Final = 20  # of a heat map
CELL: Final = 18
FONT_SIZE: Final = 12


def text_width(text: str) -> float:
    return pixels(text, FONT_SIZE)


def heat_squares(matrix: Matrix, maximum: float = 1.0) -> Markup:
    """The coloured squares of a heat map. Each is one unit wide, so a picture of any size can contain them."""
    shades = np.clip(np.rint(matrix / maximum * SHADES), 0, SHADES).astype(int)
    paths = []
    for shade in range(1, SHADES + 1):
        squares = "".join(f"M{column} {row}h1v1h-1z" for row, column in np.argwhere(shades == shade))
        if squares:
            paths.append(element("path", d=squares, fill_opacity=f"{shade / SHADES:g}"))
    return element("g", *paths, fill=BLUE, shape_rendering="crispEdges")


def heat_map(
    matrix: Matrix,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    maximum: float = 1.0,
    squares: Markup | None = None,
    row_title: str = "",
    column_title: str = "",
    cell: int = CELL,
    upright: bool = False,
) -> Markup:
    """Rows by columns; larger numbers are darker. ``squares`` refers to ``heat_squares`` already in the page."""
    left = max(map(text_width, rows)) + 14 + (18 if row_title else 0)
    top = (18 if upright else max(map(text_width, columns)) * 0.8 + 16) + (18 if column_title else 0)
    width, height = len(columns) * cell, len(rows) * cell
    right = 14 if upright else max(map(text_width, columns)) * 0.6
    grid = f"translate({left:.1f} {top:.1f}) scale({cell})"
    parts = [
        element("rect", x=left, y=top, width=width, height=height, fill=PANEL),
        element("g", heat_squares(matrix, maximum) if squares is None else squares, transform=grid),
    ]
    for number, name in enumerate(rows):
        parts.append(element("text", name, x=left - 6, y=top + (number + 0.5) * cell + 4, text_anchor="end"))
    for number, name in enumerate(columns):
        x = left + (number + 0.5) * cell
        if upright:
            parts.append(element("text", name, x=x, y=top - 6, text_anchor="middle"))
        else:
            parts.append(element("text", name, transform=f"translate({x + 4:.1f} {top - 6:.1f}) rotate(-55)"))
    if row_title:
        turned = f"translate(11 {top + height / 2:.1f}) rotate(-90)"
        parts.append(element("text", row_title, class_="axis", transform=turned, text_anchor="middle"))
    if column_title:
        parts.append(element("text", column_title, class_="axis", x=left + width / 2, y=12, text_anchor="middle"))
    if matrix.size <= 1024 and squares is None:
        parts.append(element("g", *_tooltips(matrix, rows, columns), transform=grid, fill="transparent"))
    return _chart(left + width + right, top + height + 6, parts)


def _tooltips(matrix: Matrix, rows: Sequence[str], columns: Sequence[str]) -> list[Markup]:
    return [
        element("rect", element("title", f"{row}, {column}: {matrix[y, x]:.2f}"), x=x, y=y, width=1, height=1)
        for y, row in enumerate(rows)
        for x, column in enumerate(columns)
    ]


def thumbnail(squares: Markup, size: int, width: int = 72) -> Markup:
    """A small heat map without names: ``size`` squares each way, ``width`` pixels wide."""
    background = element("rect", width=size, height=size, fill=PANEL)
    return element("svg", background, squares, viewBox=f"0 0 {size} {size}", width=width, height=width, class_="thumb")


def arcs(tokens: Sequence[str], matrix: Matrix, least: float = LEAST) -> Markup:
    """A sentence with an arc from each token to those it attends to: above it to earlier, below it to later ones.

    Arcs of less than ``least`` are left out; a dot under a word is attention to itself. Hebrew and Arabic run from
    right to left.
    """
    widths = [text_width(token) + 14 for token in tokens]
    centres = [sum(widths[:index]) + widths[index] / 2 + 10 for index in range(len(tokens))]
    apart = 3.0  # an arc leaves a word beside the point where others arrive
    if runs_right_to_left(tokens):
        centres, apart = [sum(widths) + 20 - centre for centre in centres], -apart
    pairs = [(i, j) for i, j in np.argwhere(matrix >= least).tolist() if i != j]
    above = max((_rise(centres[i], centres[j]) for i, j in pairs if j < i), default=0.0)
    below = max((_rise(centres[i], centres[j]) for i, j in pairs if j > i), default=0.0)
    line = above + 22
    parts = []
    for i, j in sorted(pairs, key=lambda pair: float(matrix[pair])):
        side = -1 if j < i else 1  # above or below the words; y grows downwards
        title = f"{tokens[i]} → {tokens[j]}: {matrix[i, j]:.2f}"
        base = line + (-16 if j < i else 12)
        parts.append(_arc(centres[i] + side * apart, centres[j] - side * apart, base, side, float(matrix[i, j]), title))
    for index, (token, centre) in enumerate(zip(tokens, centres, strict=True)):
        parts.append(element("text", token, x=centre, y=line, text_anchor="middle"))
        if matrix[index, index] >= least:
            parts.append(element("circle", cx=centre, cy=line + 8, r=1 + 3 * float(matrix[index, index]), fill=GREY))
    return _chart(sum(widths) + 20, line + below + 24, parts)


def _arc(start: float, end: float, base: float, side: int, weight: float, title: str) -> Markup:
    top = base + side * _rise(start, end) * 4 / 3  # the curve's control points; it rises three quarters of the way
    arrow, colour = ("earlier", BLUE) if side < 0 else ("later", ORANGE)
    return element(
        "path",
        element("title", title),
        d=f"M{start:.1f} {base:.1f}C{start:.1f} {top:.1f} {end:.1f} {top:.1f} {end:.1f} {base:.1f}",
        stroke=colour,
        stroke_opacity=f"{weight:.2f}",
        stroke_width=0.6 + 2 * weight,
        fill="none",
        marker_end=f"url(#{arrow})",
    )


def _rise(start: float, end: float) -> float:
    """The height of an arc between two points."""
    return 10.0 + 0.2 * abs(start - end)


def bars(rows: Sequence[tuple[str, float, str]], maximum: float = 100.0, width: int = 320) -> Markup:
    """One row for each (name, value, remark), with a bar as long as the value."""
    left = max(text_width(name) for name, _, _ in rows) + 10
    right = max(text_width(remark) for _, _, remark in rows) + 56
    parts = []
    for number, (name, value, remark) in enumerate(rows):
        y = number * 22
        length = width * min(value / maximum, 1.0)
        parts += [
            element("text", name, x=left - 6, y=y + 15, text_anchor="end"),
            element("rect", x=left, y=y + 3, width=width, height=15, fill=EMPTY_BAR),
            element("rect", x=left, y=y + 3, width=length, height=15, fill=BLUE),
            element("text", f"{value:.1f}", x=left + width + 6, y=y + 15),
            element("text", remark, x=left + width + 46, y=y + 15, fill=GREY),
        ]
    return _chart(left + width + right, len(rows) * 22 + 4, parts)


def _chart(width: float, height: float, parts: Sequence[Markup]) -> Markup:
    font = "system-ui, sans-serif"
    return picture(round(width), round(height), _ARROWS, *parts, font_family=font, font_size=FONT_SIZE, fill=INK)


def _arrow(name: str, colour: str) -> Markup:
    return element(
        "marker",
        element("path", d="M0 0L6 3L0 6z", fill=colour),
        id=name,
        viewBox="0 0 6 6",
        refX=5,
        refY=3,
        markerWidth=5,
        markerHeight=5,
        markerUnits="userSpaceOnUse",
        orient="auto",
    )


_ARROWS: Final = element("defs", _arrow("earlier", BLUE), _arrow("later", ORANGE))
