"""The tables as files: all of the paper's, with settings that exist and numbers that the paper has."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from fencepost.config.settings import Config
from fencepost.config.toml import load_config
from fencepost.errors import UsageError
from fencepost.experiments.tables import ALL_LANGUAGES, MEASURES, Row, Table, load_table, table_names

TABLES = [load_table(name) for name in table_names()]
ROWS = [pytest.param(table, row, id=f"{table.name}: {row.name}") for table in TABLES for row in table.rows]


def test_every_table_of_the_paper_is_there() -> None:
    assert table_names() == ["speed", *(f"table{number}" for number in range(1, 8))]


@pytest.mark.parametrize(("table", "row"), ROWS)
def test_the_settings_of_every_row_make_a_configuration(table: Table, row: Row) -> None:
    needed = [f"{row.needs}=some-encoder"] if row.needs else []
    config = load_config(table.config, [*table.settings, *row.settings, *row.plan, *needed])
    assert config.encoder.d_model == 1024


@pytest.mark.parametrize(("table", "row"), ROWS)
def test_what_is_published_is_what_is_measured(table: Table, row: Row) -> None:
    assert set(table.measures_of(row)) <= set(MEASURES)
    for numbers in row.published.values():
        assert set(numbers) <= set(table.measures_of(row))


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_rows_have_names_of_their_own_and_the_reference_is_one_of_them(table: Table) -> None:
    names = [row.name for row in table.rows]
    assert len(set(names)) == len(names)
    assert not table.reference or table.reference in names


TAGS = {"lexical": ("words", "tags")}
BASE = {**TAGS, "encoder.position": "added", "encoder.projection": "dense"}
CHAR_LSTM: dict[str, Any] = {}  # as in the configuration ``paper``
MIXED = {"pretrained.model": "GIVEN", "pretrained.frozen": True, "pretrained.layers": "mix"}
ENCODER: dict[str, Any] = {"lexical": ("pretrained",), "encoder.layers": 4, **MIXED}
ELMO: dict[str, Any] = {"lexical": ("vectors",), "encoder.layers": 4, "vectors.path": "GIVEN"}


def window(distance: int, relaxed: bool, *sections: str) -> dict[str, Any]:
    changed: dict[str, Any] = dict(TAGS)
    for section in sections:
        changed |= {f"{section}.plan.window": distance} | ({f"{section}.plan.relaxed": True} if relaxed else {})
    return changed


TABLE_2 = [81.65, 89.82, 89.83, 92.20, 91.72, 92.78, 92.48, 92.91, 93.01, 93.09, 93.04, 93.12]
TABLE_3 = [92.74, 92.94, 92.92, 93.00, 93.06, 93.17]
PaperRow = tuple[dict[str, Any], list[float]]
THE_PAPERS: dict[str, list[PaperRow]] = {  # what a row changes in ``paper``, what is published
    "table1": [
        (TAGS, [93.15]),
        ({**TAGS, "eval.plan.position": ()}, [72.45]),
        ({**TAGS, "eval.plan.content": ()}, [90.84]),
        ({**TAGS, "eval.plan.content": (1, 2, 3, 4)}, [91.77]),
        ({**TAGS, "eval.plan.content": (5, 6, 7, 8)}, [92.82]),
        ({**TAGS, "eval.plan.content": (1, 2, 3, 4, 5, 6)}, [92.42]),
        ({**TAGS, "eval.plan.content": (3, 4, 5, 6, 7, 8)}, [92.90]),
    ],
    "table2": [
        *((window((5, 10, 15, 20, 30, 40)[n // 2], n % 2 == 1, "eval"), [TABLE_2[n]]) for n in range(12)),
        (TAGS, [93.15]),
    ],
    "table3": [
        *((window((5, 10, 20)[n // 2], n % 2 == 1, "train", "eval"), [TABLE_3[n]]) for n in range(6)),
        (TAGS, [93.15]),
    ],
    "table4": [
        ({"lexical": ("words",)}, [92.20]),
        (TAGS, [93.15]),
        ({"lexical": ("words", "char_lstm")}, [93.40]),
        ({"lexical": ("words", "char_concat")}, [93.32]),
        (CHAR_LSTM, [93.61]),
        ({"lexical": ("char_concat",)}, [93.35]),
        ({"lexical": ("char_attention",)}, []),
    ],
    "table5": [
        ({**TAGS, "encoder.kind": "lstm"}, [92.24]),
        (BASE, [92.67]),
        ({**BASE, "encoder.reads": "position"}, [92.40]),
        ({**TAGS, "encoder.projection": "dense"}, [92.60]),
        ({**TAGS, "encoder.position": "added"}, [92.63]),
        (TAGS, [93.15]),
        ({**TAGS, "encoder.positions": "sinusoidal"}, []),
        (CHAR_LSTM, [93.61]),
        (ENCODER, [95.21]),
        (ELMO, [95.21]),
    ],
    "table6": [
        (CHAR_LSTM, [93.20, 93.90, 93.55]),
        (ENCODER, [94.85, 95.40, 95.13]),
        (ELMO, [94.85, 95.40, 95.13]),
    ],
    "speed": [(CHAR_LSTM, [18 * 3600, 8]), (ENCODER, [13 * 3600, 24]), (ELMO, [13 * 3600, 24])],
}


def fields(section: Any, prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for field in dataclasses.fields(section):
        value = getattr(section, field.name)
        name = f"{prefix}{field.name}"
        found |= fields(value, f"{name}.") if dataclasses.is_dataclass(value) else {name: value}
    return found


def changes(config: Config) -> dict[str, Any]:
    plain = fields(load_config("paper"))
    return {name: value for name, value in fields(config).items() if value != plain[name]}


@pytest.mark.parametrize("name", THE_PAPERS)
def test_every_row_is_the_papers_system_with_the_papers_numbers(name: str) -> None:
    table = load_table(name)
    for row, (changed, numbers) in zip(table.rows, THE_PAPERS[name], strict=True):
        needed = [f"{row.needs}=GIVEN"] if row.needs else []
        config = load_config(table.config, [*table.settings, *row.settings, *row.plan, *needed])
        assert changes(config) == changed, row.name
        assert list(row.published.get(ALL_LANGUAGES, {}).values()) == numbers, row.name


def test_the_means_of_table_7_are_those_of_the_paper() -> None:
    chars, words, best = load_table("table7").rows
    for row, measure, mean in ((chars, "dev_f1", 88.38), (words, "dev_f1", 88.32), (best, "test_f1", 88.32)):
        numbers = [row.published[language][measure] for language in row.published]
        assert len(numbers) == 9
        assert round(sum(numbers) / 9, 2) == mean


def test_learning_rates_of_the_appendix_go_by_language() -> None:
    assert load_table("table7").by_language == {
        "he": ("train.learning_rate=0.002",),
        "pl": ("train.learning_rate=0.0015",),
        "sv": ("train.learning_rate=0.002",),
    }


def test_a_table_that_is_not_there_is_an_error_that_names_those_that_are() -> None:
    with pytest.raises(UsageError, match="no table is called table8") as caught:
        load_table("table8")
    assert "table7" in str(caught.value.hint)
