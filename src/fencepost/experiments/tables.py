"""The tables of the paper as data: one TOML file each, with settings, rows and the published numbers."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from typing import Any, Final

from fencepost.errors import UsageError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

MEASURES: Final = {  # with their column headings
    "dev_f1": "development F1",
    "test_recall": "test recall",
    "test_precision": "test precision",
    "test_f1": "test F1",
    "train_seconds": "training, seconds",
    "dev_seconds": "development set, seconds",
    "decoding_percent": "chart decoding, % of parsing",
}
ALL_LANGUAGES: Final = "any"


@dataclass(frozen=True)
class Row:
    """One system. Rows with the same ``settings`` share a model, and differ in their ``plan`` at test time."""

    name: str
    settings: tuple[str, ...] = ()  # key=value; they override those of the table
    plan: tuple[str, ...] = ()  # key=value of eval.plan, used only at test time
    best_of: tuple[str, ...] = ()  # no model of its own: takes the row of these that is best on development data
    needs: str = ""  # a setting that the user must give for this row
    measures: tuple[str, ...] = ()  # if they differ from those of the table
    published: Mapping[str, Mapping[str, float]] = field(default_factory=dict)  # language -> measure -> number


@dataclass(frozen=True)
class Table:
    name: str
    title: str
    config: str  # the name of the configuration to start from
    settings: tuple[str, ...]  # key=value, for all rows
    measures: tuple[str, ...]
    rows: tuple[Row, ...]
    reference: str = ""  # the row that the others are compared with
    languages: bool = False  # True if it is run on every treebank, not only the first
    by_language: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # settings for some languages

    def row(self, name: str) -> Row:
        return next(row for row in self.rows if row.name == name)

    def measures_of(self, row: Row) -> tuple[str, ...]:
        return row.measures or self.measures

    def columns(self) -> list[str]:
        """The measures of all rows, each once."""
        return list(dict.fromkeys(measure for row in self.rows for measure in self.measures_of(row)))


def table_names() -> list[str]:
    folder = resources.files("fencepost.experiments").joinpath("acl2018")
    return sorted(entry.name.removesuffix(".toml") for entry in folder.iterdir() if entry.name.endswith(".toml"))


def load_table(name: str) -> Table:
    if name not in table_names():
        raise UsageError(f"no table is called {name}", hint=f"one of {', '.join(table_names())}, or all")
    text = resources.files("fencepost.experiments").joinpath("acl2018").joinpath(f"{name}.toml").read_text("utf-8")
    content = tomllib.loads(text)
    return Table(
        name=name,
        title=content["title"],
        config=content["config"],
        settings=tuple(content["settings"]),
        measures=tuple(content["measures"]),
        rows=tuple(_row(row) for row in content["rows"]),
        reference=content.get("reference", ""),
        languages=content.get("languages", False),
        by_language={code: tuple(settings) for code, settings in content.get("by_language", {}).items()},
    )


def _row(content: Mapping[str, Any]) -> Row:
    published = content.get("published", {})
    flat = published and not isinstance(next(iter(published.values())), dict)
    return Row(
        name=content["name"],
        settings=tuple(content.get("settings", ())),
        plan=tuple(content.get("plan", ())),
        best_of=tuple(content.get("best_of", ())),
        needs=content.get("needs", ""),
        measures=tuple(content.get("measures", ())),
        published={ALL_LANGUAGES: published} if flat else published,
    )
