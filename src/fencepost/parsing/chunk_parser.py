"""Parses a chunk of checked sentences: batches, scores, then trees in the order of the chunk."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from fencepost.backends.base import Backend, FunctionReader, Parsed
from fencepost.features.batching import pieces
from fencepost.features.indexer import Indexer
from fencepost.features.vocabularies import Vocabularies
from fencepost.parsing.parsed_batch import Notation, ParsedBatch, TaggedBatch
from fencepost.trees.garbage_collection import no_garbage_collection
from fencepost.trees.tree import Tree
from fencepost.trees.treebank import Sentence

if TYPE_CHECKING:
    from fencepost.parsing.columns import ParsedColumns
    from fencepost.parsing.confidence import Analysis, Analyst

ScoredPair: TypeAlias = tuple[Tree, float]


class ChunkParser:
    """Parses sentences that ``checking`` has checked. ``budget`` is the number of tokens in a batch."""

    def __init__(self, backend: Backend, indexer: Indexer, vocabularies: Vocabularies) -> None:
        self._backend = backend
        self._indexer = indexer
        self._vocabularies = vocabularies
        self._notation = Notation(vocabularies)

    def parse(self, sentences: list[Sentence], budget: int) -> list[ScoredPair]:
        """The best tree of each sentence and its score."""
        with no_garbage_collection():
            return self._parse(sentences, budget)

    def columns(self, sentences: list[Sentence], budget: int) -> ParsedColumns:
        """The best trees of at least one sentence as columns, without any ``Tree``."""
        from fencepost.parsing.columns import ParsedColumns  # here: most programs only need trees

        return ParsedColumns.of(
            [
                (indices, ParsedBatch([sentences[index] for index in indices], parsed, self._notation))
                for indices, parsed in self._batches(sentences, budget)
            ]
        )

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

    def _parse(self, sentences: list[Sentence], budget: int) -> list[ScoredPair]:
        trees: dict[int, ScoredPair] = {}
        for indices, parsed in self._batches(sentences, budget):
            trees.update(zip(indices, self._trees(sentences, indices, parsed), strict=True))
        return [trees[index] for index in range(len(sentences))]

    def _analyze_best(
        self, sentences: list[Sentence], budget: int, analysis_of: Callable[[Tree, float], Analysis], functions: bool
    ) -> list[Analysis]:
        """``analysis_of`` makes an analysis of the best tree and its score."""
        analyses: dict[int, Analysis] = {}
        for indices, parsed in self._batches(sentences, budget, functions):
            found = [analysis_of(*pair) for pair in self._trees(sentences, indices, parsed)]
            analyses.update(zip(indices, self._with_functions(found, parsed.functions), strict=True))
        return [analyses[index] for index in range(len(sentences))]

    def _batches(
        self, sentences: list[Sentence], budget: int, functions: bool = False
    ) -> Iterator[tuple[list[int], Parsed]]:
        """The indices of the sentences of each batch, and what the backend finds."""
        waiting: tuple[list[int], Callable[[], Parsed]] | None = None
        for indices in pieces([len(sentence) for sentence in sentences], budget):
            batch = self._indexer.batch([sentences[index] for index in indices])
            finish = self._backend.launch(batch, functions=functions)
            # The device works on this batch while the host builds the trees of the previous one.
            if waiting is not None:
                yield waiting[0], waiting[1]()
            waiting = indices, finish
        if waiting is not None:
            yield waiting[0], waiting[1]()

    def _trees(self, sentences: list[Sentence], indices: list[int], parsed: Parsed) -> Iterator[ScoredPair]:
        batch = ParsedBatch([sentences[index] for index in indices], parsed, self._notation)
        return zip(batch.lazy_trees(), batch.trees.scores.tolist(), strict=True)

    def _with_functions(self, analyses: list[Analysis], read: FunctionReader | None) -> list[Analysis]:
        if read is None:
            return analyses
        from fencepost.parsing.functions import FunctionWriter  # here: most programs only need trees

        return FunctionWriter(self._vocabularies).write(analyses, read)
