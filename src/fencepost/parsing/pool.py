"""The processes behind ``Workers``: each has its own copy of the model, one thread, and one chunk at a time.

They end at once when their results are no longer needed: after an error, after Ctrl-C, when the caller stops reading,
and when this process dies. The processes of ``concurrent.futures`` would not (``docs/architecture.md``).
"""

from __future__ import annotations

import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess, parent_process
from threading import Thread
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from fencepost.errors import FencepostError, ModelError, UsageError, WorkerError

if TYPE_CHECKING:
    from fencepost.parsing.parser import Parser
    from fencepost.trees.treebank import Sentence

Work: TypeAlias = "Callable[[list[Sentence]], list[Any]]"
NumberedChunk: TypeAlias = "tuple[int, list[Sentence]]"  # with the number of its first sentence

AHEAD: Final = 3  # chunks per process, being parsed or waiting for an earlier one; this bounds memory


@dataclass
class _Slot:
    """A chunk that was read, and whose results have not been handed on yet."""

    answer: list[Any] | Exception | None = None  # None while it is being parsed; an error if it can't be read


class Pool:
    """Processes that parse chunks. A chunk goes to a free process; its results wait until it is their turn."""

    def __init__(self, recipe: tuple[object, ...], workers: int) -> None:
        """``recipe``: what makes the parser in another process, as ``parser.__reduce__()`` gives it."""
        # Threads of torch or ONNX Runtime don't survive a fork.
        self._context, self._recipe = get_context("spawn"), recipe
        self._workers = workers
        self._free: list[Connection] = []
        self._processes: dict[Connection, BaseProcess] = {}
        self._is_open = True

    def end(self) -> None:
        """Ends all processes for good. Reading further results raises an error from now on."""
        self._is_open = False
        self._free.clear()
        self._end(list(self._processes))

    def do(
        self, job: object, chunks: Iterator[tuple[int, list[Any]]], is_waiting: Callable[[], bool]
    ) -> Iterator[list[Any]]:
        """The results of each chunk, in order: what ``do(job, chunk)`` of the other process's parser returns."""
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
                    if isinstance(answer, Exception):
                        raise answer
                    yield answer
        finally:
            # After an error or an early exit, a late answer must not be taken for the answer to another call.
            self._end(list(busy))

    def _hand_out(
        self,
        job: object,
        chunks: Iterator[tuple[int, list[Any]]],
        is_waiting: Callable[[], bool],
        busy: dict[Connection, _Slot],
        turn: deque[_Slot],
    ) -> None:
        """Reads chunks and sends them to processes while one is free."""
        while len(turn) < AHEAD * self._workers and self._may_use_another(busy) and not (turn and is_waiting()):
            slot = _Slot()
            try:
                first, chunk = next(chunks)
            except StopIteration:
                return
            except Exception as error:  # raised later, after the results of the chunks before it
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
        """Waits for an answer, and takes every answer that has arrived."""
        for connection in set(busy).intersection(wait(list(busy))):
            busy[connection].answer = _read_answer(connection)
            del busy[connection]
            self._give_back(connection)

    def _require_open(self) -> None:
        if not self._is_open:
            raise UsageError("the worker processes have ended", hint="read the results inside `with Workers(…)`")

    def _may_use_another(self, busy: dict[Connection, _Slot]) -> bool:
        """True if this call may use another process. Every call gets at least one, even if others use all of them."""
        return not busy or bool(self._free) or len(self._processes) < self._workers

    def _give_back(self, connection: Connection) -> None:
        if len(self._processes) > self._workers:
            self._end([connection])
        else:
            self._free.append(connection)

    def _take(self) -> Connection:
        """A free process, or a new one."""
        while self._free:
            connection = self._free.pop()
            if self._processes[connection].is_alive():
                return connection
            self._end([connection])
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=_work, args=(theirs, *self._recipe), daemon=True)
        with _interruptions_blocked():
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


@contextmanager
def _interruptions_blocked() -> Iterator[None]:
    """Ctrl-C waits. A process that starts here inherits this, so that Ctrl-C can't surprise it before it is ready."""
    if not hasattr(signal, "pthread_sigmask"):  # as on Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _send(connection: Connection, work: tuple[object, int, list[Any]]) -> None:
    # That a process has ended is noticed when its answer is read.
    with suppress(BrokenPipeError):
        connection.send(work)


def _read_answer(connection: Connection) -> list[Any]:
    try:
        answer: list[Any] | FencepostError = connection.recv()
    except (EOFError, ConnectionError):
        raise WorkerError(
            "a worker process was killed", hint="if memory ran out, use fewer workers or --batch-tokens 500"
        ) from None
    if isinstance(answer, FencepostError):
        raise answer
    return answer


# In the other processes


def _work(connection: Connection, load: Callable[..., Parser], source: tuple[object, ...]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches every process; the main process ends the others
    Thread(target=_end_with_the_main_process, daemon=True, name="fencepost-end").start()
    with suppress(EOFError, ConnectionError):  # the main process is gone
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


def _end_with_the_main_process() -> None:
    """Ends this process at once. Otherwise it would finish its chunk first, and a part of a corpus may take minutes."""
    main = parent_process()
    if main is not None:
        main.join()
        os._exit(1)


def _answer(work: Work, first: int, sentences: list[Sentence]) -> list[Any] | FencepostError:
    try:
        return work(sentences)
    except ModelError as error:  # the model is to blame, not a sentence
        return error
    except Exception as error:
        number = first + _culprit(work, sentences)
        return WorkerError(f"sentence {number} can't be parsed: {type(error).__name__}: {error}")


def _culprit(work: Work, sentences: list[Sentence]) -> int:
    """The index of the first sentence that fails by itself; if none does, the longest, which needs the most memory."""
    for index, sentence in enumerate(sentences):
        try:
            work([sentence])
        except Exception:
            return index
    return max(range(len(sentences)), key=lambda index: len(sentences[index]))
