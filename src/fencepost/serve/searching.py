"""``POST /v1/search``: finds patterns in trees, in a process of its own.

A pattern can take minutes on one tree. A process can be ended when its time is over; a thread can't.
"""

from __future__ import annotations

import multiprocessing
import signal
import threading
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field

from fencepost.errors import FencepostError
from fencepost.serve.failures import BusyError, InvalidError, UnavailableError
from fencepost.serve.requests import read_fields
from fencepost.trees.brackets import parse_tree
from fencepost.trees.tree import Tree

if TYPE_CHECKING:
    from multiprocessing.context import SpawnProcess

MOST_MATCHES: Final = 10_000
MOST_WAITING: Final = 16  # searches
START: Final = 20.0  # seconds that the process may take to start


class SearchRequest(BaseModel):
    """A pattern, and the trees to search."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    pattern: Annotated[str, Field(max_length=1_000, description="a pattern in Tregex's language, such as NP < PP")]
    trees: Annotated[list[str], Field(description="trees in brackets")]


def read_search(body: bytes) -> SearchRequest:
    """The request in a body. Raises InvalidError if it isn't one."""
    example = '{"pattern": "NP < PP", "trees": ["(TOP (S …))"]}'
    return read_fields(SearchRequest, body, example, {"trees": "trees must be a list of trees in brackets"})


class Searcher:
    """Searches trees in another process, which starts when it is first needed."""

    def __init__(self, seconds: float = 5.0) -> None:
        """``seconds``: the most that a search may take."""
        self._seconds = seconds
        self._waiting = threading.Semaphore(MOST_WAITING)
        self._lock = threading.Lock()
        self._process: SpawnProcess | None = None
        self._connection: Connection | None = None

    def search(self, pattern: str, trees: Sequence[str]) -> list[dict[str, Any]]:
        """The matches in the trees, in order. Blocks; raises a RequestError if the search can't be done."""
        if not self._waiting.acquire(blocking=False):
            raise BusyError("too many searches are waiting", hint="try again in a few seconds")
        try:
            with self._lock:
                found = self._ask(pattern, trees)
        finally:
            self._waiting.release()
        if isinstance(found, InvalidError):
            raise found
        return found

    def _ask(self, pattern: str, trees: Sequence[str]) -> list[dict[str, Any]] | InvalidError:
        connection = self._running()
        try:
            connection.send((pattern, trees))
            if connection.poll(self._seconds):
                found: list[dict[str, Any]] | InvalidError = connection.recv()
                return found
        except (EOFError, OSError):
            pass  # the process was killed from outside, for its memory perhaps
        self._end()
        raise UnavailableError(
            f"this search takes longer than {self._seconds:g} seconds", hint="search fewer trees, or a simpler pattern"
        )

    def _running(self) -> Connection:
        """The connection to a process that waits for work."""
        if self._connection is None or self._process is None or not self._process.is_alive():
            self._end()
            context = multiprocessing.get_context("spawn")
            self._connection, theirs = context.Pipe()
            self._process = context.Process(target=_serve, args=(theirs,), daemon=True)
            self._process.start()
            theirs.close()
            if self._connection.poll(START):
                self._connection.recv()  # it is ready: starting doesn't count as searching
        return self._connection

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
        if self._connection is not None:
            self._connection.close()
        self._process = self._connection = None

    def close(self) -> None:
        with self._lock:
            self._end()


def _serve(connection: Connection) -> None:
    """The other process: searches until the server is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server
    import fencepost.search.pattern  # noqa: F401  # now, so that the first search is as quick as the others

    with suppress(EOFError, OSError):
        connection.send(True)
        while True:
            connection.send(find(*connection.recv()))


def find(pattern: str, trees: Sequence[str]) -> list[dict[str, Any]] | InvalidError:
    """The matches in the trees, or what is wrong with the pattern or with a tree."""
    from fencepost.search.pattern import Pattern

    found: list[dict[str, Any]] = []
    try:
        compiled = Pattern(pattern)
    except FencepostError as error:
        return InvalidError(error.message, hint=error.hint)
    for number, text in enumerate(trees):
        try:
            tree = parse_tree(text)
        except FencepostError as error:
            return InvalidError(f"tree {number + 1}: {error.message}", hint=error.hint)
        numbers = _numbers(tree)
        for match in compiled.search(tree, once=True):
            names = {name: match.span(name) for name in match.names}
            found.append(
                {
                    "tree": number,
                    "node": numbers[match.node],
                    "label": match.label,
                    "start": match.start,
                    "end": match.end,
                    "names": {name: {"start": start, "end": end} for name, (start, end) in names.items()},
                }
            )
            if len(found) >= MOST_MATCHES:
                return found
    return found


def _numbers(tree: Tree) -> list[int]:
    """The number in a drawing of each node of a pattern: there, a tag and its word are one node."""
    numbers: list[int] = []
    for number, node in enumerate(tree.walk()):
        numbers += [number] if isinstance(node, Tree) else [number, number]
    return numbers
