"""Splits a text that arrives in pieces: each sentence comes as soon as its end is certain, in bounded memory."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import lt
from typing import Final, NamedTuple

from fencepost.text.languages import rules
from fencepost.text.sentences import Mode, Span, border, count_certain, split_sentences, tokenize_span
from fencepost.text.tokens import Token
from fencepost.trees.tree import HasOffsets
from fencepost.trees.treebank import Sentence

_MOST_HELD: Final = 8192  # characters; a sentence that goes on for longer is cut
_LONGEST_PIECE: Final = 2**16  # characters; a longer piece is read in parts
_NEAR: Final = 64  # characters before a new piece to search again: only now may a full stop there end a sentence
_SHORT: Final = 512  # characters; beyond these, not every full stop triggers a new search for an end
_STOP: Final = "[.!?…。！？｡।؟۔]"
_MAY_END: Final = re.compile(rf"{_STOP}|\n[^\S\n]*(?:\n|[-*•|#0-9(]|[A-Z][A-Za-z-]*:)")
_MAY_END_CLAUSES: Final = re.compile(rf"{_STOP}|\n|[,;]")
_MAY_END_LINES: Final = re.compile(rf"{_STOP}|\n")


class TextSentence(NamedTuple):
    """A sentence with its position in a text. The offsets of its tokens count from the start of the sentence."""

    text: str
    offset: int  # characters before it in the whole text
    tokens: list[Token]
    tokenized: bool = False  # blanks separate all tokens, so they say nothing about the original spacing
    tags: tuple[str, ...] | None = None  # given with the tokens

    def sentence(self) -> Sentence:
        """The sentence in the form that the parser reads."""
        words = tuple([token.form for token in self.tokens])
        return Sentence(words, self.tags, spaces=None if self.tokenized else spaces_between(self.tokens))


def spaces_between(tokens: Sequence[HasOffsets]) -> tuple[bool, ...]:
    """True for each token with a space after it. The last one always counts as having one."""
    ends = [token.end for token in tokens]
    return (*map(lt, ends, [token.start for token in tokens[1:]]), True) if tokens else ()


def read_stream(pieces: Iterable[str], mode: Mode = "text", language: str = "en") -> Iterator[TextSentence]:
    """The sentences of a text that arrives in arbitrary pieces: the same as those of the whole text.

    The exception is a sentence that goes on for very long: it is cut between words, so that memory stays bounded.
    """
    split, ends_clauses = rules(language).tokenize, bool(rules(language).sentences.clauses)
    may_end = _MAY_END_CLAUSES if ends_clauses else _MAY_END if mode == "text" else _MAY_END_LINES
    past_end = border(mode)
    held, offset, looked, in_vain = "", 0, 0, 0
    spans: list[Span] | None = []  # the sentences in ``held``; None if not computed yet
    for piece in _parts(pieces):
        if len(held) >= _MOST_HELD:
            done = _last_word(held)
            yield from _read(held, split_sentences(held[:done], mode, language), offset, split)
            held, offset, in_vain = held[done:], offset + done, 0
        held, spans = held + piece, None
        if len(held) < _MOST_HELD and not may_end.search(held, max(looked - _NEAR, 0)):
            looked = len(held)
            continue
        # Full stops that end no sentence, as in numbers, would otherwise cost quadratic time.
        may_wait = _SHORT < len(held) < min(in_vain * 9 // 8, _MOST_HELD)
        if may_wait and not past_end.search(held, max(len(held) - len(piece) - _NEAR, 0)):
            continue
        spans = split_sentences(held, mode, language)
        certain = count_certain(held, spans, mode, language)
        done = spans[certain].start if certain < len(spans) else len(held)
        yield from _read(held, spans[:certain], offset, split)
        spans = [Span(span.start - done, span.end - done) for span in spans[certain:]]
        held, offset = held[done:], offset + done
        looked = len(held)
        in_vain = 0 if done else len(held)
    yield from _read(held, split_sentences(held, mode, language) if spans is None else spans, offset, split)


def _parts(pieces: Iterable[str]) -> Iterator[str]:
    for piece in pieces:
        for start in range(0, len(piece), _LONGEST_PIECE):
            yield piece[start : start + _LONGEST_PIECE]


def _last_word(text: str) -> int:
    """The start of the last word, which may be incomplete; the end of the text if it is complete or the only word."""
    if text[-1].isspace():
        return len(text)
    return len(text) - len(text.split()[-1]) or len(text)


def _read(text: str, spans: list[Span], offset: int, split: Callable[[str], list[Token]]) -> Iterator[TextSentence]:
    for sentence in spans:
        for span, tokens in tokenize_span(text, sentence, split):
            yield TextSentence(text[span.start : span.end], offset + span.start, tokens)
