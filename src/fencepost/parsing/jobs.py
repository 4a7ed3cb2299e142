"""Jobs to run on each chunk of sentences. A job can be pickled, so that this process or a worker can run it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from fencepost.parsing.chunk_parser import ChunkParser, ScoredPair
    from fencepost.parsing.columns import ParsedColumns
    from fencepost.parsing.confidence import Analysis, Analyst
    from fencepost.trees.treebank import Sentence

Result = TypeVar("Result")


class Job(Protocol[Result]):
    @property
    def budget(self) -> int:
        """The number of tokens in a batch, as ``features.batching`` counts them."""
        ...

    def do(self, parser: ChunkParser, sentences: list[Sentence]) -> list[Result]:
        """One result for each sentence, or one for all of them. The sentences have been checked."""
        ...

    def do_chunks(self, parser: ChunkParser, chunks: Iterable[list[Sentence]]) -> Iterator[list[Result]]:
        """``do`` for a stream of chunks. A device may begin with the next chunk before the results of one are read."""
        ...


@dataclass(frozen=True)
class FindBestTrees:
    budget: int

    def do(self, parser: ChunkParser, sentences: list[Sentence]) -> list[ScoredPair]:
        return parser.parse(sentences, self.budget)

    def do_chunks(self, parser: ChunkParser, chunks: Iterable[list[Sentence]]) -> Iterator[list[ScoredPair]]:
        return parser.parse_chunks(chunks, self.budget)


@dataclass(frozen=True)
class FindColumns:
    """The best trees as arrays: one result for all sentences of a chunk, and none for a chunk without sentences."""

    budget: int

    def do(self, parser: ChunkParser, sentences: list[Sentence]) -> list[ParsedColumns]:
        return next(self.do_chunks(parser, [sentences]))

    def do_chunks(self, parser: ChunkParser, chunks: Iterable[list[Sentence]]) -> Iterator[list[ParsedColumns]]:
        return parser.columns_of_chunks(chunks, self.budget)


@dataclass(frozen=True)
class FindConstituents:
    """The best trees with their constituents."""

    budget: int

    def do(self, parser: ChunkParser, sentences: list[Sentence]) -> list[Analysis]:
        return parser.parse_with_constituents(sentences, self.budget)

    def do_chunks(self, parser: ChunkParser, chunks: Iterable[list[Sentence]]) -> Iterator[list[Analysis]]:
        return (self.do(parser, chunk) for chunk in chunks)


@dataclass(frozen=True)
class FindFunctions:
    """The best trees with the functions of their constituents."""

    budget: int

    def do(self, parser: ChunkParser, sentences: list[Sentence]) -> list[Analysis]:
        return parser.parse_with_functions(sentences, self.budget)

    def do_chunks(self, parser: ChunkParser, chunks: Iterable[list[Sentence]]) -> Iterator[list[Analysis]]:
        return (self.do(parser, chunk) for chunk in chunks)


@dataclass(frozen=True)
class Analyze:
    budget: int
    analyst: Analyst
    functions: bool = False

    def do(self, parser: ChunkParser, sentences: list[Sentence]) -> list[Analysis]:
        return parser.analyze(sentences, self.analyst, self.budget, functions=self.functions)

    def do_chunks(self, parser: ChunkParser, chunks: Iterable[list[Sentence]]) -> Iterator[list[Analysis]]:
        return (self.do(parser, chunk) for chunk in chunks)
