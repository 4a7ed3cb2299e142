"""The constituents of a spaCy ``Doc``: how they are kept in it, and what ``Span._`` and ``Token._`` say about them."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from spacy.tokens import Doc, Span, Token

from fencepost.errors import FencepostError, UsageError
from fencepost.parsing.chunk_parser import UNTAGGED
from fencepost.parsing.confidence import Constituent
from fencepost.trees.brackets import DEFAULT_ROOT
from fencepost.trees.spans import nest
from fencepost.trees.tree import NOT_TEXT, Leaf, escape, unchecked_leaf

KEY: Final = "fencepost"  # in Doc.user_data, which DocBin and other processes pass on
_BLANK: Final = re.compile(r"\s")


class NonConstituentError(FencepostError):
    """A span that is no constituent of its sentence was asked about its place in the tree."""


@dataclass
class Constituents:
    """All constituents of a document, each before those inside it, in plain lists that can be stored.

    Places are those of tokens, half-open. A sentence is always a constituent, a bare word never is one here.
    """

    tokens: list[int]  # where they began in the text when it was parsed, and where the last one ended
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)  # places in these lists; -1 for a sentence
    labels: list[list[str]] = field(default_factory=list)  # of a unary chain, from the top
    probabilities: list[list[float]] = field(default_factory=list)  # of each label; none if nobody asked

    @classmethod
    def of(cls, doc: Doc) -> Constituents:
        found = doc.user_data.get(KEY)
        if found is None:
            raise UsageError("this document was not parsed", hint='nlp.add_pipe("fencepost")')
        known = cls(**found)
        if not isinstance(known.tokens, Sequence) or len(known.tokens) != len(doc) + 1:
            raise _changed()
        return known

    def save(self, doc: Doc) -> None:
        doc.user_data[KEY] = vars(self)

    def add(self, words: Sequence[int], parts: Sequence[Constituent]) -> None:
        """The constituents of the next sentence, which count ``words``: the places of its tokens without blanks."""
        chains: dict[tuple[int, int], list[Constituent]] = {(0, len(words)): []}
        for part in parts:
            chains.setdefault((part.start, part.end), []).append(part)
        around: list[int] = []
        for (first, last), chain in chains.items():
            start, end = words[first], words[last - 1] + 1
            while around and self.ends[around[-1]] <= start:
                around.pop()
            self.parents.append(around[-1] if around else -1)
            around.append(len(self.starts))
            self.starts.append(start)
            self.ends.append(end)
            self.labels.append([part.label for part in chain])
            self.probabilities.append([part.probability for part in chain if part.probability is not None])

    def require(self, doc: Doc, start: int, end: int) -> None:
        """Refuses tokens that are not those that were parsed."""
        # The lists of a document that was stored come back as tuples.
        if list(self.tokens[start : end + 1]) != token_places(doc, start, end):
            raise _changed()

    def find(self, start: int, end: int) -> int | None:
        first, last = bisect_left(self.starts, start), bisect_right(self.starts, start)
        return next((place for place in range(first, last) if self.ends[place] == end), None)

    def around_word(self, token: int) -> int:
        """The smallest constituent with this token in it; -1 if there is none."""
        place = bisect_right(self.starts, token) - 1
        while place >= 0 and self.ends[place] <= token:
            place = self.parents[place]
        return place


@dataclass(frozen=True)
class Phrase:
    """A constituent of a document, or a bare word (``place`` is None)."""

    doc: Doc
    known: Constituents
    start: int
    end: int
    place: int | None

    @classmethod
    def of(cls, span: Span) -> Phrase | None:
        """What a span stands for, whatever blanks are around it; nothing if there are only blanks."""
        words = [token.i for token in span if is_word(token)]
        if not words:
            return None
        found = Constituents.of(span.doc)
        start, end = words[0], words[-1] + 1
        found.require(span.doc, start, end)
        place = found.find(start, end)
        if place is None and len(words) > 1:
            raise NonConstituentError(
                f"not a constituent: {span.text}", hint="begin at a sentence (doc.sents) or at a token"
            )
        return cls(span.doc, found, start, end, place)

    def parent(self) -> Span | None:
        place = self.known.around_word(self.start) if self.place is None else self.known.parents[self.place]
        if place < 0:
            return None
        start, end = self.known.starts[place], self.known.ends[place]
        self.known.require(self.doc, start, end)
        return self.doc[start:end]

    def children(self) -> Iterator[Span]:
        if self.place is None or self.end - self.start == 1:
            return
        position, place = self.start, self.place + 1
        while position < self.end:
            end = position + 1
            if place < len(self.known.starts) and self.known.starts[place] == position:
                end = self.known.ends[place]
                place = bisect_left(self.known.starts, end)
                yield self.doc[position:end]
            elif is_word(self.doc[position]):
                yield self.doc[position:end]
            position = end

    def parse_string(self) -> str:
        words = [token for token in self.doc[self.start : self.end] if is_word(token)]
        leaves = [_leaf(token) for token in words]
        if self.place is None:
            return str(leaves[0])
        number = {token.i: place for place, token in enumerate(words)}
        inside = slice(self.place, bisect_left(self.known.starts, self.end, self.place))
        return str(
            nest(
                leaves,
                [number[start] for start in self.known.starts[inside]],
                [number[end - 1] + 1 for end in self.known.ends[inside]],
                [tuple(labels) for labels in self.known.labels[inside]],
                root=None if self.known.labels[self.place] else DEFAULT_ROOT,
            )
        )


def token_places(doc: Doc, start: int, end: int) -> list[int]:
    """Where these tokens begin in the text, and the one after them; of the last of all also where it ends."""
    places = [token.idx for token in doc[start : end + 1]]
    if end == len(doc):
        places.append(doc[-1].idx + len(doc[-1]) if places else 0)
    return places


def _changed() -> UsageError:
    return UsageError(
        "the tokens of this document have changed since it was parsed",
        hint="put fencepost after components that merge or split tokens",
    )


def is_word(token: Token) -> bool:
    return bool(token.text.strip())


def word_of(text: str) -> str:
    """A token as a word of a tree, which has no blanks."""
    return NOT_TEXT.sub("\ufffd", _BLANK.sub("_", text))


def tag_of(token: Token) -> str:
    """The token's tag as one of a tree, which has neither blanks nor brackets; empty if it has none."""
    return escape(word_of(token.tag_))


def _leaf(token: Token) -> Leaf:
    return unchecked_leaf(tag_of(token) or UNTAGGED, word_of(token.text))


def labels(span: Span) -> tuple[str, ...]:
    phrase = Phrase.of(span)
    return () if phrase is None or phrase.place is None else tuple(phrase.known.labels[phrase.place])


def probabilities(span: Span) -> tuple[float, ...]:
    phrase = Phrase.of(span)
    return () if phrase is None or phrase.place is None else tuple(phrase.known.probabilities[phrase.place])


def parse_string(span: Span) -> str:
    phrase = Phrase.of(span)
    return "" if phrase is None else phrase.parse_string()


def parent(span: Span) -> Span | None:
    phrase = Phrase.of(span)
    return None if phrase is None else phrase.parent()


def children(span: Span) -> Iterator[Span]:
    phrase = Phrase.of(span)
    return iter(()) if phrase is None else phrase.children()


def constituents(span: Span) -> Iterator[Span]:
    """The span and all below it, words included, each before its children."""
    phrase = Phrase.of(span)
    stack = [] if phrase is None else [phrase.doc[phrase.start : phrase.end]]
    return _walk(stack)


def _walk(stack: list[Span]) -> Iterator[Span]:
    while stack:
        span = stack.pop()
        yield span
        stack.extend(reversed(list(children(span))))


def register() -> None:
    """Makes the properties known to spaCy. Those of benepar have the same names, and give way."""
    for getter in (labels, probabilities, parse_string, parent, children, constituents):
        Span.set_extension(getter.__name__, getter=getter, force=True)
    for getter in (labels, probabilities, parse_string, parent):
        Token.set_extension(getter.__name__, getter=partial(_of_token, getter), force=True)


def _of_token(getter: Callable[[Span], object], token: Token) -> object:
    return getter(token.doc[token.i : token.i + 1])
