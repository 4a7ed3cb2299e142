"""Checks the parser's input, once: texts, and sentences, which become ``Sentence`` objects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias, TypeVar

from fencepost.errors import InputError
from fencepost.text.sentences import length_problem
from fencepost.trees.tree import Tree, check_tags, real_words
from fencepost.trees.treebank import Sentence

GivenSentence: TypeAlias = "Sentence | Sequence[str]"
Context = TypeVar("Context")
_MISSING: Final = 'leave missing texts out, or give "" in their place'


def check_sentences(sentences: Iterable[GivenSentence], needs_tags: bool, first: int = 1) -> Iterator[Sentence]:
    """The sentences as a model reads them. An error gives the number of its sentence, counted from ``first``."""
    if isinstance(sentences, str):
        raise InputError("sentences are lists of words, got a string", hint="parse_text(text) parses a text")
    if not isinstance(sentences, Iterable):
        raise InputError(f"sentences are a list of lists of words, got {shown(sentences)}")
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
        what = "a string" if isinstance(words, str) else shown(words)
        hint = 'use parse([["Words", "like", "these"]]), parse_text("Words like these.") or pipe(many_texts)'
        raise InputError(f"sentence {number} is {what}, not a list of words", hint=hint)
    if isinstance(words, (set, frozenset, Mapping)):
        what = f"a {type(words).__name__}"
        raise InputError(f"sentence {number} is {what}, not a list of words", hint="give the words in order, in a list")
    return tuple(words)


def _first_that_is_not_a_string(sentence: Sentence) -> str:
    for what, texts in (("word", sentence.words), ("tag", sentence.tags or ())):
        for position, text in enumerate(texts, 1):
            if not isinstance(text, str):
                return f"{what} {position} is {shown(text)}, not a string"
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
        raise InputError(f"{what} must be a string, got {shown(text)}", hint=hint)
    raise InputError(f"{what} must be a string, got {shown(text)}")


def checked_many(texts: Iterable[Any]) -> Iterable[Any]:
    """The texts themselves. Raises InputError if they are one text, or if a loop over them wouldn't give texts."""
    if isinstance(texts, str):
        raise InputError("pipe takes many texts, got one string", hint="parse_document(text) parses one text")
    if isinstance(texts, Mapping):
        raise InputError("pipe takes many texts, got a mapping", hint="give its values: mapping.values()")
    if hasattr(texts, "columns"):
        raise InputError("pipe takes many texts, got a table", hint='give one column: table["text"]')
    if isinstance(texts, bytes) or not isinstance(texts, Iterable):
        raise InputError(f"pipe takes many texts, got {shown(texts)}", hint="give a list of strings")
    return texts


def checked_pieces(pieces: Iterable[str]) -> Iterator[str]:
    """The pieces of one text, such as the lines of an open file."""
    if isinstance(pieces, bytes) or hasattr(pieces, "read_text") or not isinstance(pieces, Iterable):
        raise InputError(
            f"the text must come in pieces, got {shown(pieces)}",
            hint='give a list of strings, or an open file: open(path, encoding="utf-8")',
        )
    return (_checked_piece(piece, number) for number, piece in enumerate(pieces, 1))


def _checked_piece(piece: object, number: int) -> str:
    if isinstance(piece, bytes):
        hint = 'open the file as text: open(path, encoding="utf-8")'
        raise InputError(f"piece {number} of the text is bytes, not a string", hint=hint)
    if not isinstance(piece, str):
        raise InputError(f"piece {number} of the text must be a string, got {shown(piece)}")
    return piece


def shown(value: object) -> str:
    """The beginning of a value, or its type if it takes several lines."""
    text = repr(value)
    return f"{text:.50}" if "\n" not in text else f"a {type(value).__name__}"


def checked_texts(texts: Iterable[str]) -> Iterator[tuple[str, None]]:
    return ((_text_of_many(text, number), None) for number, text in enumerate(texts, 1))


def _text_of_many(text: object, number: int) -> str:
    if type(text) is str:  # showing a long text takes time
        return text
    if text is None or repr(text) in ("nan", "<NA>"):  # pandas has these in place of a missing text
        raise InputError(f"text {number} must be a string, got {shown(text)}", hint=_MISSING)
    return checked_text(text, f"text {number}")


def checked_pairs(pairs: Iterable[tuple[str, Context]]) -> Iterator[tuple[str, Context]]:
    for number, pair in enumerate(pairs, 1):
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            hint = 'such as [("A text.", {"id": 1}), …]; without as_tuples, pipe takes texts alone'
            raise InputError(f"item {number} must be a text and its context, got {shown(pair)}", hint=hint)
        yield _text_of_many(pair[0], number), pair[1]
