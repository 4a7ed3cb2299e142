"""Parses a chunk of checked sentences: batches, scores, then trees in the order of the chunk."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Final, TypeAlias

from fencepost.backends.base import Backend, Parsed
from fencepost.features.batch import Ints
from fencepost.features.batching import pieces
from fencepost.features.indexer import Indexer
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

    def parse(self, sentences: list[Sentence], budget: int) -> list[ScoredPair]:
        """The best tree of each sentence and its score."""
        with no_garbage_collection():
            return self._parse(sentences, budget)

    def analyze(self, sentences: list[Sentence], analyst: Analyst, budget: int) -> list[Analysis]:
        """The analyst's result for each sentence."""
        analyses: dict[int, Analysis] = {}
        too_long = [index for index, each in enumerate(sentences) if not analyst.can_analyze(len(each))]
        best = self._parse([sentences[index] for index in too_long], budget)
        analyses |= {index: analyst.best_alone(*pair) for index, pair in zip(too_long, best, strict=True)}
        others = [index for index in range(len(sentences)) if index not in analyses]
        for group in pieces([len(sentences[index]) for index in others], budget):
            indices = [others[number] for number in group]
            batch = [sentences[index] for index in indices]
            scored = self._backend.score(self._indexer.batch(batch))
            leaves = self._leaves_of_batch(batch, scored.tags)
            for row, index in enumerate(indices):
                analyses[index] = analyst.analyze(scored.spans, row, partial(self._tree, leaves[row]))
        return [analyses[index] for index in range(len(sentences))]

    def _parse(self, sentences: list[Sentence], budget: int) -> list[ScoredPair]:
        trees: dict[int, ScoredPair] = {}
        waiting: tuple[list[int], Callable[[], Parsed]] | None = None
        for indices in pieces([len(sentence) for sentence in sentences], budget):
            finish = self._backend.launch(self._indexer.batch([sentences[index] for index in indices]))
            # The device works on this batch while the host builds the trees of the previous one.
            if waiting is not None:
                trees.update(self._trees(sentences, *waiting))
            waiting = indices, finish
        if waiting is not None:
            trees.update(self._trees(sentences, *waiting))
        return [trees[index] for index in range(len(sentences))]

    def _trees(
        self, sentences: list[Sentence], indices: list[int], finish: Callable[[], Parsed]
    ) -> Iterator[tuple[int, ScoredPair]]:
        parsed = finish()
        leaves = self._leaves_of_batch([sentences[index] for index in indices], parsed.tags)
        for index, words, decoded in zip(indices, leaves, parsed.trees, strict=True):
            yield index, (self._tree(words, decoded), decoded.score)

    def _leaves_of_batch(self, sentences: list[Sentence], tags: Ints | None) -> list[list[Leaf]]:
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
