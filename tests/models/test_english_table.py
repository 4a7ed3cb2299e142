"""The table of the English model's card."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpora import Item
from evaluate import f1, measured, shown, tag_accuracy

from fencepost.config.settings import Config
from fencepost.config.toml import load_config
from fencepost.parsing.parser import Parser
from fencepost.trees.tree import Tree
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


def test_a_row_has_scores_against_both_notations_tags_and_text() -> None:
    row = shown("fish", measured(Oracle(tiny_config()), [Item(GOLD, "a", "", True)], [FOUND]))
    assert row == "| fish | 1 | 90.91 | 100.00 | 85.71 | 100.00 |"


@pytest.mark.parametrize("name", ["english", "charlstm"])
def test_configurations_can_be_read_and_predict_tags(name: str) -> None:
    assert load_config(MODELS / f"{name}.toml").scorer.predict_tags
