"""``POST /v1/search`` and ``POST /tregex``: find patterns in trees, in a process of their own.

A pattern can take minutes on one tree. A process can be ended when its time is over; a thread can't.
"""

from __future__ import annotations

import multiprocessing
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from fencepost.errors import FencepostError
from fencepost.serve.failures import InvalidError, UnavailableError
from fencepost.serve.requests import read_fields
from fencepost.trees.brackets import parse_tree
from fencepost.trees.tree import Tree

if TYPE_CHECKING:
    from multiprocessing.context import SpawnProcess

    from fencepost.search.pattern import Pattern

Found = TypeVar("Found")
LONGEST_PATTERN: Final = 1_000  # characters
MOST_MATCHES: Final = 10_000
MOST_TEXT: Final = 10_000_000  # characters of subtrees
MOST_WAITING: Final = 16  # searches
START: Final = 20.0  # seconds that the process may take to start


class SearchRequest(BaseModel):
    """A pattern, and the trees to search."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    pattern: Annotated[
        str, Field(max_length=LONGEST_PATTERN, description="a pattern in Tregex's language, such as NP < PP")
    ]
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
        self._lock = threading.Lock()
        self._process: SpawnProcess | None = None
        self._connection: Connection | None = None

    def search(self, pattern: str, trees: Sequence[str]) -> list[dict[str, Any]]:
        """The matches in the trees, in order. Blocks; raises a RequestError if the search can't be done."""
        return self._search(find, pattern, trees)

    def subtrees(self, pattern: str, trees: Sequence[str]) -> list[dict[str, Any]]:
        """The matches in each tree as CoreNLP describes them. Blocks and raises as ``search`` does."""
        return self._search(find_subtrees, pattern, trees)

    def _search(self, job: Callable[[str, Sequence[str]], Found], pattern: str, trees: Sequence[str]) -> Found:
        with self._lock:
            found = self._ask(job, pattern, trees)
        if isinstance(found, InvalidError):
            raise found
        return found

    def _ask(
        self, job: Callable[[str, Sequence[str]], Found], pattern: str, trees: Sequence[str]
    ) -> Found | InvalidError:
        connection = self._running()
        try:
            connection.send((job, pattern, trees))
            if connection.poll(self._seconds):
                found: Found | InvalidError = connection.recv()
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
            ours, theirs = context.Pipe()
            with theirs:
                process = context.Process(target=_serve, args=(theirs,), daemon=True)
                process.start()  # may fail, if the system has no room for another process
            self._connection, self._process = ours, process
            if ours.poll(START):
                ours.recv()  # it is ready: starting doesn't count as searching
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
            job, pattern, trees = connection.recv()
            try:
                found = job(pattern, trees)
            except InvalidError as error:
                found = error
            except FencepostError as error:  # such as an expression that could take exponential time on a label
                found = InvalidError(error.message, hint=error.hint)
            connection.send(found)


def find(pattern: str, trees: Sequence[str]) -> list[dict[str, Any]]:
    """The matches in the trees. Raises InvalidError if the pattern or a tree can't be read."""
    found: list[dict[str, Any]] = []
    compiled = _pattern(pattern)
    for number, tree in enumerate(_trees(trees)):
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


def find_subtrees(pattern: str, trees: Sequence[str]) -> list[dict[str, Any]]:
    """For each tree its matches, one for each way in which a node matches, in the form of CoreNLP's ``/tregex``.

    Raises InvalidError if the pattern or a tree can't be read, or if there are too many matches.
    """
    from fencepost.search.nodes import Nodes
    from fencepost.serve.penn import penn_text

    found: list[dict[str, Any]] = []
    compiled = _pattern(pattern)
    count = size = 0
    for nodes in map(Nodes.of, _trees(trees)):
        own: dict[str, Any] = {}
        for number, place in enumerate(compiled.places(nodes)):
            named = [(name, penn_text(nodes, node)) for name, node in place.bound.items() if isinstance(node, int)]
            match = penn_text(nodes, place.node)
            own[str(number)] = {"match": match, "namedNodes": [{name: text} for name, text in named]}
            count, size = count + 1, size + len(match) + sum(len(text) for _, text in named)
            if count > MOST_MATCHES or size > MOST_TEXT:
                limits = f"{MOST_MATCHES:,} matches with {MOST_TEXT:,} characters"
                raise InvalidError(f"the answer would have more than {limits}", hint="send less text")
        found.append(own)
    return found


def _pattern(text: str) -> Pattern:
    from fencepost.search.pattern import Pattern

    try:
        return Pattern(text)
    except FencepostError as error:
        raise InvalidError(error.message, hint=error.hint) from None


def _trees(texts: Sequence[str]) -> Iterator[Tree]:
    for number, text in enumerate(texts, 1):
        try:
            yield parse_tree(text)
        except FencepostError as error:
            raise InvalidError(f"tree {number}: {error.message}", hint=error.hint) from None


def _numbers(tree: Tree) -> list[int]:
    """The number in a drawing of each node of a pattern: there, a tag and its word are one node."""
    numbers: list[int] = []
    for number, node in enumerate(tree.walk()):
        numbers += [number] if isinstance(node, Tree) else [number, number]
    return numbers
