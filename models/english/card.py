"""Fills the tables into the card of a model.

    python models/english/card.py --template models/english/cards/en.md --scores SCORES.json --errors ERRORS.json
        --speed CPU.json [GPU.json] --out CARD.md

SCORES.json comes from evaluate.py, ERRORS.json from errors.py, and CPU.json and GPU.json from `fencepost bench --json`.
The template has the text of the card, and a line such as {{scores}} for each table.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from evaluate import COLUMNS, row, shown

PLACE: Final = re.compile(r"^\{\{(\w+)\}\}$", re.MULTILINE)
LEAST: Final = 50  # a function that all test sets together have less often has no row of its own
KINDS: Final = ("functions", "function_baseline")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--template", type=Path, required=True)
    options.add_argument("--scores", type=Path, required=True)
    options.add_argument("--errors", type=Path, required=True)
    options.add_argument("--speed", type=Path, nargs="+", required=True)
    options.add_argument("--out", type=Path, required=True)
    arguments = options.parse_args()
    scores, errors = read(arguments.scores), read(arguments.errors)
    tables = {
        "scores": score_table(scores),
        "probabilities": probability_table(scores),
        "functions": function_table(scores),
        "errors": error_table(errors),
        "speed": speed_table([read(path) for path in arguments.speed]),
    }
    arguments.out.write_text(filled(arguments.template.read_text("utf-8"), tables), "utf-8")


def read(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


def filled(template: str, tables: Mapping[str, Iterator[str]]) -> str:
    """The template with its tables. Raises SystemExit unless it has a place for each of them and no other."""
    places = PLACE.findall(template)
    if sorted(places) != sorted(tables):
        raise SystemExit(f"the template has places for {', '.join(places)}, and the tables are {', '.join(tables)}")
    lines = {name: "\n".join(table) for name, table in tables.items()}
    return PLACE.sub(lambda place: lines[place[1]], template)


def score_table(scores: Mapping[str, Any]) -> Iterator[str]:
    yield from heading(["test set", *COLUMNS.values()])
    for corpus, figures in scores.items():
        yield shown(f"**{corpus}**", figures)
        for genre, part in figures["genres"].items():
            yield shown(f"{corpus}: {genre}", part)


def probability_table(scores: Mapping[str, Any]) -> Iterator[str]:
    yield from heading(["test set", "calibration error", "constituents with 0.99 or more", "right among them"])
    for corpus, figures in scores.items():
        right = figures["right_if_sure"]
        shares = [f"{100 * figures['sure']:.1f}%", "–" if right is None else f"{100 * right:.2f}%"]
        yield row([corpus, f"{figures['calibration_error']:.4f}", *shares])


def function_table(scores: Mapping[str, Any]) -> Iterator[str]:
    """F1 of functions; in brackets that of the baseline. The last column is their number in the gold trees.

    The first row is the share of all constituents, with and without a function, that get the right one.
    """
    by_set = {corpus: _by_function(figures.get("functions")) for corpus, figures in scores.items()}
    baseline = {corpus: _by_function(figures.get("function_baseline")) for corpus, figures in scores.items()}
    total: dict[str, int] = {}
    for found in by_set.values():
        for name, (_, gold) in found.items():
            total[name] = total.get(name, 0) + gold
    yield from heading(["function", *scores, "in the gold trees"])
    accuracy = [_beside(*(_accuracy(figures.get(key)) for key in KINDS)) for figures in scores.values()]
    if set(accuracy) != {"–"}:
        yield row(["right, or rightly none", *accuracy, ""])
    for name in sorted(total, key=lambda name: (name != "all", -total[name], name)):
        if total[name] >= LEAST:
            cells = [_beside(by_set[corpus].get(name), baseline[corpus].get(name)) for corpus in scores]
            yield row([name if name == "all" else f"`{name}`", *cells, f"{total[name]:,}"])


def _accuracy(figures: Mapping[str, Any] | None) -> tuple[float, int] | None:
    return None if figures is None or "accuracy" not in figures else (float(figures["accuracy"]), 1)


def _by_function(figures: Mapping[str, Any] | None) -> dict[str, tuple[float, int]]:
    """F1 and the number in the gold trees, by function and for ``all`` of them."""
    if figures is None:
        return {}
    rows = figures["by_function"]
    found = {each["name"]: (float(each["f1"]), int(each["gold"])) for each in rows}
    return {"all": (float(figures["f1"]), sum(gold for _, gold in found.values())), **found}


def _beside(found: tuple[float, int] | None, baseline: tuple[float, int] | None) -> str:
    if found is None or not found[1]:
        return "–"
    return f"{found[0]:.1f}" + ("" if baseline is None else f" ({baseline[0]:.1f})")


def error_table(errors: Mapping[str, Sequence[Mapping[str, Any]]]) -> Iterator[str]:
    """The counts of all test sets together: in the gold trees, and for each model found and right."""
    models = list(errors)
    totals: dict[str, dict[str, list[int]]] = {}
    for model in models:
        for each in errors[model]:
            counts = totals.setdefault(each["phenomenon"], {}).setdefault(model, [0, 0, 0])
            for place, name in enumerate(("gold", "found", "right")):
                counts[place] += each[name]
    yield from heading(["", "gold", *(f"{Path(model).name}: found, right" for model in models)])
    for phenomenon, found in totals.items():
        cells = [f"{found[model][1]:,}, {found[model][2]:,}" for model in models]
        yield row([phenomenon, f"{found[models[0]][0]:,}", *cells])


def speed_table(benches: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield from heading(["", "sentences per second", "per CPU-second", "start to first tree, CPU-seconds"])
    for bench in benches:
        speed = [bench["sentences_per_second"], bench["sentences_per_cpu_second"]]
        start = f"{bench['cold_start_cpu_seconds']:.2f}"
        yield row([f"{bench['backend']} on {bench['device']}", *(f"{number:,.0f}" for number in speed), start])


def heading(cells: Sequence[str]) -> list[str]:
    return [row(cells), row(["---"] * len(cells))]


if __name__ == "__main__":
    main()
