"""Parses the sentences of all clients together: one thread for each model, batches across requests, a bounded queue.

The thread takes sentences from every waiting request in turn, so that a long text doesn't keep short ones waiting.
"""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from fencepost.errors import FencepostError
from fencepost.features.batching import cost
from fencepost.parsing.confidence import Analysis, hide_probabilities
from fencepost.parsing.parser import Parser
from fencepost.serve.failures import BusyError, InvalidError, RequestError, UnavailableError, internal_error
from fencepost.serve.settings import MOST_ANALYZED, Settings
from fencepost.text.stream import TextSentence
from fencepost.trees.treebank import Sentence

BATCH: Final = 3_000  # tokens parsed at once, as ``features.batching`` counts: a fraction of a second of work
MOST_SHARE: Final = 2_000  # tokens of a batch for one request, so that the first sentences of a long text come soon
SHARE: Final = 250  # tokens that a request contributes before the next one has its turn
LETTERS: Final = 3  # characters of text that cost about as much as one token
# After a batch the model waits for clients to send again. Both are fractions of the time that the batch took.
PAUSE: Final = 0.05  # without any client that sends or receives
MOST_PAUSE: Final = 0.25  # in all
MOST_UNREAD: Final = 200  # sentences of a request that are parsed but not yet sent
MOST_TEXT: Final = 4  # times ``max_body``: characters that may wait


class Wish(NamedTuple):
    """What a request wants to know about each sentence."""

    kbest: int = 0
    probabilities: bool = False
    functions: bool = False

    def for_length(self, words: int) -> Wish:
        """What a sentence of this many words gets."""
        return self if words <= MOST_ANALYZED else Wish(functions=self.functions)

    @property
    def weight(self) -> int:
        """How many times as long it takes as the best tree, roughly."""
        return 3 + self.kbest // 7 if self.kbest or self.probabilities else 1


class Placed(NamedTuple):
    """A sentence, and the number of the text of the request that it comes from."""

    document: int
    sentence: TextSentence


class Parsed(NamedTuple):
    document: int
    sentence: TextSentence
    analysis: Analysis


@dataclass(eq=False)
class Work:
    """A request that waits for the model. The callbacks are called from the model's thread."""

    sentences: Iterator[Placed]
    wish: Wish
    deliver: Callable[[list[Parsed], bool], None]  # sentences in order, and True with the last ones
    fail: Callable[[RequestError], None]
    size: int = 0  # characters
    count: int = 0  # sentences taken so far
    unread: int = 0  # sentences delivered and not yet sent to the client
    cancelled: bool = False
    _ahead: list[Placed | None] = field(default_factory=list)  # the next sentence, once it is known

    def take(self) -> Placed | None:
        """The next sentence; None if there are no more."""
        return self._ahead.pop() if self._ahead else next(self.sentences, None)

    @property
    def has_more(self) -> bool:
        if not self._ahead:
            self._ahead.append(next(self.sentences, None))
        return self._ahead[0] is not None

    @property
    def is_ready(self) -> bool:
        return not self.cancelled and self.unread < MOST_UNREAD


@dataclass
class _Turn:
    """The part of a request that goes into one batch."""

    work: Work
    sentences: list[tuple[Placed, Sentence]] = field(default_factory=list)
    spent: int = 0  # tokens
    ended: bool = False
    failure: RequestError | None = None


@dataclass
class Figures:
    """What a model has done so far."""

    sentences: int = 0
    words: int = 0
    batches: int = 0
    seconds: float = 0.0  # spent parsing
    waiting: int = 0  # requests with sentences that the model hasn't taken yet


class Batcher:
    """One model, its queue, and the thread that runs it."""

    def __init__(self, parser: Parser, settings: Settings, report: Callable[[BaseException], None]) -> None:
        """``report`` logs a bug of ours."""
        self.parser = parser
        self.figures = Figures()
        self._settings = settings
        self._report = report
        self._waiting: deque[Work] = deque()
        self._condition = threading.Condition()
        self._closing = False
        self._enough: float = 1  # waiting requests for which the thread wants to be woken up
        self._seconds = 0.0  # that the last batch took
        self._moved = 0.0  # when a client last sent a request or received sentences
        self._delivered = -math.inf  # when the last batch was handed out
        self._known = 0  # clients that waited or were answered then
        self._thread = threading.Thread(target=self._run, name="fencepost-model", daemon=True)
        self._thread.start()

    @property
    def is_ready(self) -> bool:
        return self._thread.is_alive() and not self._closing

    def submit(self, work: Work) -> None:
        """Queues a request. Raises BusyError if the queue is full, UnavailableError if the server is stopping."""
        with self._condition:
            if self._closing:
                raise UnavailableError("the server is stopping", hint="try again later")
            size = sum(each.size for each in self._waiting)
            full = len(self._waiting) >= self._settings.max_requests
            if full or (self._waiting and size + work.size > MOST_TEXT * self._settings.max_body):
                waiting = f"{len(self._waiting):,} requests with {size:,} characters"
                raise BusyError(f"the server is busy: {waiting} are waiting", hint="try again in a few seconds")
            self._waiting.append(work)
            self.figures.waiting = len(self._waiting)
            self._moved = time.monotonic()
            if len(self._waiting) >= self._enough or self._fills_a_batch():
                self._condition.notify()

    def sent(self, work: Work, count: int) -> None:
        """Notes that ``count`` sentences of a request are on their way to the client, so that more may be parsed."""
        with self._condition:
            was_ready = work.is_ready
            work.unread -= count
            self._moved = time.monotonic()
            if not was_ready:
                self._condition.notify()

    def cancel(self, work: Work) -> None:
        """Forgets a request whose client is gone or has waited for too long."""
        with self._condition:
            work.cancelled = True
            if work in self._waiting:  # now, not after the batch: others may want its place
                self._remove(work)
            self._condition.notify()

    def close(self) -> None:
        """Finishes the requests in the queue, except those whose answers aren't read, then ends the thread. Blocks."""
        with self._condition:
            self._closing = True
            self._condition.notify()
        self._thread.join()

    # Everything below runs in the model's thread.

    def _run(self) -> None:
        while self._wait():
            try:
                turns = self._gather()
                self._deliver(turns, self._parse(turns))
            except Exception as error:  # the thread must go on
                self._report(error)

    def _wait(self) -> bool:
        """Waits for work. False if the server is stopping and nothing is left that can be done."""
        with self._condition:
            while not self._has_work():
                if self._closing:  # also if requests wait whose clients don't read: their tasks are cancelled
                    return False
                self._enough = 1
                self._condition.wait()
            self._wait_for_more()
            self._enough = math.inf
        return True

    def _wait_for_more(self) -> None:
        """Waits for further requests: a sentence takes less time in a large batch than in a small one.

        Clients that come in groups are at most ``gather`` seconds apart. After a batch, the clients that were answered
        often send again, but it takes a moment until all have their answers.
        """
        self._moved = time.monotonic()
        latest = self._delivered + MOST_PAUSE * self._seconds
        if self._moved < latest:
            self._enough, pause = self._known, PAUSE * self._seconds
        else:
            self._enough, pause = math.inf, self._settings.gather
            latest = self._moved + pause
        while not (self._closing or len(self._waiting) >= self._enough or self._fills_a_batch()):
            remaining = min(self._moved + pause, latest) - time.monotonic()
            if remaining <= 0:
                return
            self._condition.wait(remaining)

    def _fills_a_batch(self) -> bool:
        """True if the requests that wait are enough for a batch, as far as their size tells."""
        return sum(BATCH if each.count else each.size // LETTERS for each in self._waiting) >= BATCH

    def _has_work(self) -> bool:
        for work in [each for each in self._waiting if each.cancelled]:
            self._remove(work)
        return any(work.is_ready for work in self._waiting)

    def _remove(self, work: Work) -> None:
        self._waiting.remove(work)
        self.figures.waiting = len(self._waiting)

    def _gather(self) -> list[_Turn]:
        """Sentences for one batch, from all requests in turn."""
        with self._condition:
            turns = deque(_Turn(work) for work in self._waiting if work.is_ready)
        done: list[_Turn] = []
        room = BATCH
        while turns and room > 0:
            turn = turns.popleft()
            spent = self._take(turn, min(SHARE, room))
            turn.spent += spent
            room -= spent
            is_unread = turn.work.unread + len(turn.sentences) >= MOST_UNREAD
            may_take_more = not turn.ended and not is_unread and turn.spent < MOST_SHARE
            (turns if may_take_more else done).append(turn)
        done += [turn for turn in turns if turn.sentences]
        with self._condition:
            for turn in done:  # those that had no turn come first next time
                if turn.work.cancelled:
                    continue  # it has left the queue
                self._remove(turn.work)
                if not turn.ended:
                    self._waiting.append(turn.work)
            self.figures.waiting = len(self._waiting)
        return done

    def _take(self, turn: _Turn, room: int) -> int:
        """Takes sentences from a request until they cost ``room`` tokens. Returns their cost."""
        work, spent = turn.work, 0
        try:
            while spent < room and (placed := work.take()) is not None:
                work.count += 1
                words = len(placed.sentence.tokens)
                if words > self._settings.max_words:
                    raise InvalidError(
                        f"sentence {work.count} has {words:,} words; at most {self._settings.max_words:,} are allowed",
                        hint="split it, or start the server with a larger --max-words",
                    )
                (sentence,) = self.parser.checked([placed.sentence.sentence()], work.count)
                turn.sentences.append((placed, sentence))
                spent += work.wish.weight * cost(words)
            turn.ended = not work.has_more  # now, so that nobody waits for a batch only to learn that there is no more
        except FencepostError as error:
            turn.ended = True
            turn.failure = error if isinstance(error, RequestError) else InvalidError(error.message, hint=error.hint)
        except Exception as error:
            self._report(error)
            turn.ended, turn.failure = True, internal_error()
        return spent

    def _parse(self, turns: Sequence[_Turn]) -> Iterator[Analysis | None]:
        """An analysis for each sentence of the turns, in order; None for one that can't be parsed."""
        sentences = [(turn.work.wish.for_length(len(each)), each) for turn in turns for _, each in turn.sentences]
        analyses: dict[int, Analysis | None] = {}
        started = time.perf_counter()
        for wish in dict.fromkeys(wish for wish, _ in sentences):
            chosen = [index for index, (own, _) in enumerate(sentences) if own == wish]
            found = self._analyze(wish, [sentences[index][1] for index in chosen])
            analyses.update(zip(chosen, found, strict=True))
        if sentences:
            self._seconds = time.perf_counter() - started
            self.figures.seconds += self._seconds
            self.figures.batches += 1
            self.figures.sentences += len(sentences)
            self.figures.words += sum(len(sentence) for _, sentence in sentences)
        return (analyses[index] for index in range(len(sentences)))

    def _analyze(self, wish: Wish, sentences: list[Sentence]) -> list[Analysis | None]:
        try:
            return [*analyze(self.parser, wish, sentences)]
        except Exception as error:
            if len(sentences) == 1:
                self._report(error)
                return [None]
        return [found for sentence in sentences for found in self._analyze(wish, [sentence])]  # spare the others

    def _deliver(self, turns: Sequence[_Turn], analyses: Iterator[Analysis | None]) -> None:
        with self._condition:
            self._known = len(self._waiting) + sum(turn.ended for turn in turns)
            self._delivered = time.monotonic()
        for turn in turns:
            found = [(placed, next(analyses)) for placed, _ in turn.sentences]
            parsed = [Parsed(*placed, analysis) for placed, analysis in found if analysis is not None]
            failure = internal_error() if len(parsed) < len(found) else turn.failure
            with self._condition:
                turn.work.cancelled |= len(parsed) < len(found)
                turn.work.unread += len(parsed)
            if parsed or not failure:
                turn.work.deliver(parsed, turn.ended and failure is None)
            if failure:
                turn.work.fail(failure)


def analyze(parser: Parser, wish: Wish, sentences: list[Sentence]) -> Iterator[Analysis]:
    """What ``wish`` says about each sentence. The sentences have been checked."""
    if wish.kbest or wish.probabilities:
        analyses = parser.do(parser.analyses(wish.kbest, functions=wish.functions), sentences)
        return iter(analyses) if wish.probabilities else map(hide_probabilities, analyses)
    return iter(
        parser.do(parser.best_with_functions() if wish.functions else parser.best_with_constituents(), sentences)
    )
