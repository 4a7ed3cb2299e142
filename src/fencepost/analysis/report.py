"""One HTML page about a trained model: its errors, and what its attention does. It needs no other file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

from fencepost.analysis import svg
from fencepost.analysis.attention import SentenceAttention
from fencepost.analysis.heads import HeadAverages, distance_names
from fencepost.evaluation.breakdown import Row
from fencepost.evaluation.score import Score

LABELS_SHOWN: Final = 20
ERRORS: Final = {
    "label": "By label",
    "length": "By length of the phrase (words that scoring counts)",
    "sentence": "By length of the sentence",
}


@dataclass(frozen=True)
class Findings:
    """What there is to report; attention only of models that have it."""

    model: str
    trees: str
    score: Score
    errors: dict[str, list[Row]]
    averages: HeadAverages | None = None
    example: SentenceAttention | None = None


def to_html(findings: Findings) -> str:
    parts = [_summary(findings), _errors(findings)]
    if findings.averages is None:
        parts.append(
            "<h2>Attention</h2><p>The encoder of this model is not self-attentive: there is nothing to show.</p>"
        )
    else:
        parts += [_content_share(findings.averages), _start(findings.averages), _distances(findings.averages)]
    if findings.example is not None:
        parts.append(_example(findings.example))
    title = f"fencepost: {escape(findings.model)}"
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{_STYLE}</style></head>'
        f"<body><main><h1>{title}</h1>{''.join(parts)}</main></body></html>\n"
    )


def _summary(findings: Findings) -> str:
    score = findings.score
    figures = (
        ("sentences", f"{score.sentences:,}"),
        ("recall", f"{score.recall:.2f}"),
        ("precision", f"{score.precision:.2f}"),
        ("F1", f"{score.f1:.2f}"),
        ("complete match", f"{score.complete_match:.1f}%"),
    )
    boxes = "".join(f"<div><b>{value}</b><span>{name}</span></div>" for name, value in figures)
    return f'<p>Parsed the words of <code>{escape(findings.trees)}</code>.</p><div class="figures">{boxes}</div>'


def _errors(findings: Findings) -> str:
    label, length, sentence = (_bars(ERRORS[kind], findings.errors[kind]) for kind in ERRORS)
    return (
        "<h2>Errors</h2><p>F1 of labelled brackets, with how many of them are in the gold trees.</p>"
        f"<div class='row'>{label}<div>{length}{sentence}</div></div>"
    )


def _bars(title: str, rows: Sequence[Row]) -> str:
    shown = [(row.name, row.f1, f"{row.gold:,}") for row in rows[:LABELS_SHOWN]]
    more = len(rows) - len(shown)
    rest = f"<p class='small'>Not shown: the rarest {more}.</p>" if more else ""
    return f"<figure><figcaption>{title}</figcaption>{svg.bars(shown)}{rest}</figure>"


def _heads_map(matrix: svg.Matrix, maximum: float) -> str:
    layers, heads = matrix.shape
    names = [str(number + 1) for number in range(max(layers, heads))]
    return svg.heat_map(
        matrix,
        names[:layers],
        names[:heads],
        maximum=maximum,
        row_title="layer",
        column_title="head",
        cell=26,
        upright=True,
    )


def _content_share(averages: HeadAverages) -> str:
    if averages.content_share is None:
        return "<h2>Content and position</h2><p>This model does not keep content and position apart (§3).</p>"
    layers = [
        (f"layer {number}", 100 * float(share), "% content")
        for number, share in enumerate(averages.content_share.mean(1), 1)
    ]
    return (
        "<h2>Content and position</h2><p>Attention goes by q · k, the sum of a content term and a position term. "
        "Only differences between keys matter to a softmax, so the share of content here is the variance of the "
        "content term over the keys of a query, divided by the sum of the variances of both terms: 0 is position "
        "alone, 1 content alone. "
        f"Over {averages.words:,} words of {averages.sentences:,} sentences.</p><div class='row'>"
        f"<figure><figcaption>Mean of the heads of a layer</figcaption>{svg.bars(layers)}</figure>"
        f"<figure><figcaption>Each head (dark: content)</figcaption>{_heads_map(averages.content_share, 1.0)}"
        "</figure></div>"
    )


def _start(averages: HeadAverages) -> str:
    found = averages.look_at_start()
    items = "".join(f"<li>layer {layer}, head {head}: {share:.0%}</li>" for layer, head, share in found)
    which = (
        f"These heads give it half or more:</p><ul class='columns'>{items}</ul>"
        if found
        else "No head gives it half.</p>"
    )
    return (
        "<h2>Heads that look at the start token</h2><p>§4.2 of the paper found heads that almost always attend to the "
        f"start token. Even attention would give it {averages.even_start:.1%}. "
        f"{which}<figure><figcaption>Attention of words to the start token (dark: 1)</figcaption>"
        f"{_heads_map(averages.to_start, 1.0)}</figure>"
    )


def _distances(averages: HeadAverages) -> str:
    layers, heads, columns = averages.distances.shape
    names = [f"{layer + 1}.{head + 1}" for layer in range(layers) for head in range(heads)]
    matrix = averages.distances.reshape(layers * heads, columns)
    picture = svg.heat_map(
        matrix,
        names,
        distance_names(),
        maximum=max(float(matrix.max()), 1e-9),
        row_title="layer.head",
        column_title="words before (−) or after",
        cell=30 if layers * heads <= 16 else 16,
        upright=False,
    )
    return (
        "<h2>How far heads look</h2><p>Mean attention of a word to other words by distance; 0 is the word itself, and "
        "the ends add up all that is further away. What is missing to 1 goes to start and stop. "
        f"The darkest cell is {matrix.max():.2f}.</p>"
        f"<figure>{picture}</figure>"
    )


def _example(example: SentenceAttention) -> str:
    layers, heads, size, _ = example.probabilities.shape
    ids = [(layer, head) for layer in range(layers) for head in range(heads)]
    defined = "".join(
        f'<g id="c{layer}-{head}">{svg.cells(example.probabilities[layer, head])}</g>' for layer, head in ids
    )
    grid = "".join(
        f'<a href="#h{layer}-{head}" title="layer {layer + 1}, head {head + 1}">'
        f"{svg.thumbnail(f'<use href={chr(34)}#c{layer}-{head}{chr(34)}/>', size)}"
        f"<span>{layer + 1}.{head + 1}</span></a>"
        for layer, head in ids
    )
    panels = "".join(_panel(example, layer, head, first=(layer, head) == ids[0]) for layer, head in ids)
    words = escape(" ".join(example.tokens[1:-1]))
    return (
        f"<h2>Every head on one sentence</h2><p><q>{words}</q></p>"
        f'<svg width="0" height="0" class="defs"><defs>{defined}</defs></svg>'
        f'<p class="small">Layer.head; a row is the word that attends, a column what it attends to. '
        f"Click on one to see it in full.</p>"
        f'<div class="grid" style="grid-template-columns: repeat({heads}, max-content)">{grid}</div>{panels}'
    )


def _panel(example: SentenceAttention, layer: int, head: int, *, first: bool) -> str:
    matrix = example.probabilities[layer, head]
    inside = f'<use href="#c{layer}-{head}"/>'
    heat = svg.heat_map(
        matrix, example.tokens, example.tokens, inside=inside, row_title="attends", column_title="is attended to"
    )
    return (
        f'<section class="head{" first" if first else ""}" id="h{layer}-{head}">'
        f"<h3>Layer {layer + 1}, head {head + 1}</h3>"
        f"<figure>{svg.arcs(example.tokens, matrix)}<figcaption>Arcs of 0.1 and more: above, to earlier words; "
        f"below, to later ones; a dot, to itself</figcaption></figure><figure>{heat}</figure></section>"
    )


def head_pictures(example: SentenceAttention, heads: Sequence[tuple[int, int]]) -> dict[str, str]:
    """File names and pictures of some heads, counted from 1: a heat map and arcs each."""
    pictures = {}
    for layer, head in heads:
        matrix = example.probabilities[layer - 1, head - 1]
        heat = svg.heat_map(matrix, example.tokens, example.tokens, row_title="attends", column_title="is attended to")
        pictures[f"head-{layer}.{head}-heat.svg"] = heat
        pictures[f"head-{layer}.{head}-arcs.svg"] = svg.arcs(example.tokens, matrix)
    return pictures


_STYLE: Final = """
body { font: 15px/1.5 system-ui, sans-serif; color: #1f2933; margin: 0; background: #fff; }
main { max-width: 1180px; margin: 0 auto; padding: 24px; }
h1 { font-size: 24px; } h2 { margin-top: 44px; border-top: 1px solid #dde2e7; padding-top: 18px; font-size: 20px; }
p { max-width: 760px; } .small, figcaption { font-size: 13px; color: #55606b; }
figure { margin: 12px 0; overflow-x: auto; } figcaption { margin-bottom: 6px; }
.row { display: flex; flex-wrap: wrap; gap: 12px 48px; align-items: flex-start; }
.figures { display: flex; flex-wrap: wrap; gap: 12px; }
.figures div { background: #f4f6f8; border-radius: 6px; padding: 10px 18px; }
.figures b { display: block; font-size: 22px; } .figures span { font-size: 13px; color: #55606b; }
.grid { display: grid; gap: 8px; overflow-x: auto; padding-bottom: 8px; }
.grid a { text-decoration: none; color: #55606b; font-size: 11px; text-align: center; }
.grid a:hover .thumb, .grid a:focus .thumb { outline: 2px solid #1d5fa8; }
.thumb { display: block; } .grid span { display: block; } .defs { position: absolute; }
.columns { columns: 3; max-width: 760px; } svg .axis { fill: #8a94a0; }
.head { display: none; } .head:target { display: block; } main:not(:has(.head:target)) .first { display: block; }
code { background: #f4f6f8; padding: 1px 4px; border-radius: 3px; }
"""
