"""The path of a sentence: it is split, checked, put into a chunk and into a batch once each, however it comes in."""

from __future__ import annotations

import importlib
import math
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fencepost.backends.base import Parsed, Scored
from fencepost.chart.cky import Decoded
from fencepost.cli.main import main
from fencepost.features.batch import Batch
from fencepost.features.batching import cost
from fencepost.features.vocabularies import Vocabularies
from fencepost.parsing import chunks
from fencepost.parsing.parser import Parser
from fencepost.parsing.workers import Workers
from fencepost.text.stream import _LONGEST_PIECE, read_stream
from tests.samples import TREES, tiny_config

LINES = [f"The {'old ' * (number % 23)}cat sat on mat number {number}.\n" for number in range(3_000)]
BUDGET = 4_000


class FlatBackend:
    """Puts all words under one phrase, and keeps the lengths of the sentences of each batch."""

    threads = 1
    overlaps = False
    batch_tokens = BUDGET

    def __init__(self) -> None:
        self.batches: list[list[int]] = []

    def launch(self, batch: Batch, *, functions: bool = False) -> Callable[[], Parsed]:
        lengths = batch.lengths.tolist()
        self.batches.append(lengths)
        first, label = np.array([0]), np.array([1])
        return lambda: Parsed([Decoded(0.0, first, np.array([length]), label) for length in lengths], None)

    def score(self, batch: Batch, *, functions: bool = False) -> Scored:
        raise NotImplementedError


@pytest.fixture
def backend() -> FlatBackend:
    return FlatBackend()


@pytest.fixture
def parser(backend: FlatBackend) -> Parser:
    config = tiny_config()
    return Parser(backend, config, Vocabularies.of(TREES, config))


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each of the functions was called that should see a sentence, or all of them, once."""
    counts: Counter[str] = Counter()

    def count(what: str, place: str) -> None:
        module, _, name = place.rpartition(".")
        function = getattr(importlib.import_module(module), name)

        def counting(*arguments: Any, **options: Any) -> Any:
            counts[what] += 1
            return function(*arguments, **options)

        monkeypatch.setattr(place, counting)

    count("check", "fencepost.parsing.checking.real_words")
    count("split", "fencepost.text.stream.split_sentences")
    for module in ("parsing.parser", "parsing.workers"):
        count("chunker", f"fencepost.{module}.growing_chunks")
    return counts


@pytest.fixture(autouse=True)
def no_time_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """All sentences come fast, however busy the machine is."""
    monkeypatch.setattr(chunks, "time", SimpleNamespace(monotonic=lambda: 0.0))


def through_parser(parser: Parser, _: Path) -> int:
    return sum(1 for _ in parser.iter_parse_text(LINES))


def through_workers(parser: Parser, _: Path) -> int:
    with Workers(parser, 1) as workers:
        return sum(1 for _ in workers.iter_scored(found.sentence() for found in read_stream(LINES)))


def through_command(parser: Parser, folder: Path) -> int:
    text, trees = folder / "text.txt", folder / "trees.txt"
    text.write_text("".join(LINES), "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("fencepost.parsing.load.load", lambda *_, **__: parser)
        assert main(["parse", str(text), "--output", str(trees), "--workers", "1"]) == 0
    return len(trees.read_text("utf-8").splitlines())


WAYS = [through_parser, through_workers, through_command]


@pytest.mark.parametrize("way", WAYS)
def test_a_sentence_is_split_and_checked_and_put_into_a_chunk_once(
    way: Callable[[Parser, Path], int], parser: Parser, calls: Counter[str], tmp_path: Path
) -> None:
    assert way(parser, tmp_path) == len(LINES)
    assert calls == {"check": len(LINES), "split": len(LINES), "chunker": 1}


@pytest.mark.parametrize("way", WAYS)
def test_after_the_first_no_batch_is_smaller_than_it_must_be(
    way: Callable[[Parser, Path], int], parser: Parser, backend: FlatBackend, tmp_path: Path
) -> None:
    assert way(parser, tmp_path) == len(LINES)
    *others, last = [sum(map(cost, lengths)) for lengths in backend.batches[1:]]
    assert len(backend.batches[0]) == 1
    assert min(others) > BUDGET - 3 * cost(30)  # not even three of the longest sentences would find a place
    assert max(others) <= BUDGET
    assert len(others) + 1 == math.ceil((sum(others) + last) / BUDGET)  # which no other way to cut them could beat
    assert sum(map(len, backend.batches)) == len(LINES)


def test_each_part_of_a_whole_text_is_split_once(parser: Parser, calls: Counter[str]) -> None:
    text = "".join(LINES)
    assert len(parser.parse_text(text)) == len(LINES)
    assert calls == {"check": len(LINES), "split": math.ceil(len(text) / _LONGEST_PIECE)}


def test_workers_are_given_checked_chunks_and_check_nothing(parser: Parser, calls: Counter[str]) -> None:
    job = parser.best_trees()
    sentences = list(parser.checked([["A", "cat"], ["It", "sat"]]))
    calls.clear()
    assert [tree.words() for tree, _ in parser.do(job, sentences)] == [["A", "cat"], ["It", "sat"]]
    assert not calls
