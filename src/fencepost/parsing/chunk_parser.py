"""Parses chunks of checked sentences: batches, scores, then trees in the order of each chunk.

Batches pass through three stages: sentences become numbers, a backend starts to parse them, its answer becomes trees.
Where the backend works on a device of its own, the first two stages run ahead in threads, so that it never waits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from fencepost.backends.base import Backend, FunctionReader, Parsed
from fencepost.features.batching import pieces
from fencepost.features.indexer import Indexer
from fencepost.features.vocabularies import Vocabularies
from fencepost.parsing.ahead import ahead
from fencepost.parsing.parsed_batch import Notation, ParsedBatch, TaggedBatch
from fencepost.trees.garbage_collection import no_garbage_collection
from fencepost.trees.tree import Tree
from fencepost.trees.treebank import Sentence

if TYPE_CHECKING:
    from fencepost.parsing.columns import ParsedColumns
    from fencepost.parsing.confidence import Analysis, Analyst

ScoredPair: TypeAlias = tuple[Tree, float]
Found = TypeVar("Found")


@dataclass(frozen=True)
class Part:
    """A batch of a chunk: the indices of its sentences in the chunk, and what the backend found."""

    indices: list[int]
    sentences: list[Sentence]
    parsed: Parsed


@dataclass(frozen=True)
class _Step:
    """A batch on its way. ``work`` is what the next stage needs; None for a step that only marks the end of a chunk."""

    indices: list[int]
    sentences: list[Sentence]
    work: Any


class ChunkParser:
    """Parses sentences that ``checking`` has checked. ``budget`` is the number of tokens in a batch."""

    def __init__(self, backend: Backend, indexer: Indexer, vocabularies: Vocabularies) -> None:
        self._backend = backend
        self._indexer = indexer
        self._vocabularies = vocabularies
        self._notation = Notation(vocabularies)

    def parse(self, sentences: list[Sentence], budget: int) -> list[ScoredPair]:
        """The best tree of each sentence and its score."""
        return next(self.parse_chunks([sentences], budget))

    def parse_chunks(self, chunks: Iterable[list[Sentence]], budget: int) -> Iterator[list[ScoredPair]]:
        """``parse`` for many chunks."""
        for parts in self._stream(chunks, budget):
            with no_garbage_collection():
                pairs = in_order((part.indices, self._trees(part)) for part in parts)
            yield pairs

    def columns_of_chunks(self, chunks: Iterable[list[Sentence]], budget: int) -> Iterator[list[ParsedColumns]]:
        """The best trees of each chunk as columns, without any ``Tree``; nothing for a chunk without sentences."""
        from fencepost.parsing.columns import ParsedColumns  # here: most programs only need trees

        for parts in self._stream(chunks, budget):
            batches = [(part.indices, ParsedBatch(part.sentences, part.parsed, self._notation)) for part in parts]
            yield [ParsedColumns.of(batches)] if batches else []

    def parse_with_constituents(self, sentences: list[Sentence], budget: int) -> list[Analysis]:
        """The best tree of each sentence and its constituents, which are read from arrays: no ``Tree`` is built."""
        (parts,) = self._stream([sentences], budget)
        with no_garbage_collection():
            return in_order((part.indices, self._with_constituents(part)) for part in parts)

    def parse_with_functions(self, sentences: list[Sentence], budget: int) -> list[Analysis]:
        """The best tree of each sentence, with functions and without probabilities of constituents."""
        from fencepost.parsing.confidence import without_probabilities  # here: most programs only need trees

        with no_garbage_collection():
            return self._analyze_best(sentences, budget, without_probabilities, functions=True)

    def analyze(
        self, sentences: list[Sentence], analyst: Analyst, budget: int, *, functions: bool = False
    ) -> list[Analysis]:
        """The analyst's result for each sentence."""
        analyses: dict[int, Analysis] = {}
        too_long = [index for index, each in enumerate(sentences) if not analyst.can_analyze(len(each))]
        best = self._analyze_best([sentences[index] for index in too_long], budget, analyst.best_alone, functions)
        analyses |= dict(zip(too_long, best, strict=True))
        others = [index for index in range(len(sentences)) if index not in analyses]
        for group in pieces([len(sentences[index]) for index in others], budget):
            indices = [others[number] for number in group]
            batch = [sentences[index] for index in indices]
            scored = self._backend.score(self._indexer.batch(batch), functions=functions)
            tagged = TaggedBatch(batch, scored.tags, self._notation)
            found = [
                analyst.analyze(scored.spans, row, partial(tagged.nest, tagged.leaves(row)))
                for row in range(len(batch))
            ]
            analyses.update(zip(indices, self._with_functions(found, scored.functions), strict=True))
        return [analyses[index] for index in range(len(sentences))]

    def _analyze_best(
        self, sentences: list[Sentence], budget: int, analysis_of: Callable[[Tree, float], Analysis], functions: bool
    ) -> list[Analysis]:
        """``analysis_of`` makes an analysis of the best tree and its score."""
        (parts,) = self._stream([sentences], budget, functions)
        found = ([analysis_of(*pair) for pair in self._trees(part)] for part in parts)
        return in_order(
            (part.indices, self._with_functions(analyses, part.parsed.functions))
            for part, analyses in zip(parts, found, strict=True)
        )

    def _stream(self, chunks: Iterable[list[Sentence]], budget: int, functions: bool = False) -> Iterator[list[Part]]:
        """The batches of each chunk, parsed."""
        overlaps = self._backend.overlaps
        indexed = self._indexed(chunks, budget)
        launched = self._launched(ahead(indexed) if overlaps else indexed, functions)
        parts: list[Part] = []
        for step in ahead(launched) if overlaps else launched:
            if step.work is None:
                yield parts
                parts = []
            else:
                parts.append(Part(step.indices, step.sentences, step.work()))

    def _indexed(self, chunks: Iterable[list[Sentence]], budget: int) -> Iterator[_Step]:
        for chunk in chunks:
            for indices in pieces([len(sentence) for sentence in chunk], budget):
                sentences = [chunk[index] for index in indices]
                yield _Step(indices, sentences, self._indexer.batch(sentences))
            yield _Step([], [], None)

    def _launched(self, steps: Iterable[_Step], functions: bool) -> Iterator[_Step]:
        for step in steps:
            work = None if step.work is None else self._backend.launch(step.work, functions=functions)
            yield replace(step, work=work)

    def _trees(self, part: Part) -> list[ScoredPair]:
        batch = ParsedBatch(part.sentences, part.parsed, self._notation)
        return list(zip(batch.lazy_trees(), batch.trees.scores.tolist(), strict=True))

    def _with_constituents(self, part: Part) -> list[Analysis]:
        from fencepost.parsing.confidence import Analysis, Constituent  # here: most programs only need trees

        batch = ParsedBatch(part.sentences, part.parsed, self._notation)
        counts, starts, ends, labels = (column.tolist() for column in batch.constituents())
        names = map(self._notation.label_names.__getitem__, labels)
        constituents = map(Constituent, names, starts, ends)
        pairs = zip(batch.lazy_trees(), batch.trees.scores.tolist(), counts, strict=True)
        return [Analysis(tree, score, tuple(islice(constituents, count))) for tree, score, count in pairs]

    def _with_functions(self, analyses: list[Analysis], read: FunctionReader | None) -> list[Analysis]:
        if read is None:
            return analyses
        from fencepost.parsing.functions import FunctionWriter  # here: most programs only need trees

        return FunctionWriter(self._vocabularies).write(analyses, read)


def in_order(parts: Iterable[tuple[list[int], list[Found]]]) -> list[Found]:
    """The results of all sentences of a chunk, in order, from those of its batches."""
    found: dict[int, Found] = {}
    for indices, results in parts:
        found.update(zip(indices, results, strict=True))
    return [found[index] for index in range(len(found))]
