"""The words of trees: a ``Leaf`` is a word with its tag. Also what words and symbols may contain, and escapes."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from itertools import repeat
from typing import Any, Final, NamedTuple, NoReturn

from fencepost.errors import TreeError

BRACKET_ESCAPES: Final = {"-LRB-": "(", "-RRB-": ")", "-LCB-": "{", "-RCB-": "}"}
_ESCAPED = re.compile("|".join(BRACKET_ESCAPES))
_BRACKETS = re.compile(r"[(){}]|" + _ESCAPED.pattern)
NOT_TEXT: Final = re.compile("[\0\ud800-\udfff]")  # NUL, and surrogates, which UTF-8 can't encode
NOT_IN_SYMBOLS: Final = re.compile("[\\s()\0\ud800-\udfff]")
_NOT_IN_WORDS = re.compile("[\\s\0\ud800-\udfff]", re.ASCII)


class Immutable:
    """Refuses to be changed. A copy is the object itself."""

    __slots__ = ()

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a {type(self).__name__} can't be changed; build a new one")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a {type(self).__name__} can't be changed; build a new one")

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: object) -> Any:
        return self


class Place(NamedTuple):
    """Where a word stands in a text."""

    start: int
    text: str  # the word as the text writes it
    before: str  # the characters between the previous word of the sentence and this one


class Leaf(Immutable):
    """A word and its part-of-speech tag. The word is real text: Penn escapes such as -LRB- are undone.

    >>> leaf = Leaf("NN", "cat")
    >>> leaf.tag, leaf.word
    ('NN', 'cat')
    """

    __slots__ = ("place", "tag", "word")
    tag: str
    word: str
    place: Place  # unset unless the text is known

    def __init__(self, tag: str, word: str) -> None:
        if not tag or NOT_IN_SYMBOLS.search(tag):
            raise TreeError(f"a tag must be one symbol without spaces or brackets, got {tag!r}")
        if not word or _NOT_IN_WORDS.search(word):
            raise TreeError(f"a word must not be empty or contain spaces, got {word!r}", hint="write _ for a space")
        _set_tag(self, tag)
        # Escaped first, so that printing and reading agree even on a word such as "-LRB(".
        _set_word(self, unescape(escape(word)))

    @property
    def text(self) -> str:
        """The word as the text writes it, if the text is known, else ``word``; see ``Tree.placed``.

        >>> Leaf("``", "``").text
        '``'
        """
        place = place_of(self)
        return self.word if place is None else place.text

    @property
    def offsets(self) -> tuple[int, int] | None:
        """Start and end in the text, counted in characters; None if the text isn't known.

        >>> Leaf("NN", "cat").offsets is None
        True
        """
        place = place_of(self)
        return None if place is None else (place.start, place.start + len(place.text))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Leaf) and self.tag == other.tag and self.word == other.word

    def __hash__(self) -> int:
        return hash((self.tag, self.word))

    def __repr__(self) -> str:
        return f"Leaf({self.tag!r}, {self.word!r})"

    def __str__(self) -> str:
        return f"({self.tag} {escape(self.word)})"

    def __reduce__(self) -> tuple[object, ...]:
        place = place_of(self)
        return (Leaf, (self.tag, self.word)) if place is None else (placed_leaf, (self.tag, self.word, place))


# Leaves refuse assignment, so the slots' own setters fill new ones.
_set_tag = Leaf.__dict__["tag"].__set__
_set_word = Leaf.__dict__["word"].__set__
_set_place = Leaf.__dict__["place"].__set__
_new = object.__new__
_exhaust = deque[None](maxlen=0).extend


def unchecked_leaf(tag: str, word: str) -> Leaf:
    """``Leaf(tag, word)`` without checks: the tag must be valid, and the word real text."""
    leaf = _new(Leaf)
    _set_tag(leaf, tag)
    _set_word(leaf, word)
    return leaf


def unchecked_leaves(tags: Sequence[str], words: Sequence[str]) -> list[Leaf]:
    """``unchecked_leaf`` for many words at once, in loops that run in C."""
    leaves = list(map(_new, repeat(Leaf, len(words))))
    _exhaust(map(_set_tag, leaves, tags))
    _exhaust(map(_set_word, leaves, words))
    return leaves


def placed_leaf(tag: str, word: str, place: Place) -> Leaf:
    """A leaf that knows its place in the text, without checks."""
    leaf = unchecked_leaf(tag, word)
    _set_place(leaf, place)
    return leaf


def place_of(leaf: Leaf) -> Place | None:
    """Where the word stands in its text; None if that isn't known."""
    try:
        return leaf.place
    except AttributeError:
        return None


def real_words(words: Sequence[str]) -> tuple[str, ...]:
    """Words as leaves store them, with brackets unescaped. Raises TreeError for the first word that isn't valid."""
    text = "".join(words)
    if _NOT_IN_WORDS.search(text) or not all(words):
        number, word = next((n, w) for n, w in enumerate(words, 1) if not w or _NOT_IN_WORDS.search(w))
        raise TreeError(f"word {number}, {word!r}, is empty or contains spaces or characters that aren't text")
    if "-" in text and _BRACKETS.search(text):
        return tuple(unescape(escape(word)) for word in words)
    return tuple(words)


def check_tags(tags: Sequence[str]) -> None:
    """Raises TreeError for the first tag that isn't valid."""
    if NOT_IN_SYMBOLS.search("".join(tags)) or not all(tags):
        number, tag = next((n, t) for n, t in enumerate(tags, 1) if not t or NOT_IN_SYMBOLS.search(t))
        raise TreeError(f"tag {number}, {tag!r}, is empty or contains spaces or brackets")


def unescape(word: str) -> str:
    """The real text of a word in a treebank: ``-LRB-`` becomes ``(``, also inside a word."""
    return _ESCAPED.sub(lambda match: BRACKET_ESCAPES[match[0]], word) if "-" in word else word


def escape(word: str) -> str:
    """A word as treebanks write it: brackets become ``-LRB-``, ``-RRB-``, ``-LCB-``, ``-RCB-``."""
    for escaped, bracket in BRACKET_ESCAPES.items():
        if bracket in word:
            word = word.replace(bracket, escaped)
    return word
