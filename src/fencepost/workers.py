"""Parsing with several processes, each with its own copy of the model and one thread. Trees keep their order."""

from __future__ import annotations

import os
import pickle
import signal
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain, islice
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import TYPE_CHECKING, Final

from fencepost.errors import FencepostError, UsageError, WorkerError
from fencepost.streaming import growing_chunks

if TYPE_CHECKING:
    from fencepost.parser import Parser
    from fencepost.trees.tree import Tree
    from fencepost.trees.treebank import Sentence

FEW: Final = 1_000  # sentences that are parsed before a process would be ready
MOST: Final = 8  # processes, unless more are asked for: each has the model in memory
CHUNK: Final = 512  # sentences that one process gets at once
AHEAD: Final = 3  # chunks a process that may be under way or wait for an earlier one: what bounds the memory


def usable_cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def parse_with_workers(
    parser: Parser,
    sentences: Iterable[Sentence | Sequence[str]],
    workers: int | None = None,
    *,
    batch_tokens: int | None = None,
) -> Iterator[Tree]:
    """``parser.iter_parse`` with ``workers`` processes.

    Without a number: this process for the first thousand sentences, then one for each core, at most 8. On a GPU the
    device is what works, and this process is enough.
    """
    if workers is not None and workers < 1:
        raise UsageError(f"{workers} workers can't parse anything", hint="1, or a process for each core")
    return _parse(parser, iter(sentences), workers, batch_tokens)


def _parse(
    parser: Parser, sentences: Iterator[Sentence | Sequence[str]], workers: int | None, batch_tokens: int | None
) -> Iterator[Tree]:
    checked = parser.checked(sentences)
    if workers is None:
        workers = min(usable_cores(), MOST) if parser.runs_on_cpu else 1
        few = FEW if workers > 1 else None
        yield from parser.iter_parse(islice(checked, few), batch_tokens=batch_tokens)
    if workers == 1:
        yield from parser.iter_parse(checked, batch_tokens=batch_tokens)
        return
    first = next(checked, None)
    if first is None:  # no process is started for nothing
        return
    with _Pool(parser, workers, batch_tokens) as pool:
        yield from pool.parse(chain([first], checked))


class _Pool:
    """Processes that parse chunks. A chunk goes to whoever is free; results wait until it is their turn."""

    def __init__(self, parser: Parser, workers: int, batch_tokens: int | None) -> None:
        # Threads of torch or ONNX Runtime don't survive a fork.
        context, model = get_context("spawn"), pickle.dumps(parser)
        self._most = AHEAD * workers
        self._free: list[Connection] = []
        self._processes: list[BaseProcess] = []
        for _ in range(workers):
            ours, theirs = context.Pipe()
            process = context.Process(target=_work, args=(theirs, model, batch_tokens), daemon=True)
            process.start()
            theirs.close()
            self._free.append(ours)
            self._processes.append(process)

    def __enter__(self) -> _Pool:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            process.join()

    def parse(self, sentences: Iterator[Sentence]) -> Iterator[Tree]:
        chunks = _numbered(growing_chunks(sentences, CHUNK))
        busy: dict[Connection, int] = {}  # the first sentence of what each process is parsing
        done: dict[int, list[Tree]] = {}
        turn: list[int] = []  # the first sentences of all chunks that were not handed out
        while True:
            while self._free and len(turn) < self._most and (chunk := next(chunks, None)) is not None:
                connection = self._free.pop()
                _send(connection, chunk)
                busy[connection] = chunk[0]
                turn.append(chunk[0])
            if not turn:
                return
            for connection in set(busy).intersection(wait(list(busy))):
                done[busy.pop(connection)] = _receive(connection)
                self._free.append(connection)
            while turn and turn[0] in done:
                yield from done.pop(turn.pop(0))


def _send(connection: Connection, chunk: tuple[int, list[Sentence]]) -> None:
    # A process that has ended is found when its answer is read.
    with suppress(BrokenPipeError):
        connection.send(chunk)


def _receive(connection: Connection) -> list[Tree]:
    try:
        answer: list[Tree] | FencepostError = connection.recv()
    except (EOFError, ConnectionError):
        raise WorkerError(
            "a parsing process was killed", hint="where memory ran out, fewer workers or --batch-tokens 500 need less"
        ) from None
    if isinstance(answer, FencepostError):
        raise answer
    return answer


def _numbered(chunks: Iterable[list[Sentence]]) -> Iterator[tuple[int, list[Sentence]]]:
    """Each chunk with the number of its first sentence."""
    first = 1
    for chunk in chunks:
        yield first, chunk
        first += len(chunk)


# In the other processes


def _work(connection: Connection, model: bytes, batch_tokens: int | None) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches every process, and the first one ends the others
    with suppress(EOFError, ConnectionError):  # nobody is there any more
        try:
            parser: Parser = pickle.loads(model)
        except FencepostError as error:
            connection.send(error)
            return
        if torch := sys.modules.get("torch"):
            torch.set_num_threads(1)
        while True:
            first, sentences = connection.recv()
            connection.send(_answer(parser, first, sentences, batch_tokens))


def _answer(
    parser: Parser, first: int, sentences: list[Sentence], batch_tokens: int | None
) -> list[Tree] | FencepostError:
    try:
        return parser.parse(sentences, batch_tokens=batch_tokens)
    except Exception as error:
        number = first + _culprit(parser, sentences)
        return WorkerError(f"sentence {number} can't be parsed: {type(error).__name__}: {error}")


def _culprit(parser: Parser, sentences: list[Sentence]) -> int:
    """The place of the sentence that fails by itself; where none does, the longest, which needs the most memory."""
    for place, sentence in enumerate(sentences):
        try:
            parser.parse([sentence])
        except Exception:
            return place
    return max(range(len(sentences)), key=lambda place: len(sentences[place]))
