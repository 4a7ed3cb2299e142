"""Scores as text in evalb's words and columns, so that scripts that read evalb's output keep working."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from fencepost.evaluation.evalb import Comparison, Status
from fencepost.evaluation.score import Counts, Score

_RULE: Final = "=" * 76
_HEADER: Final = (
    "  Sent.                        Matched  Bracket   Cross        Correct Tag\n"
    " ID  Len.  Stat. Recal  Prec.  Bracket gold test Bracket Words  Tags Accracy\n"
    f"{_RULE}\n"
)


def problems(comparisons: Iterable[Comparison]) -> list[str]:
    """A line for each sentence that is an error: ``12 : Words unmatch (is|was)``."""
    return [f"{number} : {each.problem}" for number, each in enumerate(comparisons, 1) if each.problem]


def skipped(comparisons: Iterable[Comparison]) -> list[int]:
    """The numbers of the sentences without a prediction."""
    return [number for number, each in enumerate(comparisons, 1) if each.status is Status.SKIPPED]


def per_sentence(comparisons: Sequence[Comparison]) -> str:
    """evalb's table: a row for every sentence, then the totals."""
    rows = [f"{_row(number, comparison)}\n" for number, comparison in enumerate(comparisons, 1)]
    return _HEADER + "".join(rows) + f"{_RULE}\n{_totals(Counts.of(comparisons))}\n"


def _row(number: int, comparison: Comparison) -> str:
    counts = Counts.of([comparison])
    return (
        f"{number:4d}  {comparison.length:3d}    {comparison.status:d}  {counts.recall:6.2f} {counts.precision:6.2f}"
        f"   {counts.matched:3d}    {counts.gold:3d}  {counts.predicted:3d}    {counts.crossing:3d}"
        f"   {counts.words:4d}  {counts.correct_tags:4d}   {counts.tag_accuracy:6.2f}"
    )


def _totals(counts: Counts) -> str:
    tags = f"  {counts.words:5d} {counts.correct_tags:5d}   {counts.tag_accuracy:6.2f}"
    if not counts.gold or not counts.predicted:
        return tags
    return (
        f"                {counts.recall:6.2f} {counts.precision:6.2f} {counts.matched:6d}"
        f" {counts.gold:5d} {counts.predicted:5d}  {counts.crossing:5d}{tags}"
    )


def summary(score: Score) -> str:
    """evalb's summary."""
    return f"=== Summary ===\n\n-- All --\n{_block(score)}\n-- len<={score.cutoff} --\n{_block(score.short)}"


def _block(counts: Counts) -> str:
    return (
        f"Number of sentence        = {counts.sentences:6d}\n"
        f"Number of Error sentence  = {counts.errors:6d}\n"
        f"Number of Skip  sentence  = {counts.skipped:6d}\n"
        f"Number of Valid sentence  = {counts.valid:6d}\n"
        f"Bracketing Recall         = {counts.recall:6.2f}\n"
        f"Bracketing Precision      = {counts.precision:6.2f}\n"
        f"Bracketing FMeasure       = {_f_measure(counts)}\n"
        f"Complete match            = {counts.complete_match:6.2f}\n"
        f"Average crossing          = {counts.average_crossing:6.2f}\n"
        f"No crossing               = {counts.no_crossing:6.2f}\n"
        f"2 or less crossing        = {counts.two_or_less_crossing:6.2f}\n"
        f"Tagging accuracy          = {counts.tag_accuracy:6.2f}\n"
    )


def _f_measure(counts: Counts) -> str:
    # As evalb computes it: exact arithmetic would differ in the last digit once in a while.
    if not counts.matched:
        return "  -nan"
    return f"{2 * counts.precision * counts.recall / (counts.precision + counts.recall):6.2f}"


def sentence_to_json(comparison: Comparison) -> dict[str, Any]:
    """A row of the table as JSON. If the sentence is not valid, its figures are 0."""
    counts = Counts.of([comparison])
    return {
        "status": int(comparison.status),
        "problem": comparison.problem,
        "length": comparison.length,
        "recall": counts.recall,
        "precision": counts.precision,
        "matched_brackets": counts.matched,
        "gold_brackets": counts.gold,
        "predicted_brackets": counts.predicted,
        "crossing": counts.crossing,
        "words": counts.words,
        "correct_tags": counts.correct_tags,
    }
