"""Puts tables that `fencepost reproduce` wrote for several treebanks beside the published ones, as Markdown.

    python benchmarks/tables_beside.py craft=results/craft wsj-sample=results/wsj    # Tables 1 to 6
    python benchmarks/tables_beside.py --languages results/languages                 # Table 7, one line per treebank

Reads only the JSON files. Differences are from the table's reference row, in the paper and here, seed by seed.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from fencepost.experiments.tables import load_table

TABLES = ["table1", "table2", "table3", "table4", "table5", "table6"]
NAMES = {"dev_f1": "development F1", "test_f1": "test F1", "test_recall": "recall", "test_precision": "precision"}
ONLY, WORDS, BETTER = "CharLSTM only", "CharLSTM + word embeddings", "better on development data"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", metavar="NAME=DIR")
    parser.add_argument("--languages", type=Path, metavar="DIR")
    arguments = parser.parse_args()
    folders = {name: Path(folder) for name, _, folder in (text.partition("=") for text in arguments.folders)}
    for table in TABLES:
        files = {name: path for name, folder in folders.items() if (path := folder / f"{table}.json").is_file()}
        if files:
            print(beside(table, {name: read(path) for name, path in files.items()}))
    if arguments.languages is not None:
        print(languages(read(arguments.languages / "table7.json")))


def read(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return content


def beside(name: str, tables: dict[str, dict[str, Any]]) -> str:
    table = load_table(name)
    rows = {treebank: {row["row"]: row for row in content["rows"]} for treebank, content in tables.items()}
    lines = [["", *(f"{source}: {NAMES[each]}" for source in ("paper", *tables) for each in table.measures)]]
    lines.append(["---"] * len(lines[0]))
    columns = [(next(iter(rows.values())), "published"), *((results, "ours") for results in rows.values())]
    for row in table.rows:
        if not any(results[row.name]["results"] for results in rows.values()):
            continue  # skipped everywhere
        numbers = [
            with_difference(results, row.name, table.reference, each, key)
            for results, key in columns
            for each in table.measures
        ]
        lines.append([row.name, *numbers])
    return f"### {table.title}\n\n" + "".join(f"| {' | '.join(line)} |\n" for line in lines)


def with_difference(rows: dict[str, Any], row: str, reference: str | None, measure: str, key: str) -> str:
    """A number and its difference from the reference row; with several seeds, means over the seeds that both have."""
    numbers = by_seed(rows[row], measure, key)
    if not numbers:
        return "–"
    deviation = f" ± {stdev(numbers.values()):.2f}" if len(numbers) > 1 else ""
    text = f"{mean(numbers.values()):.2f}{deviation}"
    others = by_seed(rows[reference], measure, key) if reference and reference != row else {}
    shared = [seed for seed in numbers if seed in others]
    if not shared:
        return text
    return f"{text} ({round(mean(numbers[seed] - others[seed] for seed in shared), 2) + 0.0:+.2f})"


def by_seed(row: dict[str, Any], measure: str, key: str) -> dict[int, float]:
    """Numbers by seed; a published number counts as seed 1."""
    if key == "ours":
        return {result["seed"]: result["figures"][measure] for result in row["results"]}
    number = row["measures"][measure]["published"]
    return {} if number is None else {1: number}


def languages(content: dict[str, Any]) -> str:
    heading = [
        "treebank",
        "sentences",
        "development F1: CharLSTM",
        "+ words",
        "better: test F1",
        "seconds to train both",
    ]
    lines = [heading, ["---"] * len(heading)]
    for treebank in dict.fromkeys(row["treebank"] for row in content["rows"]):
        rows = {row["row"]: row for row in content["rows"] if row["treebank"] == treebank}
        better = rows[BETTER]
        seconds = sum(result["train_seconds"] for name in (ONLY, WORDS) for result in rows[name]["results"])
        cells = [treebank, " / ".join(f"{size:,}" for size in better["sentences"])]
        cells += [_number(rows[name], "dev_f1") for name in (ONLY, WORDS)] + [_number(better, "test_f1")]
        lines.append([*cells, f"{seconds:,.0f}" if all(rows[name]["results"] for name in (ONLY, WORDS)) else "–"])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _number(row: dict[str, Any], measure: str) -> str:
    number = row["measures"].get(measure, {}).get("ours")
    return "–" if number is None else f"{number:.2f}"


if __name__ == "__main__":
    main()
