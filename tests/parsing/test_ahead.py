"""Threads that work ahead change when things happen, never what comes out."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from fencepost.backends.base import Parsed, Scored
from fencepost.chart.cky import Decoded
from fencepost.errors import InputError
from fencepost.features.batch import Batch
from fencepost.features.vocabularies import Vocabularies
from fencepost.parsing.ahead import ahead
from fencepost.parsing.parser import Parser
from fencepost.parsing.workers import Workers
from tests.samples import TREES, tiny_config


def threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "fencepost-ahead"]


def no_thread_is_left() -> bool:
    deadline = time.monotonic() + 5
    while threads() and time.monotonic() < deadline:
        time.sleep(0.02)
    return not threads()


def test_items_come_in_order() -> None:
    assert list(ahead(range(1000), 3)) == list(range(1000))
    assert list(ahead([])) == []
    assert no_thread_is_left()


def test_an_error_comes_after_the_items_before_it() -> None:
    def items() -> Iterator[int]:
        yield 1
        yield 2
        raise InputError("line 3 is bad")

    found = ahead(items())
    assert [next(found), next(found)] == [1, 2]
    with pytest.raises(InputError, match="line 3 is bad"):
        next(found)
    assert no_thread_is_left()


def test_the_thread_is_a_bounded_number_of_items_ahead() -> None:
    read: list[int] = []

    def items() -> Iterator[int]:
        for number in range(100):
            read.append(number)
            yield number

    found = ahead(items(), 2)
    assert next(found) == 0
    time.sleep(0.3)
    assert len(read) <= 5  # one was handed over, two wait, one waits for room, one more may be on its way
    found.close()  # type: ignore[attr-defined]
    assert no_thread_is_left()


def test_all_threads_end_when_the_caller_stops() -> None:
    closed = threading.Event()

    def endless() -> Iterator[int]:
        try:
            while True:
                yield 1
        finally:
            closed.set()

    found = ahead(ahead(endless()))
    assert next(found) == 1
    found.close()  # type: ignore[attr-defined]
    assert closed.wait(5)
    assert no_thread_is_left()


class Device:
    """A device that puts all words under one phrase, a moment after a batch was launched."""

    threads = 1
    batch_tokens = 200
    overlaps = True

    def __init__(self) -> None:
        self.launched = 0
        self.most_waiting = 0
        self.finished = 0

    def launch(self, batch: Batch, *, functions: bool = False) -> Callable[[], Parsed]:
        self.launched += 1
        self.most_waiting = max(self.most_waiting, self.launched - self.finished)
        lengths = batch.lengths.tolist()

        def finish() -> Parsed:
            time.sleep(0.001)
            self.finished += 1
            trees = [Decoded(0.5, np.array([0]), np.array([length]), np.array([1])) for length in lengths]
            return Parsed(trees, None)

        return finish

    def score(self, batch: Batch, *, functions: bool = False) -> Scored:
        raise NotImplementedError


@pytest.fixture
def device() -> Device:
    return Device()


@pytest.fixture
def parser(device: Device) -> Parser:
    config = tiny_config()
    return Parser(device, config, Vocabularies.of(TREES, config))


SENTENCES = [[f"w{number}"] * (1 + number % 9) for number in range(3000)]


def test_a_device_is_given_batches_before_it_has_finished_others(parser: Parser, device: Device) -> None:
    trees = parser.parse(SENTENCES)
    assert [tree.words() for tree in trees] == SENTENCES
    assert 2 <= device.most_waiting <= 5
    assert no_thread_is_left()


def test_streams_keep_their_order_and_end_with_their_errors(parser: Parser) -> None:
    assert [tree.words() for tree in parser.iter_parse(SENTENCES)] == SENTENCES
    found = parser.iter_parse([*SENTENCES[:500], [], ["never"]])
    words: list[list[str]] = []
    with pytest.raises(InputError, match="sentence 501 has no words"):
        words.extend(tree.words() for tree in found)
    assert words == SENTENCES[:500]
    with pytest.raises(InputError, match="sentence 501 has no words"):
        parser.parse([*SENTENCES[:500], []])
    assert no_thread_is_left()


def test_documents_and_columns_come_from_a_device_too(parser: Parser) -> None:
    texts = ["One two. Three.", "", "Four five six."] * 50
    assert [document.text for document in parser.pipe(texts)] == texts
    with Workers(parser, 1) as workers:
        chunks = [list(parser.checked(SENTENCES[:40])), [], list(parser.checked(SENTENCES[40:60]))]
        sizes = [[len(columns) for columns in found] for found in workers.do_chunks(parser.best_columns(), chunks)]
    assert sizes == [[40], [], [20]]


def test_a_caller_that_stops_early_leaves_no_thread(parser: Parser) -> None:
    for tree in parser.iter_parse(iter(SENTENCES)):
        assert tree.words() == SENTENCES[0]
        break
    assert no_thread_is_left()
