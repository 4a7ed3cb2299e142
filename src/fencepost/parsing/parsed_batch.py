"""The best trees of a batch as arrays. They become bracket text by array operations, and ``Tree`` objects on demand.

The text of a batch is a row of pieces that are joined at once: for each word the brackets that open before it, its tag,
the word itself, and the brackets that close after it.

    (TOP| (S| (NP| (DT |The|)| (NN |cat|))| (VP| (VBD |sat|))))
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import chain
from typing import Final

import numpy as np
import numpy.typing as npt

from fencepost.backends.base import Parsed
from fencepost.chart.cky import Decoded, DecodedTrees
from fencepost.features.batch import Ints
from fencepost.features.vocabularies import Vocabularies
from fencepost.trees.spans import nest
from fencepost.trees.tree import BRACKET_ESCAPES, Leaf, Tree, unbuilt_tree, unchecked_leaves
from fencepost.trees.treebank import Sentence

UNTAGGED: Final = "UNK"  # the tag of words without one
Texts = npt.NDArray[np.object_]


class Notation:
    """How a model's labels and tags are written."""

    def __init__(self, vocabularies: Vocabularies) -> None:
        self.chains = vocabularies.labels.chains
        self.tags = vocabularies.tags
        self.root = vocabularies.root
        self.openings = _texts("".join(f" ({label}" for label in chain) for chain in self.chains)
        self.depths = np.array([len(chain) for chain in self.chains], np.int64)
        reserved = [UNTAGGED] * self.tags.reserved  # ``ParsedBatch`` never looks them up
        self.tag_openings = _texts(f" ({tag} " for tag in (*reserved, *self.tags.symbols))


class TaggedBatch:
    """Some sentences and the tags of their words: the given ones or, without them, those that a model predicts."""

    def __init__(self, sentences: Sequence[Sentence], predicted: Ints | None, notation: Notation) -> None:
        self.sentences = sentences
        self._predicted = predicted  # [W]
        self._notation = notation
        for extreme in () if predicted is None else (predicted.min(), predicted.max()):
            notation.tags.symbol(int(extreme))  # raises an error if the model and its vocabularies don't match

    def __len__(self) -> int:
        return len(self.sentences)

    def tags(self, number: int) -> Sequence[str]:
        """The tags of one sentence."""
        sentence = self.sentences[number]
        if sentence.tags is not None:
            return sentence.tags
        if self._predicted is None:
            return [UNTAGGED] * len(sentence)
        first = int(self._first_words[number])
        return list(map(self._notation.tags.symbol, self._predicted[first : first + len(sentence)].tolist()))

    def leaves(self, number: int) -> list[Leaf]:
        return unchecked_leaves(self.tags(number), self.sentences[number].words)

    def nest(self, leaves: list[Leaf], tree: Decoded) -> Tree:
        """The tree over the leaves of a sentence."""
        chains = [self._notation.chains[label] for label in tree.labels.tolist()]
        return nest(leaves, tree.starts.tolist(), tree.ends.tolist(), chains, self._notation.root)

    @cached_property
    def _lengths(self) -> Ints:
        return np.array([len(sentence.words) for sentence in self.sentences], np.int64)

    @cached_property
    def _first_words(self) -> Ints:
        return np.asarray(np.cumsum(self._lengths) - self._lengths)


class ParsedBatch(TaggedBatch):
    """The best trees of some sentences."""

    def __init__(self, sentences: Sequence[Sentence], parsed: Parsed, notation: Notation) -> None:
        super().__init__(sentences, parsed.tags, notation)
        self.trees = DecodedTrees.of(parsed.trees)

    def lazy_trees(self) -> list[Tree]:
        """A tree for each sentence, which is built when something looks into it."""
        return [unbuilt_tree(_Row(self, number)) for number in range(len(self))]

    @cached_property
    def brackets(self) -> list[str]:
        """Each tree as one line of Penn brackets."""
        if not len(self):
            return []
        # The index of each piece in the row: a root and a word have pieces of their own, a word three of them.
        trees, notation = self.trees, self._notation
        sentences = np.arange(len(self))
        sentence_of_span = np.repeat(sentences, np.diff(trees.bounds))
        first_word = self._first_words[sentence_of_span] + trees.starts
        last_word = self._first_words[sentence_of_span] + trees.ends - 1
        count = int(self._lengths.sum())
        opened = np.cumsum(np.bincount(first_word, minlength=count))  # spans that open up to each word
        leaves = 3 * np.arange(count) + opened + np.repeat(sentences, self._lengths) + 1
        closing = np.bincount(last_word, notation.depths[trees.labels], minlength=count).astype(np.int64)
        last_words = self._first_words + self._lengths - 1
        closers = _closers(int(closing.max()) + 1)
        pieces = np.empty(len(first_word) + 3 * count + len(self), object)
        pieces[trees.bounds[:-1] + 3 * self._first_words + sentences] = f"({notation.root}"
        pieces[np.arange(len(first_word)) + 3 * first_word + sentence_of_span + 1] = notation.openings[trees.labels]
        pieces[leaves] = self._tag_openings
        pieces[leaves + 1] = _escaped(list(chain.from_iterable(each.words for each in self.sentences)))
        pieces[leaves + 2] = closers[closing]
        pieces[leaves[last_words] + 2] = closers[closing[last_words] + 1] + "\n"
        return "".join(pieces.tolist()).split("\n")[:-1]

    @property
    def _tag_openings(self) -> Texts:
        if self._predicted is not None and all(sentence.tags is None for sentence in self.sentences):
            return self._notation.tag_openings[self._predicted]
        return _texts(f" ({tag} " for number in range(len(self)) for tag in self.tags(number))


class _Row:
    """The source of a tree: one sentence of a batch."""

    __slots__ = ("_batch", "_number")

    def __init__(self, batch: ParsedBatch, number: int) -> None:
        self._batch, self._number = batch, number

    def build(self) -> Tree:
        batch, number = self._batch, self._number
        return batch.nest(batch.leaves(number), batch.trees[number])

    def text(self) -> str:
        return self._batch.brackets[self._number]

    def words(self) -> list[str]:
        return list(self._batch.sentences[self._number].words)

    def tags(self) -> list[str]:
        return list(self._batch.tags(self._number))


def _closers(depth: int) -> Texts:
    """The brackets that close after a word and 0, 1, … spans."""
    return _texts(")" * (spans + 1) for spans in range(depth + 1))


def _escaped(words: list[str]) -> list[str]:
    """Words as treebanks write them. Brackets are rare: the words are cut apart again only if there are any."""
    text = "\n".join(words)  # no word contains a line end
    if not any(bracket in text for bracket in BRACKET_ESCAPES.values()):
        return words
    for escaped, bracket in BRACKET_ESCAPES.items():
        text = text.replace(bracket, escaped)
    return text.split("\n")


def _texts(texts: Iterable[str]) -> Texts:
    found = list(texts)
    array = np.empty(len(found), object)
    array[:] = found
    return array
