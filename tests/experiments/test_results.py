"""The file of results: what is in it is found again, and half a line is no result."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

from fencepost.experiments.results import Figure, Result, Results, figure

RESULT = Result("key", "table4", "words", "en", 1, {"dev_f1": 92.2}, "model", 60.0, 3.5, "CPU", "2018-07-15")


def test_what_was_added_is_found_again(tmp_path: Path) -> None:
    Results(tmp_path / "results.jsonl").add(RESULT)
    assert Results(tmp_path / "results.jsonl").get("key") == RESULT
    assert Results(tmp_path / "results.jsonl").get("other") is None


def test_a_line_cut_short_is_no_result_and_spoils_no_other(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    Results(path).add(RESULT)
    path.write_text(path.read_text()[:-20])
    results = Results(path)
    assert results.get("key") is None
    results.add(replace(RESULT, key="next"))
    assert Results(path).get("next") is not None


def test_mean_and_deviation_over_seeds() -> None:
    several = figure([RESULT, replace(RESULT, figures={"dev_f1": 92.6})], "dev_f1")
    assert several is not None
    assert several.mean == pytest.approx(92.4)
    assert str(several) == "92.40 ± 0.28"


def test_one_seed_has_no_deviation() -> None:
    assert math.isnan(Figure((1.0,)).deviation)
    assert str(Figure((1.0,))) == "1.00"


def test_what_was_not_measured_has_no_figure() -> None:
    assert figure([RESULT], "test_f1") is None
