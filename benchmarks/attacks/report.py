"""Writes the results of the attacks as a table into docs/results/reliability.md."""

from __future__ import annotations

import json
from typing import Any, Final

from benchmarks.attacks.harness import RESULTS

PAGE: Final = RESULTS.with_suffix(".md")
BEGIN, END = "<!-- attacks -->\n", "<!-- end of attacks -->\n"


def write() -> None:
    latest: dict[str, dict[str, Any]] = {}
    for line in RESULTS.read_text("utf-8").splitlines():
        outcome = json.loads(line)
        earlier = latest.get(outcome["attack"], {}).get("all", 0)
        latest[outcome["attack"]] = {**outcome, "all": earlier + outcome["cases"]}
    before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(before + BEGIN + _table(list(latest.values())) + END + after, "utf-8")


def _table(outcomes: list[dict[str, Any]]) -> str:
    head = (
        "| attack | cases | in all runs | failures | written outside | slowest case | most memory | date | command |\n"
    )
    lines = [head, "|---|---|---|---|---|---|---|---|---|\n"]
    for each in outcomes:
        slowest = f"{each['slowest_seconds']:.1f} s" if each["slowest_seconds"] else "–"
        memory = f"{each['peak_mb']:,} MB" if each["peak_mb"] else "–"
        cells = [
            each["attack"],
            f"{each['cases']:,}",
            f"{each['all']:,}",
            each["failures"],
            each["written_outside"],
            slowest,
            memory,
        ]
        cells += [each["date"], f"`{each['command']}`"]
        lines.append(f"| {' | '.join(map(str, cells))} |\n")
    details = [f"- {each['attack']}: {_details(each)}\n" for each in outcomes if each["outcomes"] or each["note"]]
    return "\n" + "".join(lines) + "\nHow the cases ended:\n\n" + "".join(details) + "\n"


def _details(outcome: dict[str, Any]) -> str:
    counts = ", ".join(f"{name} ({count:,})" for name, count in outcome["outcomes"].items())
    return "; ".join(filter(None, (counts, outcome["note"])))
