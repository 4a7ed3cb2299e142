"""Sentences into numbers: the arrays that a model's lexical representations read (§2.2, §5.1)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, repeat
from threading import Lock
from typing import Final

import numpy as np

from fencepost.config.settings import Config
from fencepost.features.batch import Array, Batch, Ints
from fencepost.features.indexed_sentences import IndexedSentences
from fencepost.features.lexical_kinds import reads
from fencepost.features.lists import with_ends
from fencepost.features.spacing import PLAIN_QUOTES
from fencepost.features.spellings import SpellingTable
from fencepost.features.subword_batches import SubwordBatches
from fencepost.features.subwords import Subwords
from fencepost.features.vectors import VectorFiles
from fencepost.features.vocab import Vocab
from fencepost.features.vocabularies import START, STOP, UNKNOWN, Vocabularies
from fencepost.trees.treebank import Sentence

_REMEMBERED: Final = ("_table", "_subword_batches", "_lock")  # what a copy in another process begins without
_SPELLINGS_KEPT: Final = 50_000  # distinct words before the table is emptied: memory stays bounded


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

    def index(self, sentences: Sequence[Sentence]) -> IndexedSentences:
        """Sentences for many batches."""
        with self._lock:
            lengths, columns = self._columns(sentences)
            return IndexedSentences(
                lengths,
                columns,
                self._table.spellings() if self.reads_letters else None,
                None if self._subwords is None else list(map(self._subwords.read, sentences)),
                self._vectors,
                [] if self._vectors is None else [self._vectors.name(sentence.words) for sentence in sentences],
            )

    def _batch(self, sentences: Sequence[Sentence]) -> Batch:
        lengths, columns = self._columns(sentences)
        spellings = spelling_lengths = spelling_of_token = vectors = None
        if self.reads_letters:
            spellings, spelling_lengths, spelling_of_token = self._table.spellings().distinct(columns.pop("letters"))
        if self._vectors is not None:
            vectors = self._vectors.read([self._vectors.name(sentence.words) for sentence in sentences])
        subwords = {}
        if self._subword_batches is not None:
            read = self._subword_batches.read(sentences)
            subwords = {"subwords": read.ids, "window_lengths": read.window_lengths}
            subwords |= {"subword_rows": read.rows, "rows_of_token": read.rows_of_token}
        return Batch(
            lengths=lengths,
            spellings=spellings,
            spelling_lengths=spelling_lengths,
            spelling_of_token=spelling_of_token,
            vectors=vectors,
            **columns,
            **subwords,
        )

    def _columns(self, sentences: Sequence[Sentence]) -> tuple[Ints, dict[str, Array]]:
        """The lengths of the sentences, and what is read of each token. Letters are rows of the spelling table."""
        lengths = np.array([len(sentence.words) for sentence in sentences], np.int64)
        forms = list(chain.from_iterable(sentence.words for sentence in sentences))
        if self.plain_quotes:
            forms = [PLAIN_QUOTES.get(word, word) for word in forms]
        columns: dict[str, Array] = {}
        if self.reads_words:
            columns["words"] = with_ends(_numbers(forms, self.vocabularies.words), lengths, [START], [STOP])
        if self.reads_tags:
            symbols = list(chain.from_iterable(each.tags or repeat("", len(each)) for each in sentences))
            columns["tags"] = with_ends(_numbers(symbols, self.vocabularies.tags), lengths, [START], [STOP])
        if self.reads_letters:
            columns["letters"] = with_ends(np.array(self._table.rows(forms), np.int64), lengths, [0], [1])
        if self.reads_treebanks:
            treebanks = [self.vocabularies.treebank_of(sentence) for sentence in sentences]
            columns["treebanks"] = np.repeat(np.array(treebanks, np.int64), lengths + 2)
        return lengths, columns


def _numbers(symbols: Sequence[str], vocab: Vocab) -> Ints:
    return np.fromiter(map(vocab.ids.get, symbols, repeat(UNKNOWN)), np.int64, len(symbols))
