"""The tables of a model's card."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from card import error_table, filled, function_table, probability_table, score_table, speed_table

CARDS = sorted((Path(__file__).resolve().parents[2] / "models" / "english" / "cards").glob("*.md"))
TABLES = ("scores", "probabilities", "functions", "errors", "speed")


def functions(f1: float, **gold: int) -> dict[str, Any]:
    return {
        "f1": f1,
        "accuracy": f1 + 5,
        "by_function": [{"name": name, "f1": f1, "gold": count} for name, count in gold.items()],
    }


SCORED: dict[str, Any] = {
    "sentences": 1200,
    "f1": 95.0,
    "f1_as_is": 94.0,
    "complete_match": 50.0,
    "tags": None,
    "f1_from_text": 93.0,
}
SCORES: dict[str, Any] = {
    "wsj": {
        **SCORED,
        "calibration_error": 0.0123,
        "sure": 0.5,
        "right_if_sure": 0.999,
        "functions": functions(90.0, SBJ=80, VOC=2),
        "function_baseline": functions(60.0, SBJ=80, VOC=2),
        "genres": {"news": SCORED},
    },
    "gum": {**SCORED, "calibration_error": 0.02, "sure": 0.0, "right_if_sure": None, "genres": {}},
}


def test_the_scores_of_a_set_are_followed_by_those_of_its_genres() -> None:
    _, _, wsj, news, gum = score_table(SCORES)
    assert wsj == "| **wsj** | 1,200 | 95.00 | 94.00 | 50.00 | – | 93.00 |"
    assert news.startswith("| wsj: news |")
    assert gum.startswith("| **gum** |")


def test_probabilities_may_all_be_small() -> None:
    assert list(probability_table(SCORES))[2:] == ["| wsj | 0.0123 | 50.0% | 99.90% |", "| gum | 0.0200 | 0.0% | – |"]


def test_functions_stand_beside_their_baseline_and_rare_ones_are_left_out() -> None:
    assert list(function_table(SCORES))[2:] == [
        "| right, or rightly none | 95.0 (65.0) | – |  |",
        "| all | 90.0 (60.0) | – | 82 |",
        "| `SBJ` | 90.0 (60.0) | – | 80 |",
    ]


def test_scores_from_before_accuracy_was_measured_have_no_row_for_it() -> None:
    old = {"wsj": {"functions": {"f1": 90.0, "by_function": []}}}
    assert [row for row in function_table(old) if "rightly" in row] == []


def test_errors_are_added_up_over_test_sets() -> None:
    one = {"phenomenon": "x", "gold": 3, "found": 2, "right": 1}
    errors = {"en": [{**one, "test set": "wsj"}, {**one, "test set": "gum"}], "a/new": [{**one, "test set": "wsj"}]}
    assert list(error_table(errors)) == [
        "|  | gold | en: found, right | new: found, right |",
        "| --- | --- | --- | --- |",
        "| x | 6 | 4, 2 | 2, 1 |",
    ]


def test_speed_has_a_row_for_each_measurement() -> None:
    bench = {
        "backend": "onnx",
        "device": "cpu",
        "sentences_per_second": 1234.5,
        "sentences_per_cpu_second": 200.2,
        "cold_start_cpu_seconds": 0.634,
    }
    assert list(speed_table([bench]))[2:] == ["| onnx on cpu | 1,234 | 200 | 0.63 |"]


def test_a_template_has_a_place_for_every_table() -> None:
    assert filled("a\n{{x}}\nb {{y}}\n", {"x": iter(["1", "2"])}) == "a\n1\n2\nb {{y}}\n"
    with pytest.raises(SystemExit, match="places for x"):
        filled("{{x}}\n", {"y": iter(["1"])})


@pytest.mark.parametrize("path", CARDS, ids=lambda path: path.stem)
def test_the_templates_of_the_cards_can_be_filled(path: Path) -> None:
    card = filled(path.read_text("utf-8"), {name: iter([f"table of {name}"]) for name in TABLES})
    assert "{{" not in card
    assert all(f"table of {name}" in card for name in TABLES)
