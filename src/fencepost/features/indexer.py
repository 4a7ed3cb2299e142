"""Sentences into numbers: the arrays that a model's lexical representations read (§2.2, §5.1)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, repeat
from threading import Lock
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from fencepost.config.settings import Config
from fencepost.features.batch import Batch, Ints
from fencepost.features.lexical_kinds import reads
from fencepost.features.lists import with_ends
from fencepost.features.spacing import PLAIN_QUOTES
from fencepost.features.subword_batches import SubwordBatches
from fencepost.features.subwords import Subwords, SubwordSentence, joined_sentences
from fencepost.features.vectors import VectorFiles
from fencepost.features.vocab import Vocab
from fencepost.features.vocabularies import (
    PADDING,
    SENTENCE_START,
    SENTENCE_STOP,
    START,
    STOP,
    UNKNOWN,
    UNKNOWN_LETTER,
    WORD_START,
    WORD_STOP,
    Vocabularies,
)
from fencepost.trees.treebank import Sentence

LETTERS_KEPT: Final = 32  # at each end of a word: a longer word loses its middle
_ROW: Final = 2 * LETTERS_KEPT + 2
_REMEMBERED: Final = ("_table", "_subword_batches", "_lock")  # what a copy in another process begins without
_SPELLINGS_KEPT: Final = 50_000  # distinct words before the table is emptied: memory stays bounded


class IndexedSentence(NamedTuple):
    """One sentence, start and stop included. Fields that the model does not read are ``None``."""

    length: int  # words
    words: Ints | None
    tags: Ints | None
    letters: npt.NDArray[np.int32] | None  # row of the indexer's spelling table for each token
    subwords: SubwordSentence | None
    vectors: str | None  # the name of its vectors in their file
    treebank: int | None


class SpellingTable:
    """The letters of each distinct word seen so far, one row per word; rows 0 and 1 are the start and stop tokens."""

    def __init__(self, vocabularies: Vocabularies) -> None:
        self._ids = vocabularies.letters.ids
        self._rows = np.zeros((1024, _ROW), np.int16 if len(vocabularies.letters) < 2**15 else np.int32)
        self._lengths: Ints = np.zeros(1024, np.int64)
        self._row_of: dict[str, int] = {}
        self._used = 0
        # Start and stop are spelled like words, with a mark three times in place of letters.
        for mark in (SENTENCE_START, SENTENCE_STOP):
            self._append([WORD_START, mark, mark, mark, WORD_STOP])

    def rows(self, words: Sequence[str]) -> list[int]:
        try:
            return list(map(self._row_of.__getitem__, words))
        except KeyError:  # a word that has no row yet
            return list(map(self._row, words))

    def _row(self, word: str) -> int:
        row = self._row_of.get(word)
        if row is None:
            letters = word if len(word) <= 2 * LETTERS_KEPT else word[:LETTERS_KEPT] + word[-LETTERS_KEPT:]
            ids = [self._ids.get(letter, UNKNOWN_LETTER) for letter in letters]
            row = self._row_of[word] = self._append([WORD_START, *ids, WORD_STOP])
        return row

    def _append(self, letters: list[int]) -> int:
        row = self._used
        if row == len(self._lengths):
            self._rows = np.concatenate([self._rows, np.zeros_like(self._rows)])
            self._lengths = np.concatenate([self._lengths, np.zeros_like(self._lengths)])
        self._rows[row, : len(letters)] = letters
        self._lengths[row] = len(letters)
        self._used += 1
        return row

    def __len__(self) -> int:
        return self._used

    def spellings(self, rows: npt.NDArray[np.integer[Any]]) -> tuple[Ints, Ints, Ints]:
        """The letters [U, C] and lengths [U] of the distinct rows, and the index of each row among these U."""
        seen = np.zeros(self._used, np.bool_)  # not np.unique, which sorts
        seen[rows] = True
        distinct = np.flatnonzero(seen)
        index = np.cumsum(seen) - 1
        lengths = self._lengths[distinct]
        longest = int(lengths.max(initial=PADDING + 1))
        return self._rows[distinct, :longest].astype(np.int64), lengths, index[rows]


class Indexer:
    """Turns sentences into batches for one model."""

    def __init__(self, config: Config, vocabularies: Vocabularies) -> None:
        self.vocabularies = vocabularies
        self.plain_quotes = config.plain_quotes
        self.reads_words = reads(config, "words")
        self.reads_tags = reads(config, "tags")
        self.reads_letters = reads(config, "letters")
        files = vocabularies.pretrained
        self._subwords = None if files is None else Subwords(config, files)
        self._subword_batches = None if self._subwords is None else SubwordBatches(self._subwords)
        vectors = config.vectors
        self._vectors = VectorFiles(vectors.path, vectors.size) if reads(config, "vectors") else None
        self.reads_treebanks = reads(config, "treebanks")
        self._table = SpellingTable(vocabularies)
        self._lock = Lock()

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in self.__dict__.items() if name not in _REMEMBERED}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self._subword_batches = None if self._subwords is None else SubwordBatches(self._subwords)
        self._table = SpellingTable(self.vocabularies)
        self._lock = Lock()

    def batch(self, sentences: Sequence[Sentence]) -> Batch:
        """One batch straight from sentences; safe to call from threads, and its memory stays bounded."""
        with self._lock:
            if len(self._table) > _SPELLINGS_KEPT:
                self._table = SpellingTable(self.vocabularies)
            return self._batch(sentences)

    def _batch(self, sentences: Sequence[Sentence]) -> Batch:
        """``collate`` after ``index``, by operations on whole columns."""
        lengths = np.array([len(sentence.words) for sentence in sentences], np.int64)
        forms = list(chain.from_iterable(sentence.words for sentence in sentences))
        if self.plain_quotes:
            forms = [PLAIN_QUOTES.get(word, word) for word in forms]
        words = tags = spellings = spelling_lengths = spelling_of_token = vectors = None
        if self.reads_words:
            words = with_ends(_numbers(forms, self.vocabularies.words), lengths, [START], [STOP])
        if self.reads_tags:
            symbols = list(chain.from_iterable(each.tags or repeat("", len(each)) for each in sentences))
            tags = with_ends(_numbers(symbols, self.vocabularies.tags), lengths, [START], [STOP])
        if self.reads_letters:
            rows = with_ends(np.array(self._table.rows(forms), np.int64), lengths, [0], [1])
            spellings, spelling_lengths, spelling_of_token = self._table.spellings(rows)
        if self._vectors is not None:
            vectors = self._vectors.read([self._vectors.name(sentence.words) for sentence in sentences])
        subwords = None if self._subword_batches is None else self._subword_batches.read(sentences)
        treebanks = None
        if self.reads_treebanks:
            treebanks = np.repeat([self.vocabularies.treebank_of(sentence) for sentence in sentences], lengths + 2)
        return Batch(
            lengths=lengths,
            words=words,
            tags=tags,
            spellings=spellings,
            spelling_lengths=spelling_lengths,
            spelling_of_token=spelling_of_token,
            vectors=vectors,
            treebanks=treebanks,
            **_subword_arrays(subwords),
        )

    def index(self, sentence: Sentence) -> IndexedSentence:
        """One sentence as numbers, for the ``collate`` of this same indexer."""
        words = tags = letters = None
        forms = sentence.words
        if self.plain_quotes:
            forms = tuple(PLAIN_QUOTES.get(word, word) for word in forms)
        if self.reads_words:
            ids = self.vocabularies.words.ids
            words = np.array([START, *[ids.get(word, UNKNOWN) for word in forms], STOP], np.int64)
        if self.reads_tags:
            ids = self.vocabularies.tags.ids
            symbols = sentence.tags or [""] * len(sentence)
            tags = np.array([START, *[ids.get(tag, UNKNOWN) for tag in symbols], STOP], np.int64)
        if self.reads_letters:
            letters = np.array([0, *self._table.rows(forms), 1], np.int32)
        subwords = None if self._subwords is None else self._subwords.read(sentence)
        vectors = None if self._vectors is None else self._vectors.name(sentence.words)
        treebank = self.vocabularies.treebank_of(sentence) if self.reads_treebanks else None
        return IndexedSentence(len(sentence), words, tags, letters, subwords, vectors, treebank)

    def collate(self, indexed: Sequence[IndexedSentence]) -> Batch:
        spellings = lengths = spelling_of_token = None
        if self.reads_letters:
            rows = np.concatenate([sentence.letters for sentence in indexed if sentence.letters is not None])
            spellings, lengths, spelling_of_token = self._table.spellings(rows)
        names = [sentence.vectors for sentence in indexed if sentence.vectors is not None]
        subwords = [sentence.subwords for sentence in indexed if sentence.subwords is not None]
        treebanks = [
            np.full(sentence.length + 2, sentence.treebank) for sentence in indexed if sentence.treebank is not None
        ]
        return Batch(
            lengths=np.array([sentence.length for sentence in indexed], np.int64),
            words=_joined([sentence.words for sentence in indexed]),
            tags=_joined([sentence.tags for sentence in indexed]),
            spellings=spellings,
            spelling_lengths=lengths,
            spelling_of_token=spelling_of_token,
            vectors=None if self._vectors is None else self._vectors.read(names),
            treebanks=_joined(treebanks),
            **_subword_arrays(joined_sentences(subwords) if subwords else None),
        )


def _numbers(symbols: Sequence[str], vocab: Vocab) -> Ints:
    return np.fromiter(map(vocab.ids.get, symbols, repeat(UNKNOWN)), np.int64, len(symbols))


def _subword_arrays(subwords: SubwordSentence | None) -> dict[str, Ints]:
    if subwords is None:
        return {}
    return {
        "subwords": subwords.ids,
        "window_lengths": subwords.window_lengths,
        "subword_rows": subwords.rows,
        "rows_of_token": subwords.rows_of_token,
    }


def _joined(columns: Sequence[Ints | None]) -> Ints | None:
    present = [column for column in columns if column is not None]
    return np.concatenate(present) if present else None
