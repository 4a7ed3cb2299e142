"""Results as JSON Lines, so that a resumed run doesn't measure them again."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean, stdev


@dataclass(frozen=True)
class Result:
    """A row of a table, for one seed."""

    key: str  # a digest of the model, the plan, the data and the measures
    table: str
    row: str
    language: str
    seed: int
    figures: dict[str, float]
    model: str  # the name of its folder
    train_seconds: float
    epochs: float
    device: str
    date: str


class Results:
    """The results in a file, by key."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._by_key = {result.key: result for result in _read(path)}

    def get(self, key: str) -> Result | None:
        return self._by_key.get(key)

    def add(self, result: Result) -> None:
        self._by_key[result.key] = result
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write("\n" + json.dumps(asdict(result)) + "\n")  # the line before may have been cut short by a crash


def _read(path: Path) -> list[Result]:
    results = []
    for line in path.read_text("utf-8").splitlines() if path.exists() else []:
        try:
            results.append(Result(**json.loads(line)))
        except (ValueError, TypeError):
            continue  # empty, or cut short by a crash: the row will be run again
    return results


@dataclass(frozen=True)
class Figure:
    """One measure over several seeds."""

    values: tuple[float, ...]

    @property
    def mean(self) -> float:
        return mean(self.values)

    @property
    def deviation(self) -> float:
        """The sample standard deviation; NaN for a single seed."""
        return stdev(self.values) if len(self.values) > 1 else math.nan

    def __str__(self) -> str:
        if len(self.values) < 2:
            return f"{self.mean:,.2f}"
        return f"{self.mean:,.2f} ± {self.deviation:.2f}"


def figure(results: Sequence[Result], measure: str) -> Figure | None:
    values = tuple(result.figures[measure] for result in results if measure in result.figures)
    return Figure(values) if values else None
