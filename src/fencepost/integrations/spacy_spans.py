"""The constituents of a spaCy ``Doc``: how they are stored in it, and the extensions of ``Span._`` and ``Token._``."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from spacy.tokens import Doc, Span, Token

from fencepost.errors import FencepostError, UsageError
from fencepost.parsing.confidence import Constituent
from fencepost.parsing.parsed_batch import UNTAGGED
from fencepost.trees.brackets import DEFAULT_ROOT
from fencepost.trees.spans import nest
from fencepost.trees.tree import NOT_TEXT, Leaf, escape, unchecked_leaf

KEY: Final = "fencepost"  # in Doc.user_data, which survives DocBin and multiprocessing
_BLANK: Final = re.compile(r"\s")


class NonConstituentError(FencepostError):
    """A span that isn't a constituent has no position in the tree."""


@dataclass
class Constituents:
    """All constituents of a document, outer before inner, in plain lists that can be stored.

    Starts and ends count tokens, half-open. Here, a sentence is always a constituent, and a bare word never is.
    """

    tokens: list[int]  # character offsets of the tokens that were parsed, and the end of the last one
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)  # indices into these lists; -1 for a sentence
    labels: list[list[str]] = field(default_factory=list)  # of a unary chain, from the top
    probabilities: list[list[float]] = field(default_factory=list)  # of each label; empty if they were not asked for
    functions: list[list[tuple[str | None, float]]] = field(default_factory=list)  # likewise, with their probabilities

    @classmethod
    def of(cls, doc: Doc) -> Constituents:
        stored = doc.user_data.get(KEY)
        if stored is None:
            raise UsageError("this document was not parsed", hint='nlp.add_pipe("fencepost")')
        constituents = cls(**stored)
        if not isinstance(constituents.tokens, Sequence) or len(constituents.tokens) != len(doc) + 1:
            raise _changed()
        return constituents

    def save(self, doc: Doc) -> None:
        doc.user_data[KEY] = vars(self)

    def add(self, words: Sequence[int], parts: Sequence[Constituent]) -> None:
        """Adds the next sentence. Its constituents count ``words``: the indices of its tokens except whitespace."""
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
            self.functions.append(
                [(part.function, part.function_probability) for part in chain if part.function_probability is not None]
            )

    def spans(self, doc: Doc) -> list[Span]:
        """A span for each label, outer before inner, with its function where that was asked for."""
        spans = []
        for index, labels in enumerate(self.labels):
            functions = [name for name, _ in self.functions[index]] or [None] * len(labels)
            names = [f"{label}-{name}" if name else label for label, name in zip(labels, functions, strict=True)]
            spans += [Span(doc, self.starts[index], self.ends[index], label=name) for name in names]
        return spans

    def require(self, doc: Doc, start: int, end: int) -> None:
        """Raises UsageError if these tokens are not the ones that were parsed."""
        # The lists of a stored document come back as tuples.
        if list(self.tokens[start : end + 1]) != token_offsets(doc, start, end):
            raise _changed()

    def find(self, start: int, end: int) -> int | None:
        first, last = bisect_left(self.starts, start), bisect_right(self.starts, start)
        return next((index for index in range(first, last) if self.ends[index] == end), None)

    def around_word(self, token: int) -> int:
        """The index of the smallest constituent that contains this token; -1 if none does."""
        index = bisect_right(self.starts, token) - 1
        while index >= 0 and self.ends[index] <= token:
            index = self.parents[index]
        return index


@dataclass(frozen=True)
class Phrase:
    """A constituent of a document, or a bare word (``index`` is None)."""

    doc: Doc
    parse: Constituents
    start: int
    end: int
    index: int | None  # in the lists of ``parse``

    @classmethod
    def of(cls, span: Span) -> Phrase | None:
        """The phrase of a span, ignoring whitespace around it; None if the span is only whitespace."""
        words = [token.i for token in span if is_word(token)]
        if not words:
            return None
        parse = Constituents.of(span.doc)
        start, end = words[0], words[-1] + 1
        parse.require(span.doc, start, end)
        index = parse.find(start, end)
        if index is None and len(words) > 1:
            raise NonConstituentError(
                f"not a constituent: {span.text}", hint="start from a sentence (doc.sents) or a token"
            )
        return cls(span.doc, parse, start, end, index)

    def parent(self) -> Span | None:
        parent = self.parse.around_word(self.start) if self.index is None else self.parse.parents[self.index]
        if parent < 0:
            return None
        start, end = self.parse.starts[parent], self.parse.ends[parent]
        self.parse.require(self.doc, start, end)
        return self.doc[start:end]

    def children(self) -> Iterator[Span]:
        if self.index is None or self.end - self.start == 1:
            return
        position, child = self.start, self.index + 1
        while position < self.end:
            end = position + 1
            if child < len(self.parse.starts) and self.parse.starts[child] == position:
                end = self.parse.ends[child]
                child = bisect_left(self.parse.starts, end)
                yield self.doc[position:end]
            elif is_word(self.doc[position]):
                yield self.doc[position:end]
            position = end

    def parse_string(self) -> str:
        words = [token for token in self.doc[self.start : self.end] if is_word(token)]
        leaves = [_leaf(token) for token in words]
        if self.index is None:
            return str(leaves[0])
        number = {token.i: position for position, token in enumerate(words)}
        inside = slice(self.index, bisect_left(self.parse.starts, self.end, self.index))
        return str(
            nest(
                leaves,
                [number[start] for start in self.parse.starts[inside]],
                [number[end - 1] + 1 for end in self.parse.ends[inside]],
                [tuple(labels) for labels in self.parse.labels[inside]],
                root=None if self.parse.labels[self.index] else DEFAULT_ROOT,
            )
        )


def token_offsets(doc: Doc, start: int, end: int) -> list[int]:
    """The character offsets of these tokens and of the next one, or the end of the last token of the document."""
    offsets = [token.idx for token in doc[start : end + 1]]
    if end == len(doc):
        offsets.append(doc[-1].idx + len(doc[-1]) if offsets else 0)
    return offsets


def _changed() -> UsageError:
    return UsageError(
        "the tokens of this document have changed since it was parsed",
        hint="put fencepost after components that merge or split tokens",
    )


def is_word(token: Token) -> bool:
    return bool(token.text.strip())


def word_of(text: str) -> str:
    """A token as a word of a tree, which can't contain whitespace."""
    return NOT_TEXT.sub("\ufffd", _BLANK.sub("_", text))


def tag_of(token: Token) -> str:
    """The token's tag as a tag of a tree, without whitespace or brackets; empty if the token has no tag."""
    return escape(word_of(token.tag_))


def _leaf(token: Token) -> Leaf:
    return unchecked_leaf(tag_of(token) or UNTAGGED, word_of(token.text))


def labels(span: Span) -> tuple[str, ...]:
    phrase = Phrase.of(span)
    return () if phrase is None or phrase.index is None else tuple(phrase.parse.labels[phrase.index])


def probabilities(span: Span) -> tuple[float, ...]:
    phrase = Phrase.of(span)
    return () if phrase is None or phrase.index is None else tuple(phrase.parse.probabilities[phrase.index])


def function(span: Span) -> str | None:
    """The grammatical function, such as SBJ; in a unary chain, that of the topmost label that has one."""
    return _function(span)[0]


def function_probability(span: Span) -> float | None:
    """The probability of the function, or of having none; None if functions were not asked for."""
    return _function(span)[1]


def _function(span: Span) -> tuple[str | None, float | None]:
    phrase = Phrase.of(span)
    # A document that was stored by an earlier version has no list of functions.
    if phrase is None or phrase.index is None or not phrase.parse.functions:
        return None, None
    chain = [*phrase.parse.functions[phrase.index]]
    name, probability = next((pair for pair in chain if pair[0] is not None), chain[0] if chain else (None, None))
    return name, probability


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
    """The span and everything below it, words included; parents come before their children."""
    phrase = Phrase.of(span)
    stack = [] if phrase is None else [phrase.doc[phrase.start : phrase.end]]
    return _walk(stack)


def _walk(stack: list[Span]) -> Iterator[Span]:
    while stack:
        span = stack.pop()
        yield span
        stack.extend(reversed(list(children(span))))


def register() -> None:
    """Registers the extensions with spaCy. They replace those of benepar, which have the same names."""
    for getter in (labels, probabilities, function, function_probability, parse_string, parent, children, constituents):
        Span.set_extension(getter.__name__, getter=getter, force=True)
    for getter in (labels, probabilities, function, function_probability, parse_string, parent):
        Token.set_extension(getter.__name__, getter=partial(_of_token, getter), force=True)


def _of_token(getter: Callable[[Span], object], token: Token) -> object:
    return getter(token.doc[token.i : token.i + 1])
