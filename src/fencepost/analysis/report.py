"""One HTML page about a trained model: its errors, and what its attention does. It needs no other file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from fencepost.analysis import svg
from fencepost.analysis.attention import SentenceAttention
from fencepost.analysis.heads import HeadAverages, distance_names
from fencepost.analysis.tokens import runs_right_to_left
from fencepost.drawing.colours import BLUE, GREY, INK, PANEL, PAPER, QUIET_INK, RULE
from fencepost.drawing.markup import Markup, element, join
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
    """The contents of a report. The last two are None for a model without attention."""

    model: str
    trees: str
    score: Score
    errors: dict[str, list[Row]]
    averages: HeadAverages | None = None
    example: SentenceAttention | None = None


def to_html(findings: Findings) -> str:
    parts = [_summary(findings), _errors(findings)]
    if findings.averages is None:
        parts += [
            element("h2", "Attention"),
            element("p", "The encoder of this model is not self-attentive, so it has no attention to show."),
        ]
    else:
        parts += [_content_share(findings.averages), _start(findings.averages), _distances(findings.averages)]
    if findings.example is not None:
        parts.append(_example(findings.example))
    title = f"fencepost: {findings.model}"
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("title", title),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("style", Markup(_STYLE)),
    )
    body = element("body", element("main", element("h1", title), *parts))
    return f"<!doctype html>\n{element('html', head, body, lang='en')}\n"


def _summary(findings: Findings) -> Markup:
    score = findings.score
    figures = {
        "sentences": f"{score.sentences:,}",
        "recall": f"{score.recall:.2f}",
        "precision": f"{score.precision:.2f}",
        "F1": f"{score.f1:.2f}",
        "complete match": f"{score.complete_match:.1f}%",
    }
    boxes = [element("div", element("b", value), element("span", name)) for name, value in figures.items()]
    source = element("p", "Parsed the words of ", element("code", findings.trees), ".")
    return join([source, element("div", *boxes, class_="figures")])


def _errors(findings: Findings) -> Markup:
    label, length, sentence = (_bars(ERRORS[kind], findings.errors[kind]) for kind in ERRORS)
    return join(
        [
            element("h2", "Errors"),
            element("p", "F1 of labelled brackets, and the number of such brackets in the gold trees."),
            element("div", label, element("div", length, sentence), class_="row"),
        ]
    )


def _bars(title: str, rows: Sequence[Row]) -> Markup:
    shown = [(row.name, row.f1, f"{row.gold:,}") for row in rows[:LABELS_SHOWN]]
    hidden = len(rows) - len(shown)
    rest = [element("p", f"Not shown: the rarest {hidden}.", class_="small")] if hidden else []
    return _figure(title, svg.bars(shown), *rest)


def _figure(caption: str, *content: Markup) -> Markup:
    return element("figure", element("figcaption", caption), *content)


def _heads_map(matrix: svg.Matrix, maximum: float) -> Markup:
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


def _content_share(averages: HeadAverages) -> Markup:
    heading = element("h2", "Content and position")
    if averages.content_share is None:
        return join([heading, element("p", "This model does not keep content and position apart (§3).")])
    layers = [
        (f"layer {number}", 100 * float(share), "% content")
        for number, share in enumerate(averages.content_share.mean(1), 1)
    ]
    explanation = (
        "Attention depends on q · k, the sum of a content term and a position term. "
        "Only differences between keys matter to a softmax. So the share of content here is the variance of the "
        "content term over the keys of a query, divided by the sum of the variances of both terms: 0 means position "
        f"only, 1 means content only. Averages are over {averages.words:,} words of {averages.sentences:,} sentences."
    )
    figures = (
        _figure("Mean of the heads of a layer", svg.bars(layers)),
        _figure("Each head (dark: content)", _heads_map(averages.content_share, 1.0)),
    )
    return join([heading, element("p", explanation), element("div", *figures, class_="row")])


def _start(averages: HeadAverages) -> Markup:
    heads = averages.look_at_start()
    explanation = (
        "§4.2 of the paper found heads that almost always attend to the start token. "
        f"Even attention would give it {averages.even_start:.1%}. "
        + ("These heads give it half or more:" if heads else "No head gives it half.")
    )
    items = [element("li", f"layer {layer}, head {head}: {share:.0%}") for layer, head, share in heads]
    picture = _heads_map(averages.to_start, 1.0)
    return join(
        [
            element("h2", "Heads that look at the start token"),
            element("p", explanation),
            *([element("ul", *items, class_="columns")] if items else []),
            _figure("Attention of words to the start token (dark: 1)", picture),
        ]
    )


def _distances(averages: HeadAverages) -> Markup:
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
    explanation = (
        "Mean attention of a word to other words by distance; 0 is the word itself, and the first and last columns sum "
        f"up all longer distances. The rest goes to start and stop. The darkest cell is {matrix.max():.2f}."
    )
    return join([element("h2", "How far heads look"), element("p", explanation), element("figure", picture)])


def _example(example: SentenceAttention) -> Markup:
    """All heads as small heat maps; a click on one shows it in full. The page stores the squares of a head once."""
    layers, heads, size, _ = example.probabilities.shape
    ids = [(layer, head) for layer in range(layers) for head in range(heads)]
    squares = (
        element("g", svg.heat_squares(example.probabilities[layer, head]), id=f"c{layer}-{head}") for layer, head in ids
    )
    links = (
        element(
            "a",
            svg.thumbnail(_squares(layer, head), size),
            element("span", f"{layer + 1}.{head + 1}"),
            href=f"#h{layer}-{head}",
            title=f"layer {layer + 1}, head {head + 1}",
        )
        for layer, head in ids
    )
    direction = "rtl" if runs_right_to_left(example.tokens) else "ltr"
    sentence = element("q", " ".join(example.tokens[1:-1]), dir=direction)
    reading = "Layer.head; a row is the word that attends, a column what it attends to. Click on one to see it in full."
    columns = f"grid-template-columns: repeat({heads}, max-content)"
    return join(
        [
            element("h2", "Every head on one sentence"),
            element("p", sentence),
            element("svg", element("defs", *squares), width=0, height=0, class_="defs"),
            element("p", reading, class_="small"),
            element("div", *links, class_="grid", style=columns),
            *(_panel(example, layer, head, first=(layer, head) == ids[0]) for layer, head in ids),
        ]
    )


def _squares(layer: int, head: int) -> Markup:
    """A reference to the squares of a head, which the page contains once."""
    return element("use", href=f"#c{layer}-{head}")


def _panel(example: SentenceAttention, layer: int, head: int, *, first: bool) -> Markup:
    tokens, matrix = example.tokens, example.probabilities[layer, head]
    heat = _heat_map(tokens, matrix, _squares(layer, head))
    caption = "Arcs of 0.1 and more: above, to earlier words; below, to later ones; a dot, to itself"
    return element(
        "section",
        element("h3", f"Layer {layer + 1}, head {head + 1}"),
        element("figure", svg.arcs(tokens, matrix), element("figcaption", caption)),
        element("figure", heat),
        class_="head first" if first else "head",
        id=f"h{layer}-{head}",
    )


def _heat_map(tokens: Sequence[str], matrix: svg.Matrix, squares: Markup | None = None) -> Markup:
    return svg.heat_map(matrix, tokens, tokens, squares=squares, row_title="attends", column_title="is attended to")


def head_pictures(example: SentenceAttention, heads: Sequence[tuple[int, int]]) -> dict[str, str]:
    """Pictures by file name: a heat map and arcs for each (layer, head), counted from 1."""
    pictures: dict[str, str] = {}
    for layer, head in heads:
        matrix = example.probabilities[layer - 1, head - 1]
        pictures[f"head-{layer}.{head}-heat.svg"] = _heat_map(example.tokens, matrix)
        pictures[f"head-{layer}.{head}-arcs.svg"] = svg.arcs(example.tokens, matrix)
    return pictures


_STYLE: Final = f"""
body {{ font: 15px/1.5 system-ui, sans-serif; color: {INK}; margin: 0; background: {PAPER}; }}
main {{ max-width: 1180px; margin: 0 auto; padding: 24px; }}
h1 {{ font-size: 24px; }} h2 {{ margin-top: 44px; border-top: 1px solid {RULE}; padding-top: 18px; font-size: 20px; }}
p {{ max-width: 760px; }} .small, figcaption {{ font-size: 13px; color: {QUIET_INK}; }}
figure {{ margin: 12px 0; overflow-x: auto; }} figcaption {{ margin-bottom: 6px; }}
.row {{ display: flex; flex-wrap: wrap; gap: 12px 48px; align-items: flex-start; }}
.figures {{ display: flex; flex-wrap: wrap; gap: 12px; }}
.figures div {{ background: {PANEL}; border-radius: 6px; padding: 10px 18px; }}
.figures b {{ display: block; font-size: 22px; }} .figures span {{ font-size: 13px; color: {QUIET_INK}; }}
.grid {{ display: grid; gap: 8px; overflow-x: auto; padding-bottom: 8px; }}
.grid a {{ text-decoration: none; color: {QUIET_INK}; font-size: 11px; text-align: center; }}
.grid a:hover .thumb, .grid a:focus .thumb {{ outline: 2px solid {BLUE}; }}
.thumb {{ display: block; }} .grid span {{ display: block; }} .defs {{ position: absolute; }}
.columns {{ columns: 3; max-width: 760px; }} svg .axis {{ fill: {GREY}; }}
.head {{ display: none; }} .head:target {{ display: block; }} main:not(:has(.head:target)) .first {{ display: block; }}
code {{ background: {PANEL}; padding: 1px 4px; border-radius: 3px; }}
"""
