"""Jobs to run on each chunk of sentences. A job can be pickled, so that this process or a worker can run it."""

from __future__ import annotations

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


@dataclass(frozen=True)
class FindBestTrees:
    budget: int

    def do(self, parser: ChunkParser, sentences: list[Sentence]) -> list[ScoredPair]:
        return parser.parse(sentences, self.budget)


@dataclass(frozen=True)
class FindColumns:
    """The best trees as arrays: one result for all sentences of a chunk, and none for a chunk without sentences."""

    budget: int

    def do(self, parser: ChunkParser, sentences: list[Sentence]) -> list[ParsedColumns]:
        return [parser.columns(sentences, self.budget)] if sentences else []


@dataclass(frozen=True)
class FindFunctions:
    """The best trees with the functions of their constituents."""

    budget: int

    def do(self, parser: ChunkParser, sentences: list[Sentence]) -> list[Analysis]:
        return parser.parse_with_functions(sentences, self.budget)


@dataclass(frozen=True)
class Analyze:
    budget: int
    analyst: Analyst
    functions: bool = False

    def do(self, parser: ChunkParser, sentences: list[Sentence]) -> list[Analysis]:
        return parser.analyze(sentences, self.analyst, self.budget, functions=self.functions)
