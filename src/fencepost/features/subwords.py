"""Sentences as sub-tokens of a pre-trained encoder, and which of the sub-tokens each word is made of."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any, Final, NamedTuple, Protocol

import numpy as np

from fencepost.config.settings import Config
from fencepost.errors import COPY_AGAIN, MissingExtraError, ModelError
from fencepost.features.added_tokens import Encoded
from fencepost.features.batch import Ints
from fencepost.features.encoder_families import family_of
from fencepost.features.pretrained_files import TOKENIZER, PretrainedFiles
from fencepost.features.spacing import PLAIN_QUOTES, guess_spaces
from fencepost.features.tokenizer_limits import check_tokenizer, require_numbers
from fencepost.features.unigram import Unigram
from fencepost.features.wordpiece import WordPiece
from fencepost.storage.safe_json import parse_json
from fencepost.trees.treebank import Sentence

STRETCHES_KEPT: Final = 50_000  # stretches between blanks in the cache, but only from sentences ...
LETTERS_KEPT, WORDS_KEPT = 50, 8  # ... without longer words or longer stretches than this
MOST_SPECIAL: Final = 16  # tokens around a sentence
LONGEST_WORD: Final = 256  # letters that are read of a longer word, half of them at each end


@dataclass(frozen=True)
class SubwordSentence:
    """The sub-tokens of a sentence, or of several, and the rows among them whose mean is the vector of each token."""

    ids: Ints  # [P] of all windows, end to end, special ones included
    window_lengths: Ints  # [V]
    rows: Ints  # [M] indices into ids, token by token: start, words, stop
    rows_of_token: Ints  # [n + 2] how many of these indices each token has


class Tokenizer(Protocol):
    """Cuts text into sub-tokens; ``prefix`` and ``suffix`` are the special ones around a sentence."""

    prefix: list[int]
    suffix: list[int]
    after_blank: list[int]  # the sub-tokens of a blank at the end of a text that is cut at its blanks
    reads_blanks: bool  # a blank may be a sub-token; the one that is put before a text is part of its first word

    def encode(self, text: str) -> Encoded: ...

    def cuts_at_blanks(self, text: str) -> bool:
        """True if the sub-tokens of this text are those of its stretches between blanks, one after the other."""
        ...


class Stretch(NamedTuple):
    """Words with no blank between them: their sub-tokens, and which of those each word is made of.

    Index -1 is the sub-token before the stretch: a first word that the tokenizer drops is made of it.
    """

    ids: list[int]
    chosen: list[int]  # indices into ids, word by word
    counts: list[int]  # how many each word has


class Subwords:
    """Tokenizes sentences. A sentence too long for the encoder is cut into overlapping windows."""

    def __init__(self, config: Config, files: PretrainedFiles) -> None:
        self._provenance = config, files
        encoder = json.loads(files.encoder)
        self._tokenizer = _tokenizer(files.tokenizer, encoder["vocab_size"])
        self.language, self._words = config.language, config.pretrained.words
        self.prefix, self.suffix = self._tokenizer.prefix, self._tokenizer.suffix
        if encoder.get("is_encoder_decoder"):
            self.prefix = [encoder["decoder_start_token_id"]]  # a decoder reads its own start token first
        special = len(self.prefix) + len(self.suffix)
        self.room = max(1, min(config.pretrained.window, _positions(encoder)) - special)
        self._overlap = min(config.pretrained.overlap, self.room - 1)
        self.reads_blanks = self._tokenizer.reads_blanks
        self.final_blank = Stretch(self._tokenizer.after_blank, [], [])
        self._remembered = lru_cache(STRETCHES_KEPT)(self.read_stretch)

    def __reduce__(self) -> tuple[object, ...]:
        return (Subwords, self._provenance)

    def read(self, sentence: Sentence) -> SubwordSentence:
        words = tuple([PLAIN_QUOTES.get(word, word) for word in sentence.words])
        if max(map(len, words)) > LONGEST_WORD:
            words = tuple([_shortened(word) for word in words])
        spaces = sentence.spaces or guess_spaces(sentence.words, self.language)
        if self.cuts_at_blanks(words):
            ends = [end for end, space in enumerate((*spaces[:-1], True), 1) if space]
            stretches = [words[begin:end] for begin, end in zip([0, *ends], ends, strict=False)]
            short = max(map(len, words)) <= LETTERS_KEPT and max(map(len, stretches)) <= WORDS_KEPT
            read = list(map(self._remembered if short else self.read_stretch, stretches))
            if self.reads_blanks:
                read[0] = self.read_first_stretch(stretches[0])
            whole = _joined([*read, self.final_blank] if spaces[-1] else read)
        else:
            whole = self._read_text(words, spaces)
        return self._in_windows(whole)

    def cuts_at_blanks(self, words: Sequence[str]) -> bool:
        """True if words that have blanks between them share no sub-token."""
        return self._tokenizer.cuts_at_blanks(" ".join(words))

    def read_stretch(self, words: tuple[str, ...]) -> Stretch:
        """Words without blanks between them, with plain quotes; where blanks are sub-tokens, one comes before."""
        if not self.reads_blanks:
            return self.read_first_stretch(words)
        read = self._read_text(("a", *words), [True] + [False] * len(words))
        before, skipped = len(self._tokenizer.encode("a").ids), read.counts[0]
        return Stretch(read.ids[before:], [index - before for index in read.chosen[skipped:]], read.counts[1:])

    def read_first_stretch(self, words: tuple[str, ...]) -> Stretch:
        """The stretch at the start of a sentence."""
        return self._read_text(words, [False] * len(words))

    def _read_text(self, words: Sequence[str], spaces: Sequence[bool]) -> Stretch:
        """Each word is made of its first sub-token, its last, or all of them. Words may share a sub-token."""
        text, spans = "", []
        for word, space in zip(words, spaces, strict=True):
            spans.append((len(text), len(text) + len(word)))
            text += word + " " if space else word
        encoded = self._tokenizer.encode(text)
        lasts = np.searchsorted(encoded.starts, [end for _, end in spans], side="left") - 1
        firsts = np.minimum(np.searchsorted(encoded.ends, [start for start, _ in spans], side="right"), lasts)
        match self._words:
            case "first":
                return Stretch(encoded.ids, firsts.tolist(), [1] * len(words))
            case "last":
                # As in benepar, a sub-token that reaches into the next word counts only if no other one ends inside.
                inside = np.searchsorted(encoded.ends, [end for _, end in spans], side="right") - 1
                ends = np.array([0, *encoded.ends])[inside + 1]
                chosen_of = np.where(ends > [start for start, _ in spans], inside, lasts)
                return Stretch(encoded.ids, chosen_of.tolist(), [1] * len(words))
            case "mean":
                chosen = [range(first, last + 1) for first, last in zip(firsts.tolist(), lasts.tolist(), strict=True)]
                return Stretch(encoded.ids, list(chain.from_iterable(chosen)), list(map(len, chosen)))

    def _in_windows(self, whole: Stretch) -> SubwordSentence:
        """Adds the special sub-tokens. The first and the last of all are the start and the stop token."""
        if len(whole.ids) <= self.room:
            ids = np.array([*self.prefix, *whole.ids, *self.suffix], np.int64)
            lengths, first = np.array([len(ids)]), len(self.prefix)
            rows = [first + index if index >= 0 else 0 for index in whole.chosen]
        else:
            ids, lengths, row_of_subtoken = self._windows(np.array(whole.ids, np.int64))
            rows = np.concatenate([[0], row_of_subtoken])[np.array(whole.chosen) + 1].tolist()
        return SubwordSentence(
            ids, lengths, np.array([0, *rows, len(ids) - 1], np.int64), np.array([1, *whole.counts, 1], np.int64)
        )

    def _windows(self, subtokens: Ints) -> tuple[Ints, Ints, Ints]:
        """All windows end to end, their lengths, and each sub-token's row in the window where it has most context."""
        step = self.room - self._overlap
        count = 1 - (self.room - len(subtokens)) // step
        windows = [subtokens[number * step : number * step + self.room] for number in range(count)]
        ids = [[*self.prefix, *window, *self.suffix] for window in windows]
        lengths = np.array([len(window) for window in ids], np.int64)
        index = np.arange(len(subtokens))
        window_of = np.clip((index - self._overlap // 2) // step, 0, count - 1)
        first_row = np.cumsum(lengths) - lengths + len(self.prefix)
        return np.concatenate(ids).astype(np.int64), lengths, first_row[window_of] + index - window_of * step


def joined_sentences(sentences: Sequence[SubwordSentence]) -> SubwordSentence:
    """Several sentences end to end."""
    before = np.cumsum([0, *(len(sentence.ids) for sentence in sentences)])
    return SubwordSentence(
        np.concatenate([sentence.ids for sentence in sentences]),
        np.concatenate([sentence.window_lengths for sentence in sentences]),
        np.concatenate([each.rows + first for each, first in zip(sentences, before[:-1], strict=True)]),
        np.concatenate([sentence.rows_of_token for sentence in sentences]),
    )


def _shortened(word: str) -> str:
    """Drops the middle of a word that is too long: it says little, and could take any amount of time and memory."""
    half = LONGEST_WORD // 2
    return word if len(word) <= LONGEST_WORD else word[:half] + word[-half:]


def _joined(stretches: Sequence[Stretch]) -> Stretch:
    """Joins stretches that have blanks between them."""
    ids: list[int] = []
    chosen: list[int] = []
    counts: list[int] = []
    for stretch in stretches:
        before = len(ids)
        ids += stretch.ids
        chosen += [before + index for index in stretch.chosen]
        counts += stretch.counts
    return Stretch(ids, chosen, counts)


@contextmanager
def _errors_of_the_library() -> Iterator[None]:
    """Turns errors of `tokenizers` into ValueError. They have no type of their own; panics aren't even Exceptions."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit, MemoryError):
        raise
    except BaseException as error:
        raise ValueError(error) from error


class LibraryTokenizer:
    """Any tokenizer of the `tokenizers` library."""

    def __init__(self, text: str) -> None:
        try:
            from tokenizers import Tokenizer
        except ModuleNotFoundError as error:
            raise MissingExtraError("tokenizers", "pretrained", "reading words as sub-tokens") from error
        with _errors_of_the_library():
            self._tokenizer: Any = Tokenizer.from_str(text)
            self._tokenizer.no_truncation()
            self._tokenizer.no_padding()
            sample = self._tokenizer.encode("a", add_special_tokens=True)
        mask = sample.special_tokens_mask
        first = mask.index(0) if 0 in mask else len(mask)
        last = len(mask) - mask[::-1].index(0) if 0 in mask else len(mask)
        self.prefix: list[int] = sample.ids[:first]
        self.suffix: list[int] = sample.ids[last:]
        self.after_blank: list[int] = []
        self.reads_blanks = False

    def encode(self, text: str) -> Encoded:
        try:
            with _errors_of_the_library():
                encoding = self._tokenizer.encode(text, add_special_tokens=False)
        except ValueError as error:
            raise ModelError(f"{TOKENIZER} can't be used for this text: {error!s:.200}", hint=COPY_AGAIN) from error
        return Encoded(encoding.ids, [start for start, _ in encoding.offsets], [end for _, end in encoding.offsets])

    def cuts_at_blanks(self, text: str) -> bool:
        return False  # some do, but the library doesn't say which


def _tokenizer(text: str, size: int) -> Tokenizer:
    """The tokenizer in a tokenizer.json, which may come from a stranger. The encoder knows ``size`` sub-tokens."""
    try:
        settings = parse_json(text)
        check_tokenizer(settings, size)
        tokenizer = WordPiece.of(text, settings) or Unigram.of(text, settings) or LibraryTokenizer(text)
        require_numbers([*tokenizer.prefix, *tokenizer.suffix], size)
        if len(tokenizer.prefix) + len(tokenizer.suffix) > MOST_SPECIAL:
            raise ValueError("it puts too many special tokens around a sentence")
        return tokenizer
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, OverflowError, re.error) as error:
        problem = f"{type(error).__name__}: {error}"
        raise ModelError(f"{TOKENIZER} is damaged: {problem:.200}", hint=COPY_AGAIN) from error


def _positions(encoder: dict[str, Any]) -> int:
    """The longest sequence that an encoder has positions for, in multiples of 8, to which windows are padded."""
    positions: int = encoder.get("max_position_embeddings") or 1 << 30
    if positions < 0:  # no limit
        positions = 1 << 30
    family = family_of(encoder["model_type"])
    if family.counts_from_padding:
        positions -= family.padding(encoder["pad_token_id"]) + 1
    return positions // 8 * 8
