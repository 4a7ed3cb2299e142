"""The best trees of a batch as arrays. They become bracket text by array operations, and ``Tree`` objects on demand.

The text of a batch is a row of pieces that are joined at once: for each word the brackets that open before it, its tag,
the word itself, and the brackets that close after it.

    (TOP| (S| (NP| (DT |The|)| (NN |cat|))| (VP| (VBD |sat|))))
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import chain
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from fencepost.backends.base import Parsed
from fencepost.chart.cky import Decoded, DecodedTrees
from fencepost.features.batch import Ints
from fencepost.features.possible_tags import TagCorrector
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
        self.label_names = tuple(vocabularies.labels.symbols)
        self.first_labels = np.cumsum(self.depths) - self.depths  # of each chain, in ``chain_labels``
        self.chain_labels = np.array(
            [vocabularies.labels.symbols[label] - 1 for chain in self.chains for label in chain], np.int64
        )
        self.tag_names = (*[UNTAGGED] * self.tags.reserved, *self.tags.symbols)
        self.tag_openings = _tag_openings(self.tag_names)
        possible = vocabularies.possible_tags
        self.corrector = None if possible is None else TagCorrector(possible, vocabularies.tags)


class TagTable:
    """The names of a model's tags, and after them those of others that were given with sentences."""

    def __init__(self, notation: Notation) -> None:
        self.names = list(notation.tag_names)
        self._numbers = dict(notation.tags.ids)

    def number(self, tag: str) -> int:
        if tag not in self._numbers:
            self._numbers[tag] = len(self.names)
            self.names.append(tag)
        return self._numbers[tag]


class TaggedBatch:
    """Some sentences and the tags of their words: the given ones or, without them, those that a model predicts."""

    def __init__(self, sentences: Sequence[Sentence], predicted: Ints | None, notation: Notation) -> None:
        self.sentences = sentences
        self.notation = notation
        self.has_given_tags = any(sentence.tags is not None for sentence in sentences)
        for extreme in () if predicted is None else (predicted.min(), predicted.max()):
            notation.tags.symbol(int(extreme))  # raises an error if the model and its vocabularies don't match
        self._predicted = predicted  # [W]

    def __len__(self) -> int:
        return len(self.sentences)

    def tags(self, number: int) -> list[str]:
        """The tags of one sentence."""
        given = self.sentences[number].tags
        if given is not None:
            return list(given)
        first = int(self.first_words[number])
        numbers = self._found_tags[first : first + int(self.lengths[number])]
        return list(map(self.notation.tag_names.__getitem__, numbers.tolist()))

    def tag_numbers(self, table: TagTable) -> Ints:
        """The tag of each word, as its index in ``table.names``. [W]"""
        if not self.has_given_tags:
            return self._found_tags
        numbers: Ints = self._found_tags.copy()
        for sentence, first in zip(self.sentences, self.first_words.tolist(), strict=True):
            if sentence.tags is not None:
                numbers[first : first + len(sentence)] = list(map(table.number, sentence.tags))
        return numbers

    def leaves(self, number: int) -> list[Leaf]:
        return unchecked_leaves(self.tags(number), self.sentences[number].words)

    def nest(self, leaves: list[Leaf], tree: Decoded) -> Tree:
        """The tree over the leaves of a sentence."""
        chains = [self.notation.chains[label] for label in tree.labels.tolist()]
        return nest(leaves, tree.starts.tolist(), tree.ends.tolist(), chains, self.notation.root)

    @cached_property
    def lengths(self) -> Ints:
        """The number of words in each sentence. [B]"""
        return np.array([len(sentence.words) for sentence in self.sentences], np.int64)

    @cached_property
    def first_words(self) -> Ints:
        """The index of each sentence's first word among all words. [B]"""
        return np.asarray(np.cumsum(self.lengths) - self.lengths)

    @property
    def words(self) -> list[str]:
        """The words of all sentences."""
        return list(chain.from_iterable(sentence.words for sentence in self.sentences))

    @cached_property
    def _found_tags(self) -> Ints:
        """The predicted tag of each word, or one that is possible in its place. [W]"""
        if self._predicted is None:
            return np.zeros(self.lengths.sum(), np.int64)
        corrector = self.notation.corrector
        return self._predicted if corrector is None else corrector.correct(self.words, self._predicted)


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
        return self.write_brackets()

    def write_brackets(self) -> list[str]:
        if not len(self):
            return []
        # The index of each piece in the row: a root and a word have pieces of their own, a word three of them.
        trees, notation = self.trees, self.notation
        sentences = np.arange(len(self))
        sentence_of_span = np.repeat(sentences, np.diff(trees.bounds))
        first_word = self.first_words[sentence_of_span] + trees.starts
        last_word = self.first_words[sentence_of_span] + trees.ends - 1
        count = int(self.lengths.sum())
        opened = np.cumsum(np.bincount(first_word, minlength=count))  # spans that open up to each word
        leaves = 3 * np.arange(count) + opened + np.repeat(sentences, self.lengths) + 1
        closing = np.bincount(last_word, notation.depths[trees.labels], minlength=count).astype(np.int64)
        last_words = self.first_words + self.lengths - 1
        closers = _closers(int(closing.max()) + 1)
        pieces = np.empty(len(first_word) + 3 * count + len(self), object)
        pieces[trees.bounds[:-1] + 3 * self.first_words + sentences] = f"({notation.root}"
        pieces[np.arange(len(first_word)) + 3 * first_word + sentence_of_span + 1] = notation.openings[trees.labels]
        pieces[leaves] = self._tag_openings
        pieces[leaves + 1] = _escaped(self.words)
        pieces[leaves + 2] = closers[closing]
        pieces[leaves[last_words] + 2] = closers[closing[last_words] + 1] + "\n"
        return "".join(pieces.tolist()).split("\n")[:-1]

    @property
    def _tag_openings(self) -> Texts:
        table = TagTable(self.notation)
        numbers = self.tag_numbers(table)
        return (_tag_openings(table.names) if self.has_given_tags else self.notation.tag_openings)[numbers]

    def constituents(self) -> Spans:
        """The constituents of all sentences: one for each label of each span."""
        sizes = self.notation.depths[self.trees.labels]
        within = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        labels = self.notation.chain_labels[np.repeat(self.notation.first_labels[self.trees.labels], sizes) + within]
        bounds = np.concatenate([[0], np.cumsum(sizes)])[self.trees.bounds]
        return Spans(np.diff(bounds), np.repeat(self.trees.starts, sizes), np.repeat(self.trees.ends, sizes), labels)


class Spans(NamedTuple):
    """Constituents of several sentences, those of each outer before inner."""

    counts: Ints  # [B] constituents of each sentence
    starts: Ints  # [C]
    ends: Ints  # [C]
    labels: Ints  # [C] indices into ``Notation.label_names``


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
        return self._batch.tags(self._number)


def _tag_openings(names: Iterable[str]) -> Texts:
    return _texts(f" ({name} " for name in names)


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
