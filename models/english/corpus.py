"""Many sentences as a few long arrays on disk. Several processes can read them without a copy for each."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from fencepost.features.batch import Batch, Ints
from fencepost.features.spacing import PLAIN_QUOTES
from fencepost.features.spellings import SpellingTable
from fencepost.features.subwords import Subwords
from fencepost.features.vocabularies import Vocabularies
from fencepost.trees.treebank import Sentence

TYPES: Final = "types.txt"  # distinct words, one per line
SPECIAL: Final = {"[CLS]": "<s>", "[SEP]": "</s>", "[PAD]": "<pad>", "[MASK]": "<mask>"}  # BERT's names and MPNet's


@dataclass(frozen=True, eq=False)
class Ragged:
    """Rows of different lengths end to end."""

    values: npt.NDArray[Any]
    offsets: Ints  # [rows + 1]

    @classmethod
    def of(cls, rows: Sequence[npt.ArrayLike], kind: type[np.generic]) -> Ragged:
        lengths = [len(row) for row in rows]  # type: ignore[arg-type]
        values = np.concatenate([np.asarray(row, kind) for row in rows]) if rows else np.empty(0, kind)
        return cls(values, np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, rows: Sequence[int] | Ints) -> npt.NDArray[Any]:
        """The values of some rows, end to end."""
        return np.concatenate([self.values[self.offsets[row] : self.offsets[row + 1]] for row in rows])

    def counts(self, rows: Sequence[int] | Ints | slice = slice(None)) -> Ints:
        """The number of values of each of these rows."""
        return np.diff(self.offsets)[rows] if isinstance(rows, slice) else self._counts(np.asarray(rows))

    def _counts(self, rows: Ints) -> Ints:
        return np.asarray(self.offsets[rows + 1] - self.offsets[rows], np.int64)

    @classmethod
    def joined(cls, parts: Sequence[Ragged]) -> Ragged:
        """The rows of all parts."""
        counts = np.concatenate([part.counts() for part in parts])
        values = np.concatenate([part.values for part in parts])
        return cls(values, np.concatenate([[0], np.cumsum(counts)]))

    def save(self, folder: Path, name: str) -> None:
        np.save(folder / f"{name}.npy", self.values)
        np.save(folder / f"{name}.offsets.npy", self.offsets)

    @classmethod
    def load(cls, folder: Path, name: str) -> Ragged:
        return cls(np.load(folder / f"{name}.npy", mmap_mode="r"), np.load(folder / f"{name}.offsets.npy"))


@dataclass(frozen=True, eq=False)
class Corpus:
    """Sentences as a model reads them: each word as its index among the distinct words, and the sub-tokens."""

    types: tuple[str, ...]
    words: Ragged
    subwords: Ragged  # special ones included
    window_lengths: Ragged
    rows: Ragged  # the sub-tokens that tokens are made of
    rows_of_token: Ragged  # how many of them each token has

    @classmethod
    def of(cls, sentences: Iterable[Sentence], reader: Subwords) -> Corpus:
        types: dict[str, int] = {}
        words, read = [], []
        for sentence in sentences:
            words.append([types.setdefault(word, len(types)) for word in sentence.words])
            read.append(reader.read(sentence))
        return cls(
            tuple(types),
            Ragged.of(words, np.int32),
            Ragged.of([sentence.ids for sentence in read], np.uint16),
            Ragged.of([sentence.window_lengths for sentence in read], np.uint16),
            Ragged.of([sentence.rows for sentence in read], np.uint16),
            Ragged.of([sentence.rows_of_token for sentence in read], np.uint8),
        )

    def __len__(self) -> int:
        return len(self.words)

    @property
    def lengths(self) -> Ints:
        return self.words.counts()

    @classmethod
    def joined(cls, parts: Sequence[Corpus]) -> Corpus:
        """The sentences of all parts, one after the other."""
        types: dict[str, int] = {}
        words = []
        for part in parts:
            numbers = np.array([types.setdefault(word, len(types)) for word in part.types], np.int32)
            words.append(Ragged(numbers[part.words.values], part.words.offsets))
        others = {
            name: Ragged.joined([getattr(part, name) for part in parts])
            for name in ("subwords", "window_lengths", "rows", "rows_of_token")
        }
        return cls(tuple(types), Ragged.joined(words), **others)

    def sentences(self, places: Iterable[int]) -> Iterator[list[str]]:
        """The words of some sentences."""
        for place in places:
            yield [self.types[number] for number in self.words.take([place])]

    def save(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / TYPES).write_text("".join(f"{word}\n" for word in self.types), "utf-8")
        for name in _RAGGED:
            getattr(self, name).save(folder, name)

    @classmethod
    def load(cls, folder: Path) -> Corpus:
        types = (folder / TYPES).read_text("utf-8").split("\n")[:-1]
        return cls(tuple(types), **{name: Ragged.load(folder, name) for name in _RAGGED})


_RAGGED: Final = tuple(field.name for field in fields(Corpus) if field.name != "types")


class Collator:
    """Makes batches of a corpus for one model, whose tokenizer may number the sub-tokens differently."""

    def __init__(
        self, corpus: Corpus, vocabularies: Vocabularies, *, plain_quotes: bool, numbers: Ints | None = None
    ) -> None:
        self._corpus = corpus
        self._numbers = numbers
        self._table = SpellingTable(vocabularies)
        forms = [PLAIN_QUOTES.get(word, word) for word in corpus.types] if plain_quotes else corpus.types
        self._row_of_type = np.array(self._table.rows(forms), np.int32)

    def batch(self, places: Sequence[int] | Ints) -> Batch:
        corpus = self._corpus
        lengths = corpus.words.counts(places)
        ends = np.cumsum(lengths + 2)
        tokens = np.zeros(int(ends[-1]), np.int32)  # the start token has row 0 ...
        tokens[ends - 1] = 1  # ... and the stop token row 1 of the table
        is_word = np.ones(len(tokens), bool)
        is_word[ends - 1] = is_word[ends - lengths - 2] = False
        tokens[is_word] = self._row_of_type[corpus.words.take(places)]
        spellings, spelling_lengths, place = self._table.spellings().distinct(tokens)
        subwords = corpus.subwords.take(places).astype(np.int64)
        rows = corpus.rows.take(places).astype(np.int64)
        before = np.cumsum(corpus.subwords.counts(places)) - corpus.subwords.counts(places)
        return Batch(
            lengths=lengths,
            spellings=spellings,
            spelling_lengths=spelling_lengths,
            spelling_of_token=place,
            subwords=subwords if self._numbers is None else self._numbers[subwords],
            window_lengths=corpus.window_lengths.take(places).astype(np.int64),
            subword_rows=rows + np.repeat(before, corpus.rows.counts(places)),
            rows_of_token=corpus.rows_of_token.take(places).astype(np.int64),
        )


def translation(theirs: str, ours: str) -> Ints | None:
    """Our tokenizer's number for each sub-token of theirs; None if all numbers are the same. Both are JSON.

    Both must cut words alike. MPNet cuts words as BERT does but numbers the sub-tokens differently.
    """
    known, wanted = json.loads(ours)["model"]["vocab"], json.loads(theirs)["model"]["vocab"]
    numbers = np.zeros(max(wanted.values()) + 1, np.int64)
    for piece, number in wanted.items():
        special = SPECIAL.get(piece)
        numbers[number] = known[special] if special in known else known[piece]
    return None if np.array_equal(numbers, np.arange(len(numbers))) else numbers
