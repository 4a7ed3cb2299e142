"""Does the work of ``fencepost analyze``: writes a report on a model."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from fencepost.analysis.attention import AttentionReader
from fencepost.analysis.heads import HeadAverages, average, distance_names
from fencepost.analysis.report import Findings, head_pictures, to_html
from fencepost.backends.torch import TorchBackend
from fencepost.errors import UsageError
from fencepost.evaluation.breakdown import BY, breakdown
from fencepost.evaluation.params import load_params
from fencepost.evaluation.score import Score, compare
from fencepost.model.encoder import SelfAttentiveEncoder
from fencepost.parsing.parser import Parser
from fencepost.storage.model_folder import ModelFolder
from fencepost.storage.text_writer import write_atomically
from fencepost.trees.treebank import Sentence, Treebank

REPORT: Final = "report.html"
GOOD_LENGTHS: Final = range(8, 17)  # of an example: long enough to be interesting, short enough to read


def analyze(
    model: str,
    trees: Treebank,
    out: Path,
    *,
    source: str = "",
    sentence: int | None = None,
    heads: Sequence[tuple[int, int]] = (),
    most: int = 200,
    device: str = "cpu",
    png: bool = False,
) -> Path:
    """Writes ``report.html``, ``report.json`` and pictures of these ``heads`` to ``out``.

    ``sentence`` is the number, from 1, of the sentence whose attention is drawn. Averages are over the first ``most``
    sentences. With ``png``, every picture is also written as a PNG file.
    """
    draw = _png() if png else None
    folder = ModelFolder.open(model)
    backend = TorchBackend.load(folder, device)
    params = load_params(folder.config.eval.params)
    parsed = Parser(backend, folder.config, folder.vocabularies).parse(trees.sentences())
    comparisons = compare(trees, parsed, params)
    score = Score.over(comparisons, params.cutoff)
    errors = {kind: breakdown(comparisons, kind) for kind in BY}
    findings = Findings(model, source, score, errors)
    pictures: dict[str, str] = {}
    if isinstance(backend.model.encoder, SelfAttentiveEncoder):
        reader = AttentionReader(backend, folder.config, folder.vocabularies)
        averages = average(reader.read(each) for each in list(trees.sentences())[:most])
        example = reader.read(choose(trees, sentence))
        findings = Findings(model, source, score, errors, averages, example)
        _check_heads(heads, averages)
        pictures = head_pictures(example, heads)
    elif heads:
        raise UsageError("this model has no attention heads", hint="leave out --heads")
    out.mkdir(parents=True, exist_ok=True)
    files = {**pictures, "report.json": json.dumps(to_json(findings), indent=1) + "\n", REPORT: to_html(findings)}
    for name, text in files.items():
        with write_atomically(out / name) as file:
            file.write(text)
    for name, content in draw(findings, heads).items() if draw else ():
        (out / name).write_bytes(content)
    return out / REPORT


def _png() -> Callable[[Findings, Sequence[tuple[int, int]]], dict[str, bytes]]:
    """Imports matplotlib, an extra: if it is missing, the error comes before hours of parsing."""
    from fencepost.analysis.png import pictures

    return pictures


def choose(trees: Treebank, number: int | None) -> Sentence:
    """The sentence with this number. Default: the first of good length, or simply the first."""
    if number is None:
        good = (tree for tree in trees if len(tree.leaves()) in GOOD_LENGTHS)
        return Sentence.of(next(good, trees[0]))
    if not 1 <= number <= len(trees):
        raise UsageError(f"there is no sentence {number}", hint=f"use a number from 1 to {len(trees)}")
    return Sentence.of(trees[number - 1])


def _check_heads(heads: Sequence[tuple[int, int]], averages: HeadAverages) -> None:
    layers, width = averages.to_start.shape
    for layer, head in heads:
        if not (1 <= layer <= layers and 1 <= head <= width):
            raise UsageError(
                f"there is no head {layer}.{head}", hint=f"the model has layers 1 to {layers}, heads 1 to {width}"
            )


def to_json(findings: Findings) -> dict[str, object]:
    """The figures of the report as JSON."""
    averages = findings.averages
    content: dict[str, object] = {
        "model": findings.model,
        "trees": findings.trees,
        "score": findings.score.to_json(),
        "errors": {kind: [row.to_json() for row in rows] for kind, rows in findings.errors.items()},
    }
    if averages is not None:
        share = averages.content_share
        content["heads"] = {
            "content_share": None if share is None else share.tolist(),
            "to_start": averages.to_start.tolist(),
            "to_stop": averages.to_stop.tolist(),
            "distance_names": distance_names(),
            "distances": averages.distances.tolist(),
            "even_start": averages.even_start,
            "sentences": averages.sentences,
            "words": averages.words,
        }
    return content
