"""The pictures of a report as PNG files, drawn by matplotlib: for slides and papers that can't use SVG."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from itertools import pairwise
from typing import Any, Final

import numpy as np

from fencepost.analysis.attention import SentenceAttention
from fencepost.analysis.heads import HeadAverages, distance_names
from fencepost.analysis.report import ERRORS, LABELS_SHOWN, Findings
from fencepost.analysis.svg import LEAST, Matrix
from fencepost.analysis.tokens import runs_right_to_left
from fencepost.drawing.colours import BLUE, GREY, ORANGE, PANEL
from fencepost.drawing.text_width import cells
from fencepost.errors import MissingExtraError

try:
    from matplotlib import rc_context
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.figure import Figure
    from matplotlib.font_manager import fontManager
    from matplotlib.patches import FancyArrowPatch
except ModuleNotFoundError as error:
    raise MissingExtraError(error.name or "matplotlib", "plot", "drawing PNG pictures") from error

SHADES: Final = LinearSegmentedColormap.from_list("fencepost", [PANEL, BLUE])
FONTS: Final = ("DejaVu Sans", "Noto Sans CJK JP", "Noto Sans CJK SC", "Arial Unicode MS")
DOTS_PER_INCH: Final = 150


def pictures(findings: Findings, heads: Sequence[tuple[int, int]]) -> dict[str, bytes]:
    """Pictures by file name: errors, averages over heads, and the given (layer, head) pairs on the example."""
    with fonts():
        files = {f"errors-{kind}.png": _errors(findings, kind) for kind in ERRORS if findings.errors[kind]}
        if findings.averages is not None:
            files |= _averages(findings.averages)
        if findings.example is not None:
            for layer, head in heads:
                files |= _head(findings.example, layer, head)
        return files


@contextmanager
def fonts() -> Iterator[None]:
    """Uses fonts for many scripts. A letter that none of them has is drawn as a box."""
    installed = {font.name for font in fontManager.ttflist}
    with rc_context({"font.family": [font for font in FONTS if font in installed]}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        yield


def _errors(findings: Findings, kind: str) -> bytes:
    rows = findings.errors[kind][:LABELS_SHOWN]
    return bars([row.name for row in rows], [row.f1 for row in rows], f"F1. {ERRORS[kind]}")


def _averages(averages: HeadAverages) -> dict[str, bytes]:
    layers, heads = averages.to_start.shape
    rows, columns = ([str(number + 1) for number in range(count)] for count in (layers, heads))
    names = [f"{layer}.{head}" for layer in rows for head in columns]
    far = averages.distances.reshape(layers * heads, -1)
    files = {
        "start.png": heat_map(averages.to_start, rows, columns, ("layer", "head"), "Attention to the start token"),
        "distances.png": heat_map(far, names, distance_names(), ("layer.head", "distance"), "Mean attention", None),
    }
    if averages.content_share is not None:
        share = averages.content_share
        files["content.png"] = heat_map(share, rows, columns, ("layer", "head"), "Share of content")
    return files


def _head(example: SentenceAttention, layer: int, head: int) -> dict[str, bytes]:
    matrix, title = example.probabilities[layer - 1, head - 1], f"Layer {layer}, head {head}"
    axes = ("attends", "is attended to")
    return {
        f"head-{layer}.{head}-heat.png": heat_map(matrix, example.tokens, example.tokens, axes, title),
        f"head-{layer}.{head}-arcs.png": arcs(example.tokens, matrix, title),
    }


def bars(names: Sequence[str], values: Sequence[float], title: str) -> bytes:
    """Percentages, the first one on top."""
    figure, axes = _new(6, 1 + 0.25 * len(names), title)
    drawn = axes.barh(range(len(names)), values, color=BLUE)
    axes.bar_label(drawn, fmt="%.1f", padding=3)
    axes.set_yticks(range(len(names)), _plain(names))
    axes.invert_yaxis()
    axes.set_xlim(0, 110)
    axes.spines[["top", "right"]].set_visible(False)
    return _bytes(figure)


def heat_map(
    matrix: Matrix,
    rows: Sequence[str],
    columns: Sequence[str],
    names: tuple[str, str],
    title: str,
    maximum: float | None = 1.0,
) -> bytes:
    """Rows by columns; larger numbers are darker. Without a ``maximum``, the largest number is the darkest."""
    figure, axes = _new(2 + 0.25 * len(columns), 2 + 0.25 * len(rows), title)
    figure.colorbar(axes.imshow(matrix, cmap=SHADES, vmin=0, vmax=maximum), shrink=0.6)
    axes.set_yticks(range(len(rows)), _plain(rows))
    axes.set_xticks(range(len(columns)), _plain(columns), rotation=90 if max(map(len, columns)) > 2 else 0)
    axes.set_ylabel(names[0])
    axes.set_xlabel(names[1])
    return _bytes(figure)


def arcs(tokens: Sequence[str], matrix: Matrix, title: str) -> bytes:
    """An arc from each token to those it attends to: above the line to earlier, below it to later ones."""
    widths = list(map(cells, tokens))
    centres = np.cumsum([0.0, *(0.5 * (one + other) + 2 for one, other in pairwise(widths))])
    if runs_right_to_left(tokens):
        centres = centres[-1] - centres
    height = 0.25 * (centres.max() - centres.min()) + 3
    figure, axes = _new(0.1 * np.ptp(centres) + 2, 0.2 * height + 1, title)
    for i, j in np.argwhere(matrix >= LEAST).tolist():
        weight = float(matrix[i, j])
        if i == j:
            axes.plot(centres[i], -1.2, "o", color=GREY, markersize=6 * weight)
            continue
        side = 1 if j < i else -1
        bend = 0.5 if (centres[i] > centres[j]) == (side > 0) else -0.5
        axes.add_patch(
            FancyArrowPatch(
                (centres[i], side * 1.2),
                (centres[j], side * 1.2),
                connectionstyle=f"arc3,rad={bend}",
                arrowstyle="-|>",
                mutation_scale=8,
                linewidth=0.5 + 2 * weight,
                alpha=max(weight, 0.2),
                color=BLUE if side > 0 else ORANGE,
            )
        )
    for centre, token in zip(centres, _plain(tokens), strict=True):
        axes.text(centre, 0, token, ha="center", va="center")
    axes.set_xlim(centres.min() - 4, centres.max() + 4)
    axes.set_ylim(-height, height)
    axes.axis("off")
    return _bytes(figure)


def _new(width: float, height: float, title: str) -> tuple[Figure, Any]:
    figure = Figure(figsize=(width, height), dpi=DOTS_PER_INCH, layout="constrained")
    axes = figure.add_subplot()
    axes.set_title(title, fontsize=10)
    return figure, axes


def _plain(names: Sequence[str]) -> list[str]:
    """Escapes dollar signs: matplotlib reads text between two of them as a formula."""
    return [name.replace("$", r"\$") for name in names]


def _bytes(figure: Figure) -> bytes:
    file = BytesIO()
    figure.savefig(file, format="png")
    return file.getvalue()
