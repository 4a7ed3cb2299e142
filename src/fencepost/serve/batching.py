"""Parses the sentences of all clients together: one thread for each model, batches across requests, a bounded queue.

The thread takes sentences from every waiting request in turn, so that a long text doesn't keep short ones waiting.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from fencepost.errors import FencepostError
from fencepost.features.batching import cost
from fencepost.parsing.confidence import Analysis, hide_probabilities, without_probabilities
from fencepost.parsing.parser import Parser
from fencepost.serve.failures import BusyError, InvalidError, RequestError, UnavailableError, internal_error
from fencepost.serve.settings import MOST_ANALYZED, Settings
from fencepost.text.stream import TextSentence
from fencepost.trees.treebank import Sentence

BATCH: Final = 2_000  # tokens parsed at once, as ``features.batching`` counts: a fraction of a second of work
SHARE: Final = 250  # tokens that a request contributes before the next one has its turn
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


@dataclass
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

    @property
    def is_ready(self) -> bool:
        return not self.cancelled and self.unread < MOST_UNREAD


@dataclass
class _Turn:
    """The part of a request that goes into one batch."""

    work: Work
    sentences: list[tuple[Placed, Sentence]] = field(default_factory=list)
    ended: bool = False
    failure: RequestError | None = None


@dataclass
class Figures:
    """What a model has done so far."""

    sentences: int = 0
    words: int = 0
    batches: int = 0
    seconds: float = 0.0  # spent parsing
    waiting: int = 0  # requests in the queue now


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
            self._condition.notify()

    def sent(self, work: Work, count: int) -> None:
        """Notes that ``count`` sentences of a request are on their way to the client, so that more may be parsed."""
        with self._condition:
            work.unread -= count
            self._condition.notify()

    def cancel(self, work: Work) -> None:
        """Forgets a request whose client is gone or has waited for too long."""
        with self._condition:
            work.cancelled = True
            self._condition.notify()

    def close(self) -> None:
        """Finishes the requests in the queue, then ends the thread."""
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
        """Waits for work. False if the server is stopping and nothing is left to do."""
        with self._condition:
            was_idle = False
            while not self._has_work():
                if self._closing and not self._waiting:
                    return False
                was_idle = True
                self._condition.wait()
            # Other clients may be about to send. A model that comes from another batch has waited long enough.
            deadline = time.monotonic() + (self._settings.gather if was_idle else 0)
            while (remaining := deadline - time.monotonic()) > 0:
                self._condition.wait(remaining)
        return True

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
            room -= self._take(turn, min(SHARE, room))
            may_take_more = not turn.ended and turn.work.unread + len(turn.sentences) < MOST_UNREAD
            (turns if may_take_more else done).append(turn)
        done += [turn for turn in turns if turn.sentences]
        with self._condition:
            for turn in done:  # those that had no turn come first next time
                self._remove(turn.work)
                if not turn.ended:
                    self._waiting.append(turn.work)
            self.figures.waiting = len(self._waiting)
        return done

    def _take(self, turn: _Turn, room: int) -> int:
        """Takes sentences from a request until they cost ``room`` tokens. Returns their cost."""
        work, spent = turn.work, 0
        try:
            while spent < room:
                placed = next(work.sentences, None)
                if placed is None:
                    turn.ended = True
                    break
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
            self.figures.seconds += time.perf_counter() - started
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
        for turn in turns:
            found = [(placed, next(analyses)) for placed, _ in turn.sentences]
            parsed = [Parsed(*placed, analysis) for placed, analysis in found if analysis is not None]
            failure = turn.failure
            if len(parsed) < len(found):
                failure = internal_error()
                with self._condition:
                    turn.work.cancelled = True
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
    if wish.functions:
        return iter(parser.do(parser.best_with_functions(), sentences))
    return (without_probabilities(tree, score) for tree, score in parser.do(parser.best_trees(), sentences))
