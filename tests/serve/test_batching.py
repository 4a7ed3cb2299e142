"""The queue of a model: turns, batches, sentences that wait to be sent."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from typing import Any
from unittest.mock import Mock

import pytest

from fencepost.features.batching import cost
from fencepost.serve import batching
from fencepost.serve.answering import parse_sentences
from fencepost.serve.batching import BATCH, MOST_SHARE, MOST_UNREAD, Batcher, Parsed, Placed, Wish, Work
from fencepost.serve.failures import RequestError, UnavailableError
from fencepost.serve.requests import of_tokens
from fencepost.serve.settings import Settings
from tests.serve.serving import SlowParser, shared_parser, wait_for


class Received:
    """A request of equal sentences, and what it has received."""

    def __init__(self, word: str, count: int, wish: Wish = Wish()) -> None:  # noqa: B008
        self.parsed: list[Parsed] = []
        self.ended = threading.Event()
        self.failure: RequestError | None = None
        sentences = (Placed(number, of_tokens([word, "works", "."])) for number in range(count))
        self.work = Work(sentences, wish, self.deliver, self.fail)

    def deliver(self, parsed: list[Parsed], ended: bool) -> None:
        self.parsed += parsed
        if ended:
            self.ended.set()

    def fail(self, failure: RequestError) -> None:
        self.failure = failure
        self.ended.set()


def batcher_of(parser: Any, **options: Any) -> Batcher:
    def fail(error: BaseException) -> None:
        raise error

    return Batcher(parser, Settings(gather=0.0, **options), fail)


def test_one_request_can_fill_a_batch() -> None:
    parser = SlowParser(shared_parser())
    batcher = batcher_of(parser)
    request = Received("It", 150)
    batcher.submit(request.work)
    assert request.ended.wait(30)
    batcher.close()
    assert len(parser.batches[0]) == 150
    assert [each.document for each in request.parsed] == list(range(150))


def test_a_request_whose_last_sentence_fills_a_batch_has_ended() -> None:
    parser = SlowParser(shared_parser())
    parser.go.clear()
    batcher = batcher_of(parser, max_requests=10_000)
    first = Received("First", 1)
    batcher.submit(first.work)
    wait_for(parser.entered.is_set)
    requests = [Received("It", 1) for _ in range(BATCH // cost(3) + 50)]
    for request in requests:
        batcher.submit(request.work)
    parser.go.set()
    assert all(each.ended.wait(30) for each in (first, *requests))
    batcher.close()
    count = sum(map(len, parser.batches[:2])) - 1
    assert BATCH / cost(3) <= count < len(requests)
    assert [len(batch) for batch in parser.batches] == [1, count, len(requests) - count]


def test_a_client_that_was_answered_can_join_the_next_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batching, "PAUSE", 100.0)
    monkeypatch.setattr(batching, "MOST_PAUSE", 100.0)
    parser = SlowParser(shared_parser(), seconds=0.1)
    parser.go.clear()
    batcher = batcher_of(parser)
    first, again, other = Received("First", 1), Received("Again", 1), Received("Other", 1)
    batcher.submit(first.work)
    wait_for(parser.entered.is_set)
    batcher.submit(other.work)
    parser.go.set()
    wait_for(first.ended.is_set)
    batcher.submit(again.work)
    assert again.ended.wait(5)
    batcher.close()
    assert [[words[0] for words in batch] for batch in parser.batches] == [["First"], ["Other", "Again"]]


def test_nobody_waits_for_long_for_a_client_that_was_answered() -> None:
    parser = SlowParser(shared_parser(), seconds=0.1)
    parser.go.clear()
    batcher = batcher_of(parser)
    first, other = Received("First", 1), Received("Other", 1)
    batcher.submit(first.work)
    wait_for(parser.entered.is_set)
    batcher.submit(other.work)
    parser.go.set()
    assert other.ended.wait(5)
    batcher.close()


def test_one_request_takes_only_a_part_of_a_large_batch() -> None:
    parser = SlowParser(shared_parser())
    batcher = batcher_of(parser)
    request = Received("It", 0)
    request.work.sentences = iter([Placed(0, of_tokens(["very"] * 60))] * 30)
    batcher.submit(request.work)
    assert request.ended.wait(30)
    batcher.close()
    assert MOST_SHARE <= len(parser.batches[0]) * cost(60) < BATCH


def test_requests_share_a_batch_in_turns() -> None:
    parser = SlowParser(shared_parser())
    parser.go.clear()
    batcher = batcher_of(parser)
    first, long, short = Received("First", 1), Received("Long", 150), Received("Short", 3)
    batcher.submit(first.work)
    wait_for(parser.entered.is_set)
    batcher.submit(long.work)
    batcher.submit(short.work)
    parser.go.set()
    assert all(each.ended.wait(30) for each in (first, long, short))
    batcher.close()
    words = [sentence[0] for sentence in parser.batches[1]]
    assert words.count("Short") == 3
    assert words.count("Long") > 50


def test_a_request_that_is_not_read_waits_and_goes_on_when_it_is() -> None:
    batcher = batcher_of(shared_parser())
    request, other = Received("It", MOST_UNREAD + 50), Received("Other", 1)
    batcher.submit(request.work)
    wait_for(lambda: request.work.unread >= MOST_UNREAD)
    batcher.submit(other.work)
    assert other.ended.wait(30)
    assert not request.ended.is_set()
    batcher.sent(request.work, request.work.unread)
    assert request.ended.wait(30)
    batcher.close()
    assert len(request.parsed) == MOST_UNREAD + 50


def test_requests_wait_until_the_model_has_taken_all_their_sentences() -> None:
    parser = SlowParser(shared_parser())
    parser.go.clear()
    batcher = batcher_of(parser)
    first, second, long = Received("It", 190), Received("It", 190), Received("It", 1_000)
    batcher.submit(first.work)
    wait_for(parser.entered.is_set)
    assert batcher.figures.waiting == 0
    batcher.submit(second.work)
    batcher.submit(long.work)
    assert batcher.figures.waiting == 2
    parser.go.set()
    wait_for(second.ended.is_set)
    wait_for(lambda: long.work.unread >= MOST_UNREAD)
    assert batcher.figures.waiting == 1  # the model has taken a part of the long one, which isn't read
    batcher.cancel(long.work)
    batcher.close()


def test_the_time_that_a_client_takes_to_read_a_stream_does_not_count() -> None:
    async def read() -> list[list[Parsed]]:
        batcher = Mock()
        parts = parse_sentences(batcher, iter(()), Wish(), 1, 0.1, stream=True)
        received = []
        for ended in (False, False, True):
            coming = asyncio.ensure_future(anext(parts))
            await asyncio.sleep(0)
            work: Work = batcher.submit.call_args.args[0]
            work.deliver([], ended)
            received.append(await coming)
            await asyncio.sleep(0.3)
        return received

    assert asyncio.run(read()) == [[], [], []]


def test_a_cancelled_request_leaves_the_queue() -> None:
    batcher = batcher_of(shared_parser())
    request = Received("It", MOST_UNREAD + 50)
    batcher.submit(request.work)
    wait_for(lambda: request.work.unread >= MOST_UNREAD)
    batcher.cancel(request.work)
    wait_for(lambda: batcher.figures.waiting == 0)
    batcher.close()


def test_a_cancelled_request_makes_room_while_the_model_is_busy() -> None:
    parser = SlowParser(shared_parser())
    parser.go.clear()
    batcher = batcher_of(parser, max_requests=1)
    busy, cancelled, late = Received("It", 1), Received("It", 2), Received("It", 3)
    batcher.submit(busy.work)
    wait_for(parser.entered.is_set)
    batcher.submit(cancelled.work)
    batcher.cancel(cancelled.work)
    batcher.submit(late.work)
    parser.go.set()
    wait_for(late.ended.is_set)
    batcher.close()
    assert (len(busy.parsed), len(cancelled.parsed), len(late.parsed)) == (1, 0, 3)


def test_a_request_that_takes_too_long_makes_room_while_the_model_is_busy() -> None:
    parser = SlowParser(shared_parser())
    parser.go.clear()
    batcher = batcher_of(parser)
    batcher.submit(Received("First", 1).work)
    wait_for(parser.entered.is_set)

    async def ask() -> list[Parsed]:
        return await anext(parse_sentences(batcher, Received("Late", 1).work.sentences, Wish(), 1, 0.1))

    with pytest.raises(UnavailableError, match="longer than"):
        asyncio.run(ask())
    assert batcher.figures.waiting == 0
    parser.go.set()
    batcher.close()


def test_a_request_may_be_cancelled_while_its_sentences_are_taken() -> None:
    parser = SlowParser(shared_parser())
    parser.go.clear()
    batcher = batcher_of(parser)
    busy, cancelled, other = Received("It", 1), Received("It", 2), Received("It", 3)
    batcher.submit(busy.work)
    wait_for(parser.entered.is_set)

    def leaving(sentences: Iterator[Placed]) -> Iterator[Placed]:
        yield next(sentences)
        batcher.cancel(cancelled.work)
        yield from sentences

    cancelled.work.sentences = leaving(cancelled.work.sentences)
    batcher.submit(cancelled.work)
    batcher.submit(other.work)
    parser.go.set()
    wait_for(other.ended.is_set)
    batcher.close()
    assert (len(busy.parsed), len(other.parsed), batcher.figures.waiting) == (1, 3, 0)


def test_a_closed_queue_finishes_its_requests_and_takes_no_more() -> None:
    parser = SlowParser(shared_parser())
    parser.go.clear()
    batcher = batcher_of(parser)
    waiting = [Received("It", 2) for _ in range(3)]
    for request in waiting:
        batcher.submit(request.work)
    parser.go.set()
    batcher.close()
    assert all(request.ended.is_set() and len(request.parsed) == 2 for request in waiting)
    assert not batcher.is_ready
    with pytest.raises(UnavailableError, match="the server is stopping"):
        batcher.submit(Received("Late", 1).work)


def test_a_closed_queue_does_not_wait_for_a_request_that_is_not_read() -> None:
    batcher = batcher_of(shared_parser())
    request = Received("It", MOST_UNREAD + 50)
    batcher.submit(request.work)
    wait_for(lambda: request.work.unread >= MOST_UNREAD)
    closing = threading.Thread(target=batcher.close, daemon=True)
    closing.start()
    closing.join(10)
    assert not closing.is_alive()


def test_requests_with_different_wishes_get_what_they_asked_for() -> None:
    parser = SlowParser(shared_parser())
    parser.go.clear()
    batcher = batcher_of(parser)
    requests = [Received("It", 1, wish) for wish in (Wish(), Wish(kbest=2), Wish(probabilities=True))]
    for request in requests:
        batcher.submit(request.work)
    parser.go.set()
    assert all(request.ended.wait(30) for request in requests)
    batcher.close()
    plain, kbest, sure = (request.parsed[0].analysis for request in requests)
    assert (len(plain.trees), len(kbest.trees), len(sure.trees)) == (0, 2, 0)
    assert plain.constituents[0].probability is None
    assert kbest.constituents[0].probability is None
    assert sure.constituents[0].probability is not None
