"""What to draw of an analysis: its trees, each with a title, and with probabilities beside the labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fencepost.drawing.html import Drawing

if TYPE_CHECKING:
    from fencepost.parsing.confidence import Analysis


def drawings_of(analysis: Analysis | None) -> list[Drawing]:
    """The trees to draw. Their titles are empty unless there are k best trees."""
    if analysis is None:
        return []
    if not analysis.trees:
        return [Drawing("", analysis.tree, _notes(analysis))]
    titles = [f"{rank}: {_percent(one.probability)}" for rank, one in enumerate(analysis.trees, 1)]
    notes = [_notes(analysis) if one.tree == analysis.tree else None for one in analysis.trees]
    return [Drawing(title, one.tree, note) for one, title, note in zip(analysis.trees, titles, notes, strict=True)]


def _notes(analysis: Analysis) -> list[str] | None:
    """A probability for each phrase, but none for the root symbol, which is certain."""
    notes = [_percent(part.probability) for part in analysis.constituents]
    missing = sum(1 for _ in analysis.tree.subtrees()) - len(notes)
    return [""] * missing + notes if any(notes) else None


def _percent(probability: float | None) -> str:
    return "" if probability is None else f"{probability:.0%}"
