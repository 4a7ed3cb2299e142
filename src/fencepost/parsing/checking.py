"""The door of the parser: what a caller gives is checked here, once, and travels on as a ``Sentence``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from fencepost.errors import InputError
from fencepost.trees.tree import check_tags, real_words
from fencepost.trees.treebank import Sentence

GivenSentence: TypeAlias = "Sentence | Sequence[str]"


def check_sentences(sentences: Iterable[GivenSentence], needs_tags: bool, first: int = 1) -> Iterator[Sentence]:
    """The sentences as a model reads them. An error names the number of its sentence, counted from ``first``."""
    return (_check(sentence, number, needs_tags) for number, sentence in enumerate(sentences, first))


def _check(given: GivenSentence, number: int, needs_tags: bool) -> Sentence:
    """What was given, with Penn escapes undone: words are real text."""
    if not isinstance(given, Sentence):
        given = Sentence(_words(given, number))
    words, tags = given.words, given.tags
    if not words:
        raise InputError(f"sentence {number} has no words")
    try:
        real = real_words(words)
        check_tags(tags or ())
    except InputError as error:
        raise InputError(f"sentence {number}: {error.message}") from None
    except TypeError:
        raise InputError(f"sentence {number}: {_first_that_is_not_a_string(given)}") from None
    if needs_tags and tags is None:
        raise InputError(
            f"sentence {number} has no tags, and this model reads tags",
            hint="give fencepost.Sentence(words, tags), or use a model without tags in its lexical list",
        )
    return given if real is words else Sentence(real, tags, spaces=given.spaces)


def _words(given: Sequence[str], number: int) -> tuple[str, ...]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        what = "a string" if isinstance(given, str) else repr(given)
        raise InputError(
            f"sentence {number} is {what}, not a list of words",
            hint='parse([["Words", "like", "these"]]), or parse_text("Words like these.")',
        )
    return tuple(given)


def _first_that_is_not_a_string(sentence: Sentence) -> str:
    for what, texts in (("word", sentence.words), ("tag", sentence.tags or ())):
        for place, text in enumerate(texts, 1):
            if not isinstance(text, str):
                return f"{what} {place} is {text!r}, not a string"
    raise AssertionError(sentence)
