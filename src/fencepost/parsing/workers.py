"""Parsing with several processes, each with its own copy of the model and one thread. Trees keep their order."""

from __future__ import annotations

import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from fencepost.errors import FencepostError, InputError, UsageError, WorkerError
from fencepost.parsing.chunks import LARGEST, growing_chunks, never

if TYPE_CHECKING:
    from fencepost.parsing.checking import GivenSentence
    from fencepost.parsing.chunk_parser import ScoredPair
    from fencepost.parsing.confidence import Analysis, Decoding
    from fencepost.parsing.jobs import Job, Result
    from fencepost.parsing.parser import Parser
    from fencepost.trees.tree import Tree
    from fencepost.trees.treebank import Sentence

Work: TypeAlias = "Callable[[list[Sentence]], list[Any]]"
NumberedChunk: TypeAlias = "tuple[int, list[Sentence]]"  # with the number of its first sentence

FEW: Final = 1_000  # sentences that are parsed before a process would be ready
MOST: Final = 8  # processes, unless more are asked for: each has the model in memory
CHUNK: Final = 16_000  # tokens that one process gets at once
AHEAD: Final = 3  # chunks a process that may be under way or wait for an earlier one: what bounds the memory


def usable_cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def parse_with_workers(
    parser: Parser,
    sentences: Iterable[GivenSentence],
    workers: int | None = None,
    *,
    batch_tokens: int | None = None,
) -> Iterator[Tree]:
    """``parser.iter_parse`` with ``workers`` processes; without a number, as ``Workers`` says."""
    with Workers(parser, workers) as crew:
        for tree, _ in crew.iter_scored(sentences, batch_tokens=batch_tokens):
            yield tree


class Workers:
    """A parser's ``iter_scored`` and ``iter_analyze``, done by several processes; to be used in a ``with`` statement.

    Without a number: this process for the first thousand sentences, then one for each core, at most 8. On a GPU the
    device is what works, and this process is enough.
    """

    def __init__(self, parser: Parser, workers: int | None = None) -> None:
        if workers is not None and workers < 1:
            raise UsageError(f"{workers} workers can't parse anything", hint="1, or a process for each core")
        automatic = min(usable_cores(), MOST) if parser.runs_on_cpu else 1
        self._parser = parser
        self._workers = workers or automatic
        self._few = FEW if workers is None else 0
        self._given = 0  # sentences, of all lists together
        self._pool: _Pool | None = None

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.end()
            self._pool = None

    @property
    def largest_chunk(self) -> int:
        """Tokens; the chunks of several processes are smaller, so that all of them have work to the end."""
        return LARGEST if self._workers == 1 else CHUNK

    def iter_scored(
        self, sentences: Iterable[GivenSentence], *, batch_tokens: int | None = None
    ) -> Iterator[ScoredPair]:
        return self._do_all(self._parser.best_trees(batch_tokens), sentences)

    def iter_analyze(
        self,
        sentences: Iterable[GivenSentence],
        k: int = 5,
        *,
        decoding: Decoding = "best",
        batch_tokens: int | None = None,
    ) -> Iterator[Analysis]:
        return self._do_all(self._parser.analyses(k, None, decoding, batch_tokens), sentences)

    def _do_all(self, job: Job[Result], sentences: Iterable[GivenSentence]) -> Iterator[Result]:
        chunks = growing_chunks(self._parser.checked(sentences), len, job.budget, self.largest_chunk)
        for results in self.do_chunks(job, chunks):
            yield from results

    def do_chunks(
        self, job: Job[Result], chunks: Iterable[list[Sentence]], is_waiting: Callable[[], bool] = never
    ) -> Iterator[list[Result]]:
        """The results of each chunk of checked sentences, in order.

        Later chunks are read while earlier ones are parsed, unless reading on would wait, as ``is_waiting`` says.
        """
        numbered = self._numbered(chunks)
        for first, chunk in numbered:
            last = first + len(chunk) - 1
            if self._workers > 1 and last > self._few:
                if self._pool is None:
                    self._pool = _Pool(self._parser, self._workers)
                yield from self._pool.do(job, chain([(first, chunk)], numbered), is_waiting)
                return
            yield self._parser.do(job, chunk)

    def _numbered(self, chunks: Iterable[list[Sentence]]) -> Iterator[NumberedChunk]:
        for chunk in chunks:
            first = self._given + 1
            self._given += len(chunk)
            yield first, chunk


@dataclass
class _Slot:
    """A chunk that was read and whose results were not handed on yet."""

    answer: list[Any] | InputError | None = None  # None: it is being parsed; an error: it can't be read


class _Pool:
    """Processes that parse chunks. A chunk goes to whoever is free; results wait until it is their turn."""

    def __init__(self, parser: Parser, workers: int) -> None:
        # Threads of torch or ONNX Runtime don't survive a fork.
        self._context, self._recipe = get_context("spawn"), parser.__reduce__()
        self._workers = workers
        self._free: list[Connection] = []
        self._processes: dict[Connection, BaseProcess] = {}
        self._is_open = True

    def end(self) -> None:
        """For good: a list that was not read to its end by now has none."""
        self._is_open = False
        self._free.clear()
        self._end(list(self._processes))

    def do(
        self, job: Job[Result], chunks: Iterator[NumberedChunk], is_waiting: Callable[[], bool]
    ) -> Iterator[list[Result]]:
        busy: dict[Connection, _Slot] = {}
        turn: deque[_Slot] = deque()
        try:
            while True:
                self._require_open()
                self._hand_out(job, chunks, is_waiting, busy, turn)
                if not turn:
                    return
                if turn[0].answer is None:
                    self._receive(busy)
                while turn and (answer := turn[0].answer) is not None:
                    turn.popleft()
                    if isinstance(answer, InputError):
                        raise answer
                    yield answer
        finally:
            # After an error, or where nobody wants the rest: what these are parsing must not answer another call.
            self._end(list(busy))

    def _hand_out(
        self,
        job: Job[Any],
        chunks: Iterator[NumberedChunk],
        is_waiting: Callable[[], bool],
        busy: dict[Connection, _Slot],
        turn: deque[_Slot],
    ) -> None:
        """Reads on while a process is free for what comes."""
        while len(turn) < AHEAD * self._workers and self._has_one_for(busy) and not (turn and is_waiting()):
            slot = _Slot()
            try:
                first, chunk = next(chunks)
            except StopIteration:
                return
            except InputError as error:  # whose turn comes after the chunks before it
                slot.answer = error
            else:
                if chunk:
                    connection = self._take()
                    busy[connection] = slot
                    _send(connection, (job, first, chunk))
                else:
                    slot.answer = []
            turn.append(slot)

    def _receive(self, busy: dict[Connection, _Slot]) -> None:
        """Waits for an answer, and takes all that are there."""
        for connection in set(busy).intersection(wait(list(busy))):
            busy[connection].answer = _receive(connection)
            del busy[connection]
            self._give_back(connection)

    def _require_open(self) -> None:
        if not self._is_open:
            raise UsageError("the processes that parsed have ended", hint="read results inside of `with Workers(…)`")

    def _has_one_for(self, busy: dict[Connection, _Slot]) -> bool:
        """Whether a list may have another process: one in any case, even if others have all that there should be."""
        return not busy or bool(self._free) or len(self._processes) < self._workers

    def _give_back(self, connection: Connection) -> None:
        if len(self._processes) > self._workers:
            self._end([connection])
        else:
            self._free.append(connection)

    def _take(self) -> Connection:
        """A process that is free, or a new one."""
        while self._free:
            connection = self._free.pop()
            if self._processes[connection].is_alive():
                return connection
            self._end([connection])
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=_work, args=(theirs, *self._recipe), daemon=True)
        process.start()
        theirs.close()
        self._processes[ours] = process
        return ours

    def _end(self, connections: list[Connection]) -> None:
        ended = {each: self._processes.pop(each) for each in connections if each in self._processes}
        for process in ended.values():
            process.terminate()
        for connection, process in ended.items():
            process.join()
            connection.close()


def _send(connection: Connection, work: tuple[Job[Any], int, list[Sentence]]) -> None:
    # A process that has ended is found when its answer is read.
    with suppress(BrokenPipeError):
        connection.send(work)


def _receive(connection: Connection) -> list[Any]:
    try:
        answer: list[Any] | FencepostError = connection.recv()
    except (EOFError, ConnectionError):
        raise WorkerError(
            "a parsing process was killed", hint="where memory ran out, fewer workers or --batch-tokens 500 need less"
        ) from None
    if isinstance(answer, FencepostError):
        raise answer
    return answer


# In the other processes


def _work(connection: Connection, load: Callable[..., Parser], source: tuple[object, ...]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches every process, and the first one ends the others
    with suppress(EOFError, ConnectionError):  # nobody is there any more
        try:
            parser: Parser = load(*source)
        except FencepostError as error:
            connection.send(error)
            return
        if torch := sys.modules.get("torch"):
            torch.set_num_threads(1)
        while True:
            job, first, sentences = connection.recv()
            connection.send(_answer(partial(parser.do, job), first, sentences))


def _answer(work: Work, first: int, sentences: list[Sentence]) -> list[Any] | FencepostError:
    try:
        return work(sentences)
    except Exception as error:
        number = first + _culprit(work, sentences)
        return WorkerError(f"sentence {number} can't be parsed: {type(error).__name__}: {error}")


def _culprit(work: Work, sentences: list[Sentence]) -> int:
    """The place of the sentence that fails by itself; where none does, the longest, which needs the most memory."""
    for place, sentence in enumerate(sentences):
        try:
            work([sentence])
        except Exception:
            return place
    return max(range(len(sentences)), key=lambda place: len(sentences[place]))
