"""Checks the parser's input, once: texts, and sentences, which become ``Sentence`` objects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias, TypeVar

from fencepost.errors import InputError
from fencepost.text.sentences import length_problem
from fencepost.trees.tree import Tree, check_tags, real_words
from fencepost.trees.treebank import Sentence

GivenSentence: TypeAlias = "Sentence | Sequence[str]"
Context = TypeVar("Context")


def check_sentences(sentences: Iterable[GivenSentence], needs_tags: bool, first: int = 1) -> Iterator[Sentence]:
    """The sentences as a model reads them. An error gives the number of its sentence, counted from ``first``."""
    if isinstance(sentences, str):
        raise InputError("sentences are lists of words, got a string", hint="parse_text(text) parses a text")
    if not isinstance(sentences, Iterable):
        raise InputError(f"sentences are a list of lists of words, got {sentences!r:.50}")
    return (_check(sentence, number, needs_tags) for number, sentence in enumerate(sentences, first))


def _check(sentence: GivenSentence, number: int, needs_tags: bool) -> Sentence:
    """The sentence with Penn escapes such as -LRB- undone."""
    if not isinstance(sentence, Sentence):
        sentence = Sentence(_words(sentence, number))
    words, tags = sentence.words, sentence.tags
    if not words:
        raise InputError(f"sentence {number} has no words")
    if too_long := length_problem(len(words)):
        raise InputError(f"sentence {number} has {too_long}", hint="cut it; parse_text cuts long sentences by itself")
    try:
        real = real_words(words)
        check_tags(tags or ())
    except InputError as error:
        hint = None
        if any(any(map(str.isspace, word)) for word in words):
            hint = "a sentence is a list of words; parse_text(text) parses a text, pipe(texts) many texts"
        raise InputError(f"sentence {number}: {error.message}", hint=hint) from None
    except TypeError:
        raise InputError(f"sentence {number}: {_first_that_is_not_a_string(sentence)}") from None
    if needs_tags and tags is None:
        raise InputError(
            f"sentence {number} has no tags, and this model reads tags",
            hint="give fencepost.Sentence(words, tags), or use a model that doesn't read tags",
        )
    return sentence if real is words else Sentence(real, tags, spaces=sentence.spaces)


def _words(words: Sequence[str], number: int) -> tuple[str, ...]:
    if isinstance(words, (str, Tree)) or not isinstance(words, Iterable):
        what = "a string" if isinstance(words, str) else repr(words)
        hint = 'use parse([["Words", "like", "these"]]), parse_text("Words like these.") or pipe(many_texts)'
        raise InputError(f"sentence {number} is {what}, not a list of words", hint=hint)
    return tuple(words)


def _first_that_is_not_a_string(sentence: Sentence) -> str:
    for what, texts in (("word", sentence.words), ("tag", sentence.tags or ())):
        for position, text in enumerate(texts, 1):
            if not isinstance(text, str):
                return f"{what} {position} is {text!r}, not a string"
    raise AssertionError(sentence)


def checked_text(text: object, what: str = "text") -> str:
    """The text itself. Raises InputError if it isn't a string, with a hint about what may have been meant."""
    if isinstance(text, str):
        return text
    if isinstance(text, bytes):
        raise InputError(f"{what} is bytes, not a string", hint='decode it first: data.decode("utf-8")')
    if hasattr(text, "read_text"):
        raise InputError(f"{what} is a path, not a string", hint='read it first: path.read_text("utf-8")')
    if isinstance(text, Iterable):
        hint = (
            "pipe(texts) takes many texts, iter_parse_text(pieces) one text in pieces, parse(sentences) lists of words"
        )
        raise InputError(f"{what} must be a string, got {text!r:.50}", hint=hint)
    raise InputError(f"{what} must be a string, got {text!r:.50}")


def checked_texts(texts: Iterable[str]) -> Iterator[tuple[str, None]]:
    return ((checked_text(text, f"text {number}"), None) for number, text in enumerate(texts, 1))


def checked_pairs(pairs: Iterable[tuple[str, Context]]) -> Iterator[tuple[str, Context]]:
    for number, pair in enumerate(pairs, 1):
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            hint = 'such as [("A text.", {"id": 1}), …]; without as_tuples, pipe takes texts alone'
            raise InputError(f"item {number} must be a text and its context, got {pair!r:.50}", hint=hint)
        yield checked_text(pair[0], f"text {number}"), pair[1]
