"""Development F1 computed from arrays: evalb's counts without building trees, fast enough for every check.

Both sides have the gold tags, so evalb would delete the same words on both. All that remains to do is to intersect two
multisets of (label, span) over the words that are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fencepost.backends.base import Backend, Parsed
from fencepost.chart.cky import Decoded
from fencepost.evaluation.brackets import Brackets
from fencepost.evaluation.evalb import LabelNames
from fencepost.evaluation.functions import FunctionCounts, marked_phrases
from fencepost.evaluation.params import ScoreParams
from fencepost.features.batch import Ints
from fencepost.features.batching import pieces
from fencepost.features.constituents import Constituents
from fencepost.features.indexer import Indexer
from fencepost.features.vocabularies import Vocabularies
from fencepost.trees.functions import without_functions
from fencepost.trees.spans import Chain, Span, phrases, spans_of
from fencepost.trees.tree import Tree
from fencepost.trees.treebank import Sentence


@dataclass(frozen=True)
class DevScore(Brackets):
    """The score of the brackets, and that of the functions if the model predicts them."""

    functions: Brackets | None = None


class DevScorer:
    """Scores the decoded trees of one treebank's sentences, check after check."""

    def __init__(self, trees: Sequence[Tree], vocabularies: Vocabularies, params: ScoreParams) -> None:
        self._names = LabelNames(params)
        self._numbers: dict[str, int] = {}  # of the labels that scoring compares
        lengths = np.array([len(tree.leaves()) for tree in trees], np.int64)
        deleted = np.array([leaf.tag in params.deleted for tree in trees for leaf in tree.leaves()], bool)
        kept = np.concatenate([[0], np.cumsum(~deleted)])
        self._first_word = np.cumsum(lengths) - lengths
        self._kept = kept  # [words + 1] words kept before each fencepost of the whole treebank
        self._sentences = np.arange(len(trees))
        self._posts = len(kept)
        self._roots = self._columns([[Span(0, int(length), (vocabularies.root,))] for length in lengths])
        chains = [self._expand(chain) for chain in vocabularies.labels.chains]
        self._chain_sizes = np.array([len(chain) for chain in chains], np.int64)
        self._chain_starts = np.cumsum(self._chain_sizes) - self._chain_sizes
        self._chain_labels = np.concatenate(chains)
        gold = self._columns([spans_of(tree) for tree in trees])
        self._gold = np.unique(self._keys(*gold), return_counts=True)

    def score(self, decoded: Sequence[Decoded]) -> Brackets:
        """Counts for the best trees of all sentences, in order."""
        sentences = np.repeat(self._sentences, [len(tree.starts) for tree in decoded])
        starts = np.concatenate([tree.starts for tree in decoded])
        ends = np.concatenate([tree.ends for tree in decoded])
        labels = np.concatenate([tree.labels for tree in decoded])
        sizes = self._chain_sizes[labels]
        within = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        single = self._chain_labels[np.repeat(self._chain_starts[labels], sizes) + within]
        columns = (np.repeat(sentences, sizes), np.repeat(starts, sizes), np.repeat(ends, sizes), single)
        with_roots = [np.concatenate(pair) for pair in zip(columns, self._roots, strict=True)]
        keys, counts = np.unique(self._keys(*with_roots), return_counts=True)
        gold_keys, gold_counts = self._gold
        _, mine, theirs = np.intersect1d(keys, gold_keys, assume_unique=True, return_indices=True)
        matched = int(np.minimum(counts[mine], gold_counts[theirs]).sum())
        return Brackets(matched, int(gold_counts.sum()), int(counts.sum()))

    def _expand(self, chain: Chain) -> Ints:
        """The numbers of a chain's labels that scoring keeps."""
        kept = [label for label in map(self._names.__getitem__, chain) if label is not None]
        return np.array([self._numbers.setdefault(label, len(self._numbers)) for label in kept], np.int64)

    def _columns(self, trees: Sequence[Sequence[Span]]) -> tuple[Ints, Ints, Ints, Ints]:
        rows = [
            (sentence, span.start, span.end, label)
            for sentence, spans in enumerate(trees)
            for span in spans
            for label in self._expand(span.label).tolist()
        ]
        table = np.array(rows, np.int64).reshape(-1, 4)
        return table[:, 0], table[:, 1], table[:, 2], table[:, 3]

    def _keys(self, sentences: Ints, starts: Ints, ends: Ints, labels: Ints) -> Ints:
        """One number for each bracket that still contains a word."""
        first = self._first_word[sentences]
        low, high = self._kept[first + starts], self._kept[first + ends]
        full = low < high
        return np.asarray((labels[full] * self._posts + low[full]) * self._posts + high[full], np.int64)


class DevSet:
    """The development treebank, indexed once."""

    def __init__(self, trees: Sequence[Tree], indexer: Indexer, params: ScoreParams) -> None:
        self._sentences = indexer.index([Sentence.of(tree) for tree in trees])
        self._vocabularies = indexer.vocabularies
        self._marked = None
        if indexer.vocabularies.functions is not None:
            self._marked = [marked_phrases(tree) for tree in trees]
            trees = [without_functions(tree) for tree in trees]
        self._scorer = DevScorer(trees, indexer.vocabularies, params)

    def __len__(self) -> int:
        return len(self._sentences)

    def score(self, backend: Backend) -> DevScore:
        """Parses all sentences and scores the trees, which are never built."""
        trees: dict[int, Decoded] = {}
        counts = FunctionCounts()
        waiting = []
        for indices in pieces(self._sentences.lengths.tolist(), backend.batch_tokens):
            batch = self._sentences.batch(indices)
            waiting.append((indices, backend.launch(batch, functions=self._marked is not None)))
        for indices, finish in waiting:
            parsed = finish()
            trees.update(zip(indices, parsed.trees, strict=True))
            self._count_functions(counts, indices, parsed)
        score = self._scorer.score([trees[index] for index in range(len(self))])
        functions = None if self._marked is None else counts.total()
        return DevScore(score.matched, score.gold, score.predicted, functions)

    def _count_functions(self, counts: FunctionCounts, indices: Sequence[int], parsed: Parsed) -> None:
        vocabularies = self._vocabularies
        if self._marked is None or vocabularies.functions is None or parsed.functions is None:
            return
        spans = [self._spans(tree) for tree in parsed.trees]
        names = [None, *vocabularies.functions.symbols]
        best = parsed.functions(Constituents.of(spans, vocabularies.labels)).argmax(axis=1).tolist()
        functions = iter([names[number] for number in best])
        for index, own in zip(indices, spans, strict=True):
            counts.add(self._marked[index], [(phrase, next(functions)) for phrase in phrases(own)])

    def _spans(self, tree: Decoded) -> list[Span]:
        chains = self._vocabularies.labels.chains
        columns = zip(tree.starts.tolist(), tree.ends.tolist(), tree.labels.tolist(), strict=True)
        return [Span(start, end, chains[label]) for start, end, label in columns]
