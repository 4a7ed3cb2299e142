"""A parsed sentence as plain data: the fields of ``fencepost parse --format json`` and of the server's answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fencepost.parsing.confidence import Analysis, Constituent, ScoredTree
    from fencepost.text.stream import TextSentence


def sentence_record(found: TextSentence, analysis: Analysis | None) -> dict[str, Any]:
    """A sentence as plain data. Offsets of tokens count characters of ``text``; those of constituents count tokens."""
    tags = [None] * len(found.tokens) if analysis is None else analysis.tree.tags()
    content: dict[str, Any] = {
        "text": found.text,
        "offset": found.offset,
        "tokens": [
            {"text": token.text, "start": token.start, "end": token.end, "tag": tag}
            for token, tag in zip(found.tokens, tags, strict=True)
        ],
        "tree": None if analysis is None else str(analysis.tree),
        "score": None if analysis is None else analysis.score,
        "constituents": [] if analysis is None else [_constituent(part) for part in analysis.constituents],
    }
    if analysis is not None and analysis.trees:
        content["kbest"] = [_scored(one) for one in analysis.trees]
    return content


def _constituent(part: Constituent) -> dict[str, Any]:
    plain: dict[str, Any] = {"label": part.label, "start": part.start, "end": part.end}
    if part.probability is not None:
        plain["probability"] = round(part.probability, 6)
    if part.function_probability is not None:
        plain |= {"function": part.function, "function_probability": round(part.function_probability, 6)}
    return plain


def _scored(one: ScoredTree) -> dict[str, Any]:
    plain: dict[str, Any] = {"tree": str(one.tree), "score": one.score, "probability": one.probability}
    if one.constituents:
        plain["constituents"] = [_constituent(part) for part in one.constituents]
    return plain
