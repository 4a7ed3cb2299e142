"""Words as the sub-tokens of a pre-trained encoder, with the sub-tokens that each word is made of."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np

from fencepost.config import Config
from fencepost.errors import MissingExtraError
from fencepost.features.batch import Ints
from fencepost.features.pretrained_files import PretrainedFiles
from fencepost.features.spacing import PLAIN_QUOTES, guess_spaces
from fencepost.features.wordpiece import Encoded, WordPiece
from fencepost.trees.treebank import Sentence

# These number positions from the number of the padding token on.
_OFFSET_POSITIONS: Final = ("roberta", "xlm-roberta", "xlm-roberta-xl", "camembert", "mpnet", "data2vec-text")


@dataclass(frozen=True)
class SubwordSentence:
    """The sub-tokens of a sentence, and the rows among them whose mean is the vector of each token."""

    ids: Ints  # [P] of all windows, end to end, special ones included
    window_lengths: Ints  # [V]
    rows: Ints  # [M] places in ids, token by token: start, words, stop
    rows_of_token: Ints  # [n + 2] how many of them each token has


class Tokenizer(Protocol):
    """Cuts text into sub-tokens; ``prefix`` and ``suffix`` are the special ones that stand around a sentence."""

    prefix: list[int]
    suffix: list[int]

    def encode(self, text: str) -> Encoded: ...


class Subwords:
    """Reads sentences as a tokenizer does. A sentence too long for the encoder is cut into windows that overlap."""

    def __init__(self, config: Config, files: PretrainedFiles) -> None:
        self._tokenizer: Tokenizer = WordPiece.of(files.tokenizer) or LibraryTokenizer(files.tokenizer)
        self._language, self._words = config.language, config.pretrained.words
        encoder = json.loads(files.encoder)
        self._prefix, self._suffix = self._tokenizer.prefix, self._tokenizer.suffix
        if encoder.get("is_encoder_decoder"):
            self._prefix = [encoder["decoder_start_token_id"]]  # a decoder reads its own start token first
        special = len(self._prefix) + len(self._suffix)
        self._room = max(1, min(config.pretrained.window, _positions(encoder)) - special)
        self._overlap = min(config.pretrained.overlap, self._room - 1)

    def read(self, sentence: Sentence) -> SubwordSentence:
        text, words = _text(sentence, self._language)
        encoded = self._tokenizer.encode(text)
        ids, lengths, row_of_subtoken = self._windows(np.array(encoded.ids, np.int64))
        chosen = [[0], *self._choose(words, encoded, row_of_subtoken), [len(ids) - 1]]
        counts = np.array([len(rows) for rows in chosen], np.int64)
        return SubwordSentence(ids, lengths, np.array([row for rows in chosen for row in rows], np.int64), counts)

    def _windows(self, subtokens: Ints) -> tuple[Ints, Ints, Ints]:
        """All windows end to end, their lengths, and the row of each sub-token where it has most context."""
        step = self._room - self._overlap
        count = 1 + max(0, -(-(len(subtokens) - self._room) // step))
        windows = [subtokens[number * step : number * step + self._room] for number in range(count)]
        ids = [[*self._prefix, *window, *self._suffix] for window in windows]
        lengths = np.array([len(window) for window in ids], np.int64)
        place = np.arange(len(subtokens))
        window_of = np.clip((place - self._overlap // 2) // step, 0, count - 1)
        first_row = np.cumsum(lengths) - lengths + len(self._prefix)
        return np.concatenate(ids).astype(np.int64), lengths, first_row[window_of] + place - window_of * step

    def _choose(self, words: Sequence[tuple[int, int]], encoded: Encoded, row_of_subtoken: Ints) -> list[list[int]]:
        """The rows of each word: its first or last sub-token, or all. Words may share one, and a word that the

        tokenizer drops has the one before it.
        """
        firsts = np.searchsorted(encoded.ends, [start for start, _ in words], side="right")
        lasts = np.searchsorted(encoded.starts, [end for _, end in words], side="left") - 1
        rows = [0, *row_of_subtoken.tolist()]  # the start stands before the first sub-token
        chosen = []
        for first, last in zip(np.minimum(firsts, lasts).tolist(), lasts.tolist(), strict=True):
            match self._words:
                case "first":
                    chosen.append([rows[first + 1]])
                case "last":
                    chosen.append([rows[last + 1]])
                case "mean":
                    chosen.append(rows[first + 1 : last + 2])
        return chosen


def _text(sentence: Sentence, language: str) -> tuple[str, list[tuple[int, int]]]:
    """The sentence as text, and where each word stands in it."""
    spaces = sentence.spaces or guess_spaces(sentence.words, language)
    text, places = "", []
    for word, space in zip(sentence.words, spaces, strict=True):
        start = len(text)
        text += PLAIN_QUOTES.get(word, word)
        places.append((start, len(text)))
        text += " " if space else ""
    return text, places


class LibraryTokenizer:
    """Any tokenizer of the `tokenizers` library."""

    def __init__(self, text: str) -> None:
        try:
            from tokenizers import Tokenizer
        except ModuleNotFoundError as error:
            raise MissingExtraError("tokenizers", "pretrained", "reading words as sub-tokens") from error
        self._tokenizer: Any = Tokenizer.from_str(text)
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        sample = self._tokenizer.encode("a", add_special_tokens=True)
        mask = sample.special_tokens_mask
        first = mask.index(0) if 0 in mask else len(mask)
        last = len(mask) - mask[::-1].index(0) if 0 in mask else len(mask)
        self.prefix: list[int] = sample.ids[:first]
        self.suffix: list[int] = sample.ids[last:]

    def encode(self, text: str) -> Encoded:
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        return Encoded(encoding.ids, [start for start, _ in encoding.offsets], [end for _, end in encoding.offsets])


def _positions(encoder: dict[str, Any]) -> int:
    """The longest sequence that an encoder has positions for, in whole eights, as windows are padded."""
    positions: int = encoder.get("max_position_embeddings") or 1 << 30
    if encoder["model_type"] in _OFFSET_POSITIONS:
        positions -= encoder["pad_token_id"] + 1
    return positions // 8 * 8
