"""Checks the parser's input, once, and turns it into ``Sentence`` objects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from fencepost.errors import InputError
from fencepost.text.sentences import length_problem
from fencepost.trees.tree import check_tags, real_words
from fencepost.trees.treebank import Sentence

GivenSentence: TypeAlias = "Sentence | Sequence[str]"


def check_sentences(sentences: Iterable[GivenSentence], needs_tags: bool, first: int = 1) -> Iterator[Sentence]:
    """The sentences as a model reads them. An error gives the number of its sentence, counted from ``first``."""
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
        raise InputError(f"sentence {number}: {error.message}") from None
    except TypeError:
        raise InputError(f"sentence {number}: {_first_that_is_not_a_string(sentence)}") from None
    if needs_tags and tags is None:
        raise InputError(
            f"sentence {number} has no tags, and this model reads tags",
            hint="give fencepost.Sentence(words, tags), or use a model that doesn't read tags",
        )
    return sentence if real is words else Sentence(real, tags, spaces=sentence.spaces)


def _words(words: Sequence[str], number: int) -> tuple[str, ...]:
    if isinstance(words, str) or not isinstance(words, Iterable):
        what = "a string" if isinstance(words, str) else repr(words)
        raise InputError(
            f"sentence {number} is {what}, not a list of words",
            hint='use parse([["Words", "like", "these"]]) or parse_text("Words like these.")',
        )
    return tuple(words)


def _first_that_is_not_a_string(sentence: Sentence) -> str:
    for what, texts in (("word", sentence.words), ("tag", sentence.tags or ())):
        for position, text in enumerate(texts, 1):
            if not isinstance(text, str):
                return f"{what} {position} is {text!r}, not a string"
    raise AssertionError(sentence)
