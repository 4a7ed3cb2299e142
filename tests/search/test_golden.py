"""The same answers as Tregex's program: same matches, same order, same refusals (tests/golden/tregex)."""

from __future__ import annotations

import hashlib
import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from fencepost.errors import PatternError
from fencepost.search.definitions import matches
from fencepost.search.grammar import parse_pattern
from fencepost.search.nodes import Nodes
from fencepost.trees.treebank import Treebank

GOLDEN = Path(__file__).parents[1] / "golden" / "tregex"
ANSWERS = [json.loads(line) for line in (GOLDEN / "answers.jsonl").read_text("utf-8").splitlines()]
ANSWERED = [answer for answer in ANSWERS if not answer.get("error")]
REFUSED = [answer["pattern"] for answer in ANSWERS if answer.get("error")]


@lru_cache(maxsize=1)
def trees() -> Treebank:
    return Treebank.load(GOLDEN / "trees.txt")


def answer_of(places: list[tuple[int, int]]) -> dict[str, Any]:
    text = "\n".join(f"{tree} {node}" for tree, node in places)
    return {
        "matches": len(places),
        "sha1": hashlib.sha1(text.encode()).hexdigest(),
        "first": [list(place) for place in places[:5]],
    }


def test_there_are_enough_answers() -> None:
    assert len(ANSWERED) > 250
    assert len(REFUSED) > 30
    assert sum(bool(answer["matches"]) for answer in ANSWERED) > 200


@pytest.mark.parametrize("answer", ANSWERED, ids=lambda answer: answer["pattern"])
def test_definitions_give_the_matches_of_tregex(answer: dict[str, Any]) -> None:
    pattern = parse_pattern(answer["pattern"])
    places = [
        (number, node)
        for number, tree in enumerate(trees())
        for nodes in [Nodes.of(tree)]
        for node in range(len(nodes))
        for _ in matches(pattern, nodes, node, {})
    ]
    assert answer_of(places) | {"pattern": answer["pattern"]} == answer


@pytest.mark.parametrize("pattern", REFUSED)
def test_pattern_that_tregex_refuses_is_refused(pattern: str) -> None:
    with pytest.raises(PatternError):
        parse_pattern(pattern)
