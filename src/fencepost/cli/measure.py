"""``fencepost measure``: syntactic complexity of texts or trees, one row per file."""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from fencepost.cli.parsed_files import add_input_options, file_names, read_parsed
from fencepost.progress import Progress

EXAMPLES: Final = """\
examples:
  fencepost measure essay.txt
  fencepost measure essays/ --csv > measures.csv
  fencepost measure essays/*.txt --json > measures.jsonl
  fencepost measure essays/ --csv --workers 4
  fencepost measure gold-trees.txt
  fencepost measure --text "She left because it rained."

The figures are L2SCA's nine counts and fourteen indices, Yngve and Frazier depth, embedding, branching and
node counts. docs/measures.md defines them. For texts, confidence says how sure the parser was of the
structures that were counted. Files of trees have no confidence.
"""
_FILE: Final = "Filename"  # as L2SCA calls the column
_LOW: Final = 0.8


def add_command(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "measure",
        help="measure the syntactic complexity of texts or trees",
        description="Measure the syntactic complexity of texts or trees: one row per file.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_input_options(parser)
    output = parser.add_mutually_exclusive_group()
    output.add_argument("--csv", action="store_true", help="print a table as CSV, one line per file")
    output.add_argument("--json", action="store_true", help="print JSON Lines, one object per file")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    from fencepost.measures.measure import TextMeasures

    names = list(dict.fromkeys(file_names(arguments)))  # a file that is named twice counts once
    texts = {name: TextMeasures() for name in names}
    with Progress("measuring", None, "sentences") as bar:
        for sentence in read_parsed(arguments, names, probabilities=True):
            texts[sentence.file].add(sentence.tree, sentence.probabilities)
            bar.advance(1)
    rows = [{_FILE: name, **text.row()} for name, text in texts.items()]
    write = write_json if arguments.json else write_csv if arguments.csv else write_table
    write(rows)
    return 0


def write_json(rows: Sequence[Mapping[str, Any]]) -> None:
    """One object per line."""
    for row in rows:
        print(json.dumps(row, ensure_ascii=False))


def write_csv(rows: Sequence[Mapping[str, Any]]) -> None:
    """One line per file. Each confidence and each label has a column of its own, the most frequent labels first."""
    frequency: Counter[str] = sum((Counter(row["labels"]) for row in rows), start=Counter())
    names = [f"nodes_{label}" for label, _ in frequency.most_common()]
    flat = [_flat(row) for row in rows]
    writer = csv.DictWriter(sys.stdout, [*_flat({**rows[0], "labels": {}}), *names], restval=0, lineterminator="\n")
    writer.writeheader()
    writer.writerows(flat)


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    figures = {name: value for name, value in row.items() if name not in {"labels", "confidence"}}
    sure = {f"confidence_{name}": value for name, value in row["confidence"].items()}
    return {**figures, **sure, **{f"nodes_{label}": number for label, number in row["labels"].items()}}


def write_table(rows: Sequence[Mapping[str, Any]]) -> None:
    """A block per file: each figure with its meaning and, for texts, how sure the parser was."""
    from fencepost.measures.names import DESCRIPTIONS

    for number, row in enumerate(rows):
        confidence = row["confidence"]
        parsed = confidence["all"] is not None
        print(("\n" if number else "") + f"{row[_FILE]}\n{'':24}{'value':>10}{'  confidence' if parsed else ''}")
        for name, meaning in DESCRIPTIONS.items():
            sure = confidence.get(name, confidence["all"])
            doubt = " (low confidence)" if sure is not None and sure < _LOW else ""
            print(f"  {name:22}{_shown(row[name]):>10}{f'{_shown(sure):>12}' if parsed else ''}  {meaning}{doubt}")
        print("  labels: " + ", ".join(f"{label} {count}" for label, count in row["labels"].items()))


def _shown(value: float | None) -> str:
    if value is None:
        return "-"
    return str(value) if isinstance(value, int) else f"{value:.3f}"
