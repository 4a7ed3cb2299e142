"""Whole batches of sentences as sub-tokens: what ``Subwords.read`` gives, by array operations.

Every distinct word has a number, and so has every distinct stretch of words without blanks between them. The sub-tokens
of all stretches lie end to end in one array, from which those of a batch are copied at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Final

import numpy as np
import numpy.typing as npt

from fencepost.features.batch import Ints
from fencepost.features.growing_array import GrowingArray
from fencepost.features.lists import firsts, ranges, with_ends
from fencepost.features.spacing import PLAIN_QUOTES, QUOTE, leans
from fencepost.features.subwords import (
    LETTERS_KEPT,
    STRETCHES_KEPT,
    WORDS_KEPT,
    Stretch,
    Subwords,
    SubwordSentence,
    joined_sentences,
)
from fencepost.trees.treebank import Sentence

Marks = npt.NDArray[np.bool_]
_UNUSUAL: Final = 0  # the number of all words that are too long to remember, or contain an added token such as [SEP]
_NO_STRETCH: Final = -1


class WordTable:
    """The number of each distinct word, and what its spaces and sub-tokens depend on."""

    def __init__(self, subwords: Subwords) -> None:
        self._subwords = subwords
        self._numbers: dict[str, int] = {}
        self.words: list[str] = [""]  # by number, with plain quotes
        self.leans_left, self.leans_right, self.is_quote = (GrowingArray(np.bool_, [False]) for _ in range(3))
        self.stretch = GrowingArray(np.int64, [_NO_STRETCH])  # the number of the stretch of this word alone

    def __len__(self) -> int:
        return len(self.words)

    def numbers(self, words: list[str]) -> Ints:
        try:
            return np.fromiter(map(self._numbers.__getitem__, words), np.int64, len(words))
        except KeyError:  # a word that has no number yet, or never gets one
            return np.fromiter(map(self._number, words), np.int64, len(words))

    def _number(self, word: str) -> int:
        number = self._numbers.get(word)
        return self._add(word) if number is None else number

    def _add(self, word: str) -> int:
        if len(word) > LETTERS_KEPT or not self._subwords.cuts_at_blanks((word,)):
            return _UNUSUAL
        number = self._numbers[word] = len(self)
        self.words.append(PLAIN_QUOTES.get(word, word))
        left, right = leans(word)
        self.leans_left.append([left])
        self.leans_right.append([right])
        self.is_quote.append([word == QUOTE])
        self.stretch.append([_NO_STRETCH])
        return number


class StretchTable:
    """The sub-tokens of each distinct stretch."""

    def __init__(self, subwords: Subwords) -> None:
        self._subwords = subwords
        self.numbers: dict[tuple[int, ...], int] = {}  # by the numbers of its words
        self.ids, self.chosen, self.counts = (GrowingArray(np.int64) for _ in range(3))
        # Where the parts of each stretch begin in these arrays; the next one begins where it ends.
        self.first_id, self.first_chosen, self.first_count = (GrowingArray(np.int64, [0]) for _ in range(3))
        self.starts_otherwise = GrowingArray(np.bool_)  # whether it is read in another way at the start of a sentence
        self.final_blank = self._add(subwords.final_blank, starts_otherwise=False)

    def add(self, words: tuple[str, ...]) -> int:
        stretch = self._subwords.read_stretch(words)
        otherwise = self._subwords.reads_blanks and self._subwords.read_first_stretch(words) != stretch
        return self._add(stretch, starts_otherwise=otherwise)

    def _add(self, stretch: Stretch, *, starts_otherwise: bool) -> int:
        number = len(self.first_id) - 1
        self.starts_otherwise.append([starts_otherwise])
        for values, array, first in (
            (stretch.ids, self.ids, self.first_id),
            (stretch.chosen, self.chosen, self.first_chosen),
            (stretch.counts, self.counts, self.first_count),
        ):
            array.append(values)
            first.append([len(array)])
        return number


class SubwordBatches:
    """Reads batches. Call it from one thread at a time."""

    def __init__(self, subwords: Subwords) -> None:
        self._subwords = subwords
        self._forget()

    def _forget(self) -> None:
        self._words = WordTable(self._subwords)
        self._stretches = StretchTable(self._subwords)

    def read(self, sentences: Sequence[Sentence]) -> SubwordSentence:
        """The sub-tokens of all sentences, end to end: rows count through the whole batch."""
        if max(len(self._words), len(self._stretches.first_id)) > STRETCHES_KEPT:
            self._forget()
        lengths = np.array([len(sentence.words) for sentence in sentences], np.int64)
        words = self._words.numbers(list(chain.from_iterable(sentence.words for sentence in sentences)))
        spaces = self._spaces(sentences, words, lengths)
        last_words = np.cumsum(lengths) - 1
        ends_with_blank = spaces[last_words]
        spaces[last_words] = True  # a stretch ends with its sentence
        lasts = np.flatnonzero(spaces)  # the last word of each stretch
        sizes = np.diff(lasts, prepend=-1)
        sentence_of_word = np.repeat(np.arange(len(sentences)), lengths)
        unusual = np.bincount(sentence_of_word[words == _UNUSUAL], minlength=len(sentences)) > 0
        unusual[sentence_of_word[lasts[sizes > WORDS_KEPT]]] = True
        known = ~unusual[sentence_of_word[lasts]]
        stretches = self._numbers(words, lasts[known], sizes[known])
        counts = np.bincount(sentence_of_word[lasts[known]], minlength=len(sentences))
        table = self._stretches
        own = counts > 0
        unusual[own] |= table.starts_otherwise.array[stretches[firsts(counts)[own]]]
        if self._subwords.final_blank.ids:
            blanks = ends_with_blank & ~unusual
            stretches = np.insert(stretches, np.cumsum(counts)[blanks], table.final_blank)
            counts = counts + blanks
        total = np.bincount(
            np.repeat(np.arange(len(sentences)), counts),
            table.first_id.array[stretches + 1] - table.first_id.array[stretches],
            minlength=len(sentences),
        )
        unusual |= total > self._subwords.room
        if not unusual.any():
            return self._assemble(lengths, stretches, counts)
        usual = ~unusual
        together = self._assemble(lengths[usual], stretches[np.repeat(usual, counts)], counts[usual])
        return _merged(sentences, unusual, together, lengths, self._subwords)

    def _spaces(self, sentences: Sequence[Sentence], words: Ints, lengths: Ints) -> Marks:
        """True for each word with a blank after it."""
        last_words = np.cumsum(lengths) - 1
        if all(sentence.spaces is not None for sentence in sentences):
            every = chain.from_iterable(sentence.spaces or () for sentence in sentences)
            spaces = np.fromiter(every, np.bool_, len(words))
        else:
            spaces = self._guessed_spaces(words, lengths)
            for sentence, last in zip(sentences, last_words.tolist(), strict=True):
                if sentence.spaces is not None:
                    spaces[last + 1 - len(sentence) : last + 1] = sentence.spaces
        return spaces

    def _guessed_spaces(self, words: Ints, lengths: Ints) -> Marks:
        """``guess_spaces`` for a batch."""
        spaces = np.ones(len(words), np.bool_)
        if self._subwords.language != "en":
            return spaces
        left, right = self._words.leans_left.array[words], self._words.leans_right.array[words]
        quotes = np.flatnonzero(self._words.is_quote.array[words])
        if len(quotes):
            sentence_of_quote = np.searchsorted(np.cumsum(lengths), quotes, side="right")
            closing = (np.arange(len(quotes)) - np.searchsorted(sentence_of_quote, sentence_of_quote)) % 2 == 1
            left[quotes], right[quotes] = closing, ~closing
        left[firsts(lengths)] = False
        spaces[np.flatnonzero(left) - 1] = False
        spaces[right] = False
        return spaces

    def _numbers(self, words: Ints, lasts: Ints, sizes: Ints) -> Ints:
        """The numbers of stretches, given the index of each one's last word and how many words it has."""
        table, alone = self._stretches, self._words.stretch
        last_words = words[lasts]
        for word in np.unique(last_words[(sizes == 1) & (alone.array[last_words] == _NO_STRETCH)]).tolist():
            alone.array[word] = table.add((self._words.words[word],))
        numbers: Ints = alone.array[last_words]
        joined = np.flatnonzero(sizes > 1)
        ends = (lasts[joined] + 1).tolist()
        every = words.tolist()
        keys = [tuple(every[end - size : end]) for end, size in zip(ends, sizes[joined].tolist(), strict=True)]
        for key in keys:
            if key not in table.numbers:
                table.numbers[key] = table.add(tuple([self._words.words[word] for word in key]))
        numbers[joined] = list(map(table.numbers.__getitem__, keys))
        return numbers

    def _assemble(self, lengths: Ints, stretches: Ints, counts: Ints) -> SubwordSentence:
        """The sub-tokens of sentences that are given by their lengths and by their stretches, ``counts`` for each."""
        table, prefix, suffix = self._stretches, self._subwords.prefix, self._subwords.suffix
        sentence_of_stretch = np.repeat(np.arange(len(lengths)), counts)

        def part(values: GrowingArray, first: GrowingArray) -> tuple[Ints, Ints]:
            sizes = first.array[stretches + 1] - first.array[stretches]
            return values.array[ranges(first.array[stretches], sizes)], sizes

        ids, id_sizes = part(table.ids, table.first_id)
        chosen, chosen_sizes = part(table.chosen, table.first_chosen)
        rows_of_word, _ = part(table.counts, table.first_count)
        ids_of_sentence = np.bincount(sentence_of_stretch, id_sizes, len(lengths)).astype(np.int64)
        windows = ids_of_sentence + len(prefix) + len(suffix)
        first = firsts(windows)
        # Where the parts of each stretch begin. Index -1 of a sentence's first stretch is the sentence's first row.
        begin = firsts(id_sizes) + (sentence_of_stretch + 1) * len(prefix) + sentence_of_stretch * len(suffix)
        rows = np.repeat(begin, chosen_sizes) + chosen
        sentence_of_row = np.repeat(sentence_of_stretch, chosen_sizes)
        rows = np.where(rows < first[sentence_of_row] + len(prefix), first[sentence_of_row], rows)
        rows_of_sentence = np.bincount(sentence_of_row, minlength=len(lengths))
        return SubwordSentence(
            with_ends(ids, ids_of_sentence, prefix, suffix),
            windows,
            with_ends(rows, rows_of_sentence, first[:, None], (first + windows - 1)[:, None]),
            with_ends(rows_of_word, lengths, [1], [1]),
        )


def _merged(
    sentences: Sequence[Sentence], unusual: Marks, together: SubwordSentence, lengths: Ints, subwords: Subwords
) -> SubwordSentence:
    """Adds the unusual sentences, which are read one by one, to the others."""
    others = iter(_apart(together, lengths[~unusual]))
    marked = zip(sentences, unusual.tolist(), strict=True)
    return joined_sentences([subwords.read(sentence) if alone else next(others) for sentence, alone in marked])


def _apart(together: SubwordSentence, lengths: Ints) -> list[SubwordSentence]:
    """The sentences of a batch, which have one window each, one by one."""
    if not len(lengths):
        return []
    windows = together.window_lengths
    row_bounds = np.concatenate([[0], np.cumsum(together.rows_of_token)])[np.cumsum(lengths[:-1] + 2)]
    ids = np.split(together.ids, np.cumsum(windows[:-1]))
    rows = np.split(together.rows, row_bounds)
    counts = np.split(together.rows_of_token, np.cumsum(lengths[:-1] + 2))
    columns = zip(ids, np.split(windows, len(windows)), rows, firsts(windows), counts, strict=True)
    return [SubwordSentence(own, window, row - first, count) for own, window, row, first, count in columns]
