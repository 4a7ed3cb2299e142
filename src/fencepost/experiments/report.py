"""A table as Markdown and JSON: the published number, ours, the difference, and the training time."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean
from typing import Any

from fencepost.experiments.results import Result, figure
from fencepost.experiments.tables import ALL_LANGUAGES, MEASURES, Row, Table
from fencepost.storage.text_writer import write_atomically


@dataclass(frozen=True)
class Outcome:
    """A row of a table on one treebank: a result for each seed, or the reason why some are missing."""

    row: Row
    treebank: str
    results: tuple[Result, ...] = ()
    problem: str = ""
    sizes: tuple[int, int, int] = (0, 0, 0)  # training, development and test trees

    def published(self, measure: str) -> float | None:
        numbers = self.row.published.get(self.treebank) or self.row.published.get(ALL_LANGUAGES) or {}
        return numbers.get(measure)

    def ours(self, measure: str) -> float | None:
        value = figure(self.results, measure)
        return None if value is None else value.mean


def write_table(table: Table, outcomes: Sequence[Outcome], path: Path, notes: Sequence[str]) -> None:
    """Writes ``PATH.md`` and ``PATH.json``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with write_atomically(f"{path}.md") as file:
        file.write(to_markdown(table, outcomes, notes))
    with write_atomically(f"{path}.json") as file:
        file.write(json.dumps(to_json(table, outcomes, notes), ensure_ascii=False, indent=1) + "\n")


def to_markdown(table: Table, outcomes: Sequence[Outcome], notes: Sequence[str]) -> str:
    reference = next((outcome for outcome in outcomes if outcome.row.name == table.reference), None)
    heading = _heading(table)
    lines = [heading, ["---"] * len(heading), *(_cells(table, outcome, reference) for outcome in outcomes)]
    rows = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    return f"# {table.title}\n\n{rows}\n{''.join(f'- {note}{chr(10)}' for note in _all_notes(table, outcomes, notes))}"


def _all_notes(table: Table, outcomes: Sequence[Outcome], notes: Sequence[str]) -> list[str]:
    results = [result for outcome in outcomes for result in outcome.results]
    devices = sorted({result.device for result in results})
    dates = sorted({result.date for result in results})
    means = _means(table, outcomes) if table.languages else []
    several = ["Over several seeds: mean ± sample standard deviation."] if len({r.seed for r in results}) > 1 else []
    return [*means, *notes, *several, *([f"Measured on {', '.join(devices)}; {', '.join(dates)}."] if results else [])]


def _means(table: Table, outcomes: Sequence[Outcome]) -> list[str]:
    """The mean of each row over the treebanks, as in the paper's last column, and the published mean if it is known."""
    notes = []
    for row in table.rows:
        for measure in table.measures_of(row):
            mine = [outcome for outcome in outcomes if outcome.row == row and outcome.ours(measure) is not None]
            if len(mine) > 1:
                ours = mean(outcome.ours(measure) or 0.0 for outcome in mine)
                published = [number for outcome in mine if (number := outcome.published(measure)) is not None]
                beside = f", published {mean(published):.2f}" if len(published) == len(mine) else ""
                notes.append(f"Mean of {len(mine)} treebanks, {row.name}, {MEASURES[measure]}: {ours:.2f}{beside}.")
    return notes


def _heading(table: Table) -> list[str]:
    columns = ["treebank", "sentences"] if table.languages else []
    columns.append("row")
    for measure in table.columns():
        columns += [f"{MEASURES[measure]}: published", "ours", "difference"]
    if table.reference:
        columns += [f"against “{table.reference}”: published", "ours"]
    return [*columns, "seconds to train", "epochs", "seeds", "remarks"]


def _cells(table: Table, outcome: Outcome, reference: Outcome | None) -> list[str]:
    cells = [outcome.treebank, " / ".join(f"{size:,}" for size in outcome.sizes)] if table.languages else []
    cells.append(outcome.row.name)
    for measure in table.columns():
        ours = figure(outcome.results, measure)
        difference = _minus(outcome.ours(measure), outcome.published(measure))
        cells += [_number(outcome.published(measure)), "" if ours is None else str(ours), _signed(difference)]
    if table.reference:
        cells += [_signed(gain) for gain in _gains(table, outcome, reference)]
    count = len(outcome.results)
    seconds = sum(result.train_seconds for result in outcome.results) / count if count else None
    epochs = sum(result.epochs for result in outcome.results) / count if count else None
    return [
        *cells,
        "" if seconds is None else f"{seconds:,.0f}",
        "" if epochs is None else f"{epochs:.1f}",
        ", ".join(str(result.seed) for result in outcome.results),
        _remarks(outcome),
    ]


def _remarks(outcome: Outcome) -> str:
    """What went wrong; or, if a row takes the best of several models, which one that was."""
    chosen = sorted({result.row for result in outcome.results}) if outcome.row.best_of else []
    return outcome.problem or ", ".join(chosen)


def _gains(table: Table, outcome: Outcome, reference: Outcome | None) -> list[float | None]:
    """How far a row is above the reference, in the paper and here."""
    measure = table.measures[0]
    if reference is None:
        return [None, None]
    published = _minus(outcome.published(measure), reference.published(measure))
    return [published, _minus(outcome.ours(measure), reference.ours(measure))]


def to_json(table: Table, outcomes: Sequence[Outcome], notes: Sequence[str]) -> dict[str, Any]:
    return {
        "table": table.name,
        "title": table.title,
        "notes": _all_notes(table, outcomes, notes),
        "rows": [_row_to_json(table, outcome) for outcome in outcomes],
    }


def _row_to_json(table: Table, outcome: Outcome) -> dict[str, Any]:
    measures = {}
    for measure in table.measures_of(outcome.row):
        ours = figure(outcome.results, measure)
        deviation = None if ours is None or math.isnan(ours.deviation) else ours.deviation
        measures[measure] = {
            "published": outcome.published(measure),
            "ours": None if ours is None else ours.mean,
            "deviation": deviation,
            "difference": _minus(outcome.ours(measure), outcome.published(measure)),
        }
    return {
        "row": outcome.row.name,
        "treebank": outcome.treebank,
        "sentences": outcome.sizes,
        "measures": measures,
        "problem": outcome.problem or None,
        "results": [asdict(result) for result in outcome.results],
    }


def _minus(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one - other


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:,.2f}"


def _signed(value: float | None) -> str:
    return "" if value is None else f"{round(value, 2) + 0.0:+,.2f}"  # never -0.00
