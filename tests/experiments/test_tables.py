"""The tables as files: all of the paper's, with settings that exist and numbers that the paper has."""

from __future__ import annotations

import pytest

from fencepost.config_files import load_config
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


def published(name: str, measure: str, language: str = ALL_LANGUAGES) -> list[float]:
    return [row.published[language][measure] for row in load_table(name).rows if measure in row.published[language]]


def test_table_2_rises_with_the_distance_and_relaxed_is_better_than_strict() -> None:
    numbers = published("table2", "dev_f1")
    strict, relaxed = numbers[0:12:2], numbers[1:12:2]
    assert strict == sorted(strict)
    assert relaxed == sorted(relaxed)
    assert all(one < other for one, other in zip(strict, relaxed, strict=True))


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
    with pytest.raises(UsageError, match="no table called table8") as caught:
        load_table("table8")
    assert "table7" in str(caught.value.hint)
