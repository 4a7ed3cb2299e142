"""BERT's tokenizer without the `tokenizers` library: the same sub-tokens, at the same offsets, for any text.

A text is cut at added tokens such as [SEP], then at blanks. Each chunk is normalised letter by letter and cut at
punctuation, and each word is spelled with the longest pieces that the vocabulary has, from left to right.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from typing import Any, Final

from fencepost.features.added_tokens import ALL_BLANKS, CHUNK, AddedTokens, Encoded, is_plain, is_simple, special_tokens
from fencepost.features.tokenizers_unicode import IDEOGRAPHS, category, combining, decomposed, lowered

_PUNCTUATION: Final = r"!-/:-@\[-`{-~"
_BLANK_OF_BYTES: Final = "Ġ"  # a blank in byte-level vocabularies; the library trims it in any vocabulary
_ALL_BLANK: Final = re.compile(f"[{ALL_BLANKS}]")
_WORD: Final = re.compile(f"[{_PUNCTUATION}]|[^{_PUNCTUATION} ]+")


Piece = tuple[int, int, int]  # a sub-token, its start and its end


class WordPiece:
    """The tokenizer that a tokenizer.json describes. Safe to call from threads."""

    def __init__(self, text: str, settings: dict[str, Any] | None = None) -> None:
        """``settings``: the text read as JSON, if it has been."""
        self._text = text
        settings = settings or json.loads(text)
        model, normalizer = settings["model"], settings["normalizer"]
        self._vocabulary: dict[str, int] = model["vocab"]
        self._unknown = self._vocabulary[model["unk_token"]]
        self._inside: str = model["continuing_subword_prefix"]
        self._longest_word: int = model["max_input_chars_per_word"]
        if not isinstance(self._inside, str) or type(self._longest_word) is not int:
            raise TypeError(f"words continue with {self._inside!r:.20} and have {self._longest_word!r:.20} letters")
        self._longest_piece = max(map(len, self._vocabulary))
        self._clean, self._cjk = normalizer["clean_text"], normalizer["handle_chinese_chars"]
        self._lower: bool = normalizer["lowercase"]
        accents = normalizer["strip_accents"]
        self._strip: bool = self._lower if accents is None else accents
        added = settings["added_tokens"]
        self._added = AddedTokens([(token["content"], token) for token in added if not token["normalized"]])
        normalized = [(self._normalized(token["content"])[0], token) for token in added if token["normalized"]]
        self._added_to_normalized = AddedTokens(normalized)
        self.prefix, self.suffix = special_tokens(settings["post_processor"])
        self.after_blank: list[int] = []
        self.reads_blanks = False
        # Added tokens may take along the blanks around them; trimmed offsets leave those blanks out.
        self._trims = bool((settings["post_processor"] or {}).get("trim_offsets"))

    @classmethod
    def of(cls, text: str, settings: dict[str, Any] | None = None) -> WordPiece | None:
        """``None`` if the file describes another kind of tokenizer."""
        settings = settings or json.loads(text)
        return cls(text, settings) if _is_bert(settings) else None

    def __reduce__(self) -> tuple[object, ...]:
        return (WordPiece, (self._text,))

    def encode(self, text: str) -> Encoded:
        """The sub-tokens of a text, without the special tokens before and after it."""
        encoded = Encoded([], [], [])
        done = 0
        for number, match in self._added.find(text):
            self._read(text, done, match.start(), encoded)
            start, end = match.span((match.lastindex or 0) if self._trims else 0)
            encoded.append(start, [number], [0], [end - start])
            done = match.end()
        self._read(text, done, len(text), encoded)
        return encoded

    def cuts_at_blanks(self, text: str) -> bool:
        """True unless the text contains added tokens, which may take along the blanks around them."""
        return next(self._added.find(text), None) is None

    def _read(self, text: str, start: int, end: int, encoded: Encoded) -> None:
        for match in CHUNK.finditer(text, start, end):
            chunk = match[0]
            encoded.append(match.start(), *self._read_chunk(chunk))

    def _read_chunk(self, chunk: str) -> Encoded:
        encoded = Encoded([], [], [])
        text, sources = self._normalized(chunk)
        for number, start, end in self._pieces(text):
            encoded.ids.append(number)
            encoded.starts.append(sources[start])
            encoded.ends.append(sources[end - 1] + 1)
        return encoded

    def _pieces(self, text: str) -> Iterator[Piece]:
        """The pieces of a normalised text."""
        shape = text if is_plain(text) else "".join(map(_shape, text))
        done = 0
        for number, match in self._added_to_normalized.find(text):
            yield from self._words(text, shape, done, match.start())
            yield number, match.start(), match.end()
            done = match.end()
        yield from self._words(text, shape, done, len(text))

    def _words(self, text: str, shape: str, start: int, end: int) -> Iterator[Piece]:
        for word in _WORD.finditer(shape, start, end):
            yield from self._spell(text, word.start(), word.end())

    def _spell(self, text: str, first: int, last: int) -> list[Piece]:
        """The pieces of the word ``text[first:last]``."""
        pieces: list[Piece] = []
        start, prefix = first, ""
        while start < last <= first + self._longest_word:
            for end in range(min(last, start + self._longest_piece), start, -1):
                number = self._vocabulary.get(prefix + text[start:end])
                if number is not None:
                    pieces.append((number, start, end))
                    start, prefix = end, self._inside
                    break
            else:
                break
        return pieces if start == last else [(self._unknown, first, last)]

    def _normalized(self, chunk: str) -> tuple[str, Sequence[int]]:
        """The normalised text, and the index in ``chunk`` that each of its letters comes from."""
        if is_plain(chunk):
            return chunk.lower() if self._lower else chunk, range(len(chunk))
        letters = list(enumerate(chunk))
        if self._clean:
            letters = [(index, _cleaned(letter)) for index, letter in letters if not _is_dropped(letter)]
        if self._cjk:
            letters = [(index, part) for index, letter in letters for part in _apart(letter)]
        if self._strip:
            letters = [(index, letter) for index, letter in _decomposed(letters) if category(letter) != "Mn"]
        if self._lower:
            letters = [(index, part) for index, letter in letters for part in lowered(letter)]
        return "".join(letter for _, letter in letters), [index for index, _ in letters]


def _is_dropped(letter: str) -> bool:
    return letter not in "\t\n\r" and (letter == "\ufffd" or category(letter) in ("Cc", "Cf", "Co", "Cs"))


def _cleaned(letter: str) -> str:
    return " " if _ALL_BLANK.match(letter) else letter


def _apart(letter: str) -> str:
    return f" {letter} " if letter in IDEOGRAPHS else letter


def _decomposed(letters: list[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """NFD. Marks are reordered, but the indices that they come from stay in order, as in the library."""
    parts = [(part, nth == 0) for _, letter in letters for nth, part in enumerate(decomposed(letter))]
    runs = groupby(parts, key=lambda part: combining(part[0]) > 0)
    # Letters that aren't marks have class 0 and stay where they are.
    ordered = [part for _, run in runs for part in sorted(run, key=lambda part: combining(part[0]))]
    sources = iter(letters)
    index = 0
    for part, is_first in ordered:
        if is_first:
            index, _ = next(sources)
        yield index, part


@lru_cache(4096)
def _shape(letter: str) -> str:
    """Stands in for any character with an ASCII one of its kind: a blank, a punctuation mark or a letter."""
    if is_plain(letter):
        return letter
    if _ALL_BLANK.match(letter):
        return " "
    return "." if category(letter).startswith("P") else "a"


def _is_bert(settings: dict[str, Any]) -> bool:
    model, normalizer, cutter, special = (
        settings[name] or {} for name in ("model", "normalizer", "pre_tokenizer", "post_processor")
    )
    return (
        [part.get("type") for part in (model, normalizer, cutter)]
        == ["WordPiece", "BertNormalizer", "BertPreTokenizer"]
        and special.get("type") in (None, "TemplateProcessing", "BertProcessing", "RobertaProcessing")
        and not special.get("add_prefix_space")
        and not (special.get("trim_offsets") and any(_BLANK_OF_BYTES in piece for piece in model["vocab"]))
        and model["unk_token"] in model["vocab"]
        and all(map(is_simple, settings["added_tokens"]))
    )
