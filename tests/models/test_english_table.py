"""The table of the English model's card."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from corpora import Item
from evaluate import f1, figures_of, functions, measured, shown, tag_accuracy
from harmonize import harmonize

import fencepost
from fencepost.config.settings import Config
from fencepost.config.toml import load_config
from fencepost.evaluation.functions import FunctionBaseline
from fencepost.parsing.parser import Parser
from fencepost.trees.tree import Tree
from tests.function_samples import function_trees, random_function_model
from tests.samples import tiny_config

MODELS = Path(__file__).resolve().parents[2] / "models" / "english"
GOLD = Tree.from_string(
    "(TOP (S (NP (DT a) (NML (NN gold) (NN fish))) (VP (VBZ goes) (PP (IN to) (NP (NN x)))) (. .)))"
)
FOUND = Tree.from_string("(TOP (S (NP (DT a) (JJ gold) (NN fish)) (VP (VBZ goes) (PP (TO to) (NP (NN x)))) (. .)))")


class Oracle(Parser):
    """Finds the same tree for every sentence."""

    def __init__(self, config: Config) -> None:
        self.config = config

    def parse(self, sentences, *, batch_tokens=None, functions=False):  # type: ignore[no-untyped-def]
        return [FOUND for _ in sentences]


def test_predicted_tags_make_no_difference_to_f1() -> None:
    assert f1([FOUND], [FOUND]) == 100
    assert f1([GOLD], [FOUND]) == pytest.approx(200 * 5 / (6 + 5))


def test_tags_are_compared_word_by_word() -> None:
    assert tag_accuracy(Oracle(tiny_config()), [GOLD], [FOUND]) == pytest.approx(100 * 5 / 7)


def test_a_row_has_scores_against_both_notations_complete_match_tags_and_text() -> None:
    figures = measured(Oracle(tiny_config()), [Item(GOLD, "a", "", True)], [harmonize(GOLD)], [FOUND])
    assert shown("fish", figures) == "| fish | 1 | 100.00 | 90.91 | 100.00 | 85.71 | 100.00 |"


def test_a_test_set_has_figures_of_all_kinds_and_the_scores_of_its_genres(tmp_path: Path) -> None:
    parser = fencepost.load(random_function_model(tmp_path))
    items = [Item(tree, "a", genre, True) for tree, genre in zip(function_trees(6), "xyxyxy", strict=True)]
    figures = figures_of(parser, items, FunctionBaseline(function_trees(40)))
    assert figures["functions"].keys() == figures["function_baseline"].keys()
    assert figures["sentences_per_cpu_second"] > 0
    assert 0 <= figures["calibration_error"] <= 1
    assert {genre: scores["sentences"] for genre, scores in figures["genres"].items()} == {"x": 3, "y": 3}
    json.dumps(figures)


@pytest.mark.parametrize("name", ["english", "charlstm"])
def test_configurations_can_be_read_and_predict_tags(name: str) -> None:
    assert load_config(MODELS / f"{name}.toml").scorer.predict_tags


def test_functions_stand_beside_those_that_are_most_frequent_in_training() -> None:
    right = Tree.from_string("(TOP (S (NP-SBJ (PRP It)) (VP (VBZ is) (PP-LOC (IN in) (NP (NN x))))))")
    usual = Tree.from_string("(TOP (S (NP-SBJ (PRP It)) (VP (VBZ is) (PP-TMP (IN in) (NP (NN x))))))")

    class Right(Oracle):
        def parse(self, sentences, *, batch_tokens=None, functions=False):  # type: ignore[no-untyped-def]
            return [right]

    figures = functions(Right(tiny_config()), [right], FunctionBaseline([usual]))
    assert (figures["functions"]["f1"], figures["function_baseline"]["f1"]) == (100, 50)
    assert [row["name"] for row in figures["functions"]["by_function"]] == ["LOC", "SBJ"]
    assert "function_baseline" not in functions(Right(tiny_config()), [right], None)
