"""Sentences of a text that comes piece by piece, as soon as their end is certain and in bounded memory."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from fencepost.text.sentences import Mode, read_sentences, split_sentences
from fencepost.text.tokens import Token
from fencepost.trees.treebank import Sentence

_MOST_HELD: Final = 8192  # characters: of a text without full stops no more is held back
_MAY_END: Final = re.compile("[.!?…。！？｡।؟۔]")


class TextSentence(NamedTuple):
    """A sentence as it stands in a text. Its tokens count characters from its own start."""

    text: str
    offset: int  # characters before it in the whole text
    tokens: list[Token]
    tokenized: bool = False  # blanks stand between all tokens, and don't say where they stood before
    tags: tuple[str, ...] | None = None  # that came with the tokens

    def sentence(self) -> Sentence:
        """What the parser reads."""
        following = [token.start for token in self.tokens[1:]] + [len(self.text) + 1]
        spaces = tuple(token.end < start for token, start in zip(self.tokens, following, strict=True))
        words = tuple(token.form for token in self.tokens)
        return Sentence(words, self.tags, spaces=None if self.tokenized else spaces)


def read_stream(pieces: Iterable[str], mode: Mode = "text") -> Iterator[TextSentence]:
    """The sentences of a text whose pieces are lines, or end at any other place between words."""
    held: list[str] = []
    size = offset = 0
    for piece in pieces:
        held.append(piece)
        size += len(piece)
        if mode == "text" and size < _MOST_HELD and piece.strip() and not _MAY_END.search(piece):
            continue
        text = "".join(held)
        whole = size >= _MOST_HELD or not piece.strip() or (mode != "text" and piece.endswith("\n"))
        done = size if whole else _last_start(text, mode)
        yield from _read(text[:done], offset, mode)
        held, size, offset = [text[done:]], size - done, offset + done
    yield from _read("".join(held), offset, mode)


def _last_start(text: str, mode: Mode) -> int:
    """Where the last sentence begins, which may not be complete."""
    spans = split_sentences(text, mode)
    return spans[-1].start if spans else 0


def _read(text: str, offset: int, mode: Mode) -> Iterator[TextSentence]:
    for span, tokens in read_sentences(text, mode):
        yield TextSentence(text[span.start : span.end], offset + span.start, tokens)
