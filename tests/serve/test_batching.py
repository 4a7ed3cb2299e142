"""The queue of a model: turns, batches, sentences that wait to be sent."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from fencepost.serve.batching import MOST_UNREAD, Batcher, Parsed, Placed, Wish, Work
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


def batcher_of(parser: Any) -> Batcher:
    def fail(error: BaseException) -> None:
        raise error

    return Batcher(parser, Settings(gather=0.0), fail)


def test_one_request_can_fill_a_batch() -> None:
    parser = SlowParser(shared_parser())
    batcher = batcher_of(parser)
    request = Received("It", 150)
    batcher.submit(request.work)
    assert request.ended.wait(30)
    batcher.close()
    assert len(parser.batches[0]) == 150
    assert [each.document for each in request.parsed] == list(range(150))


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


def test_a_cancelled_request_leaves_the_queue() -> None:
    batcher = batcher_of(shared_parser())
    request = Received("It", MOST_UNREAD + 50)
    batcher.submit(request.work)
    wait_for(lambda: request.work.unread >= MOST_UNREAD)
    batcher.cancel(request.work)
    wait_for(lambda: batcher.figures.waiting == 0)
    batcher.close()


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
