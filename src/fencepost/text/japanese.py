"""Finds the words of Japanese sentences with SudachiPy, and joins and cuts them as the Keyaki Treebank does."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from fencepost.errors import MissingExtraError
from fencepost.text.tokens import Token
from fencepost.trees.tree import NOT_TEXT

# Characters. The analyser refuses more than 65,535 bytes after it has spelled them out, and one can become 33 bytes.
_LONGEST_TEXT: Final = 1_900
_NOUNS: Final = ("名詞", "代名詞")
_NUMERAL: Final = "数詞"
_ALONE: Final = ("副詞可能", "助数詞可能")  # nouns of time and counters aren't joined to other nouns


class _Word(NamedTuple):
    text: str
    kind: tuple[str, ...]  # UniDic's part of speech, from the coarsest to the inflected form


_FIXED: Final = ("",) * 6


class JapaneseTokenizer:
    """The words of a sentence. The analyser is made on first use in each thread: one can't be shared."""

    def __init__(self, joined: frozenset[tuple[str, ...]]) -> None:
        self._joined = joined
        self._first = frozenset(words[0] for words in joined)
        self._longest = max(map(len, joined))
        try:
            from sudachipy import Dictionary, SplitMode
        except ModuleNotFoundError as error:
            raise MissingExtraError("SudachiPy", "ja", "splitting Japanese text into words") from error
        try:
            self._dictionary: Any = Dictionary(dict="core")
        except ModuleNotFoundError as error:
            raise MissingExtraError("SudachiDict", "ja", "splitting Japanese text into words") from error
        self._mode: Any = SplitMode.C
        self._local = threading.local()

    def __call__(self, sentence: str) -> list[Token]:
        tokens, position = [], 0
        for word in self._words(sentence):
            start = sentence.index(word.text, position)
            position = start + len(word.text)
            tokens.append(Token(word.text, start, position, NOT_TEXT.sub("\ufffd", word.text)))
        return tokens

    def _words(self, sentence: str) -> Iterator[_Word]:
        for piece in sentence.split():
            for start in range(0, len(piece), _LONGEST_TEXT):
                found = self._analyse(piece[start : start + _LONGEST_TEXT])
                yield from _compounds(self._fixed([part for word in found for part in _without_will(word)]))

    def _fixed(self, words: list[_Word]) -> Iterator[_Word]:
        """Joins grammatical words that the analyser cuts and the treebank doesn't: ``について``."""
        index = 0
        while index < len(words):
            length = 1
            if words[index].text in self._first:
                texts = tuple(word.text for word in words[index : index + self._longest])
                length = next((each for each in range(len(texts), 1, -1) if texts[:each] in self._joined), 1)
            text = "".join(word.text for word in words[index : index + length])
            yield words[index] if length == 1 else _Word(text, _FIXED)
            index += length

    def _analyse(self, text: str) -> list[_Word]:
        if not hasattr(self._local, "tokenizer"):
            self._local.tokenizer = self._dictionary.tokenizer(mode=self._mode)
        if "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
            return [_Word(text, _FIXED)]
        found = self._local.tokenizer.tokenize(text)
        # It reads "…" as three full stops, of which two have no letters.
        return [_Word(text[each.begin() : each.end()], each.part_of_speech()) for each in found if len(each)]


def _without_will(word: _Word) -> list[_Word]:
    """``だろう`` is ``だろ`` and ``う``."""
    text, kind = word
    if not kind[5].startswith("意志推量形") or not text.endswith("う"):
        return [word]
    cut = 2 if text.endswith("よう") and not kind[4].startswith("五段") else 1
    return [_Word(text[:-cut], kind), _Word(text[-cut:], _FIXED)] if len(text) > cut else [word]


def _compounds(words: Iterator[_Word]) -> Iterator[_Word]:
    """Joins nouns, prefixes and suffixes to one word: ``金田一京助博士``."""
    last: _Word | None = None
    for word in words:
        if last is not None and _belong_together(last, word):
            kind = word.kind if word.kind[0] != "接尾辞" else ("名詞", *word.kind[1:])
            last = _Word(last.text + word.text, kind)
            continue
        if last is not None:
            yield last
        last = word
    if last is not None:
        yield last


def _belong_together(first: _Word, second: _Word) -> bool:
    before, after = first.kind, second.kind
    if before[0] == "接頭辞":
        return after[0] != "補助記号"
    if after[0] == "接尾辞":
        return before[0] in ("接尾辞", "形容詞", "形状詞") or (before[0] in _NOUNS and before[1] != _NUMERAL)
    if second.text == "・":
        return before[0] == "名詞"
    if first.text.endswith("・"):
        return after[0] == "名詞" and len(first.text) > 1
    return before[0] == after[0] == "名詞" and _joins(before) and _joins(after)


def _joins(kind: tuple[str, ...]) -> bool:
    return kind[1] != _NUMERAL and kind[2] not in _ALONE
