"""Parses a chunk of checked sentences: batches, scores, then trees in the order of the chunk."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Final, TypeAlias

from fencepost.backends.base import Backend, FunctionReader, Parsed
from fencepost.features.batch import Ints
from fencepost.features.batching import pieces
from fencepost.features.indexer import Indexer
from fencepost.features.possible_tags import TagCorrector
from fencepost.features.vocabularies import Vocabularies
from fencepost.trees.garbage_collection import no_garbage_collection
from fencepost.trees.spans import nest
from fencepost.trees.tree import Leaf, Tree, unchecked_leaves
from fencepost.trees.treebank import Sentence

if TYPE_CHECKING:
    from fencepost.chart.cky import Decoded
    from fencepost.parsing.confidence import Analysis, Analyst

ScoredPair: TypeAlias = tuple[Tree, float]
UNTAGGED: Final = "UNK"  # the tag of words without one


class ChunkParser:
    """Parses sentences that ``checking`` has checked. ``budget`` is the number of tokens in a batch."""

    def __init__(self, backend: Backend, indexer: Indexer, vocabularies: Vocabularies) -> None:
        self._backend = backend
        self._indexer = indexer
        self._vocabularies = vocabularies
        possible = vocabularies.possible_tags
        self._corrector = None if possible is None else TagCorrector(possible, vocabularies.tags)

    def parse(self, sentences: list[Sentence], budget: int) -> list[ScoredPair]:
        """The best tree of each sentence and its score."""
        with no_garbage_collection():
            return self._parse(sentences, budget)

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
            leaves = self._leaves_of_batch(batch, scored.tags)
            found = [
                analyst.analyze(scored.spans, row, partial(self._tree, leaves[row])) for row in range(len(indices))
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
        leaves = self._leaves_of_batch([sentences[index] for index in indices], parsed.tags)
        for words, decoded in zip(leaves, parsed.trees, strict=True):
            yield self._tree(words, decoded), decoded.score

    def _with_functions(self, analyses: list[Analysis], read: FunctionReader | None) -> list[Analysis]:
        if read is None:
            return analyses
        from fencepost.parsing.functions import FunctionWriter  # here: most programs only need trees

        return FunctionWriter(self._vocabularies).write(analyses, read)

    def _leaves_of_batch(self, sentences: list[Sentence], tags: Ints | None) -> list[list[Leaf]]:
        if tags is not None and self._corrector is not None:
            words = list(chain.from_iterable(sentence.words for sentence in sentences))
            tags = self._corrector.correct(words, tags)
        tag_ids = [] if tags is None else tags.tolist()
        ends = accumulate(map(len, sentences))
        return [self._leaves(one, tag_ids[end - len(one) : end]) for one, end in zip(sentences, ends, strict=True)]

    def _leaves(self, sentence: Sentence, predicted: list[int]) -> list[Leaf]:
        tags: Sequence[str] = [UNTAGGED] * len(sentence)
        if sentence.tags is not None:
            tags = sentence.tags
        elif predicted:
            tags = list(map(self._vocabularies.tags.symbol, predicted))
        return unchecked_leaves(tags, sentence.words)

    def _tree(self, leaves: list[Leaf], decoded: Decoded) -> Tree:
        chains = self._vocabularies.labels.chains
        labels = [chains[label] for label in decoded.labels.tolist()]
        return nest(leaves, decoded.starts.tolist(), decoded.ends.tolist(), labels, self._vocabularies.root)
