"""Parses in several processes, each with its own copy of the model and one thread. Trees keep their order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from fencepost.errors import require_whole_number
from fencepost.parsing.chunks import growing_chunks, never
from fencepost.parsing.cores import usable_cores
from fencepost.parsing.pool import NumberedChunk, Pool

if TYPE_CHECKING:
    from fencepost.parsing.checking import GivenSentence
    from fencepost.parsing.chunk_parser import ScoredPair
    from fencepost.parsing.confidence import Analysis, Decoding
    from fencepost.parsing.jobs import Job, Result
    from fencepost.parsing.parser import Parser
    from fencepost.trees.tree import Tree
    from fencepost.trees.treebank import Sentence

FEW: Final = 1_000  # sentences that this process parses before it starts others
MOST: Final = 8  # processes by default: each holds the model in memory
CHUNK: Final = 16_000  # tokens sent to a process at once, or two batches if they are larger


class Item(Protocol):
    """Something in a stream of input: a sentence, or a mark such as the end of a document."""

    @property
    def length(self) -> int:
        """The number of words to parse; 0 if there is nothing to parse."""
        ...

    def sentence(self) -> Sentence: ...


ItemKind = TypeVar("ItemKind", bound=Item)


def parse_with_workers(
    parser: Parser,
    sentences: Iterable[GivenSentence],
    workers: int | None = None,
    *,
    batch_tokens: int | None = None,
) -> Iterator[Tree]:
    """``parser.iter_parse`` with several processes; see ``Workers`` for the default number."""
    with Workers(parser, workers) as crew:
        for tree, _ in crew.iter_scored(sentences, batch_tokens=batch_tokens):
            yield tree


class Workers:
    """A parser's ``iter_scored`` and ``iter_analyze`` with several processes. Use it in a ``with`` statement.

    Default: the first 1,000 sentences run in this process, the others in one process per core, at most 8. On a GPU the
    device does the work, and this process is enough.
    """

    def __init__(self, parser: Parser, workers: int | None = None) -> None:
        if workers is not None:
            require_whole_number("workers", workers, 1)
        automatic = min(usable_cores(), MOST) if parser.runs_on_cpu else 1
        self._parser = parser
        self._workers = workers or automatic
        self._few = FEW if workers is None else 0
        self._count = 0  # sentences so far, over all calls
        self._pool: Pool | None = None

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.end()
            self._pool = None

    def largest_chunk(self, budget: int) -> int | None:
        """The largest chunk in tokens. It is smaller for several processes, so that all stay busy to the end.

        Yet it has two batches of ``budget`` tokens: a process prepares one while a GPU parses the other.
        """
        return None if self._workers == 1 else max(CHUNK, 2 * budget)

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
        functions: bool = False,
    ) -> Iterator[Analysis]:
        return self._do_all(self._parser.analyses(k, None, decoding, batch_tokens, functions), sentences)

    def iter_functions(
        self, sentences: Iterable[GivenSentence], *, batch_tokens: int | None = None
    ) -> Iterator[Analysis]:
        """The best tree of each sentence, with functions."""
        return self._do_all(self._parser.best_with_functions(batch_tokens), sentences)

    def _do_all(self, job: Job[Result], sentences: Iterable[GivenSentence]) -> Iterator[Result]:
        chunks = growing_chunks(self._parser.watched(sentences), len, job.budget, self.largest_chunk(job.budget))
        for results in self.do_chunks(job, chunks):
            yield from results

    def do_chunks(
        self, job: Job[Result], chunks: Iterable[list[Sentence]], is_waiting: Callable[[], bool] = never
    ) -> Iterator[list[Result]]:
        """The results of each chunk of checked sentences, in order.

        Later chunks are read while earlier ones are parsed, unless ``is_waiting`` says that reading would block.
        """
        if self._workers == 1:
            yield from self._parser.do_chunks(job, chunks)
            return
        numbered = self._numbered(chunks)
        for first, chunk in numbered:
            last = first + len(chunk) - 1
            if last > self._few:
                if self._pool is None:
                    self._pool = Pool(self._parser.__reduce__(), self._workers)
                yield from self._pool.do(job, chain([(first, chunk)], numbered), is_waiting)
                return
            yield self._parser.do(job, chunk)

    def do_items(
        self, job: Job[Result], items: Iterable[ItemKind], is_waiting: Callable[[], bool] = never
    ) -> Iterator[tuple[list[ItemKind], list[Result]]]:
        """Chunks of items in order, each with the results of those items that have words to parse."""
        notice = self._parser.language_notice
        unfinished: deque[list[ItemKind]] = deque()  # chunks that were read but whose results aren't handed on yet

        def sentences() -> Iterator[list[Sentence]]:
            number, most = 1, self.largest_chunk(job.budget)
            for chunk in growing_chunks(items, attrgetter("length"), job.budget, most, is_waiting):
                unfinished.append(chunk)
                checked = list(self._parser.checked((item.sentence() for item in chunk if item.length), number))
                number += len(checked)
                problem = None
                try:
                    for sentence in checked:
                        notice.look(sentence)
                except Warning as warning:  # where warnings are errors: these sentences come before it
                    problem = warning
                yield checked
                if problem is not None:
                    raise problem
            notice.finish()

        for results in self.do_chunks(job, sentences(), is_waiting):
            yield unfinished.popleft(), results

    def _numbered(self, chunks: Iterable[list[Sentence]]) -> Iterator[NumberedChunk]:
        for chunk in chunks:
            first = self._count + 1
            self._count += len(chunk)
            yield first, chunk
