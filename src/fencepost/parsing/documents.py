"""Documents: a text with its parsed sentences. All positions count characters of the document's text.

``Parser.parse_document`` and ``Parser.pipe`` make documents. ``to_dict`` and ``from_dict`` turn them into data for JSON
and back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

from fencepost.errors import InputError, MismatchError
from fencepost.text.stream import TextSentence, spaces_between
from fencepost.trees.tree import Tree
from fencepost.trees.tree_list import Trees
from fencepost.trees.treebank import Sentence

if TYPE_CHECKING:
    from fencepost.parsing.confidence import Constituent


class TaggedToken(NamedTuple):
    """A word or punctuation mark: ``document.text[start:end] == text``. In its tree, quotes are Penn's."""

    text: str
    start: int
    end: int
    tag: str


@dataclass(frozen=True, repr=False)
class ParsedSentence(Sentence):
    """A sentence of a document: a ``Sentence`` that also knows its place in the text, its tree and the tree's score.

    ``document.text[start:end] == text``. ``words`` and ``tags`` are those of the tree, one for each token.
    """

    text: str = field(kw_only=True)
    start: int = field(kw_only=True)
    tokens: tuple[TaggedToken, ...] = field(kw_only=True)
    tree: Tree = field(kw_only=True)
    score: float = field(kw_only=True)  # of the tree; higher is better among trees of the same sentence
    analyzed: tuple[Constituent, ...] | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        """Nothing is checked here: parsers make valid sentences, and ``from_dict`` checks what it reads."""

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @cached_property
    def constituents(self) -> tuple[Constituent, ...]:
        """The phrases of the tree below its root symbol, outer before inner; ``start`` and ``end`` count tokens.

        They have probabilities or functions if the document was parsed with ``probabilities=True``, ``functions=True``.
        """
        return _constituents(self.tree) if self.analyzed is None else self.analyzed

    def to_dict(self) -> dict[str, Any]:
        """The sentence as plain data."""
        return {
            "text": self.text,
            "start": self.start,
            "end": self.end,
            "tokens": [token._asdict() for token in self.tokens],
            "tree": str(self.tree),
            "score": self.score,
            "constituents": [_plain(part) for part in self.constituents],
        }

    def __repr__(self) -> str:
        return f"ParsedSentence({self.text!r}, start={self.start}, tree={str(self.tree)!r})"

    def _repr_svg_(self) -> str:
        return self.tree.to_svg()  # notebooks call this method


@dataclass(frozen=True, repr=False)
class Document:
    """A text and its sentences, in order. Only whitespace lies outside the sentences.

    >>> import fencepost
    >>> document = fencepost.load().parse_document("Dogs bark.  Cats don't.")
    >>> [sentence.text for sentence in document.sentences]
    ['Dogs bark.', "Cats don't."]
    >>> second = document.sentences[1]
    >>> second.start, second.end, document.text[second.start : second.end]
    (12, 23, "Cats don't.")
    >>> second.tokens[2]
    TaggedToken(text="n't", start=19, end=22, tag='RB')
    >>> print(second.tree)
    (TOP (S (NP (NNS Cats)) (VP (VBP do) (RB n't)) (. .)))
    >>> [(phrase.label, phrase.text, phrase.offsets) for phrase in second.tree.subtrees("NP", "VP")]
    [('NP', 'Cats', (12, 16)), ('VP', "don't", (17, 22))]
    """

    text: str
    sentences: tuple[ParsedSentence, ...]

    @property
    def trees(self) -> Trees:
        """The tree of each sentence."""
        return Trees(sentence.tree for sentence in self.sentences)

    def to_dict(self) -> dict[str, Any]:
        """The document as plain data, for ``json.dumps``. ``from_dict`` makes an equal document of it."""
        return {"text": self.text, "sentences": [sentence.to_dict() for sentence in self.sentences]}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Document:
        """The document that ``to_dict`` wrote. Raises InputError if the data isn't a document or contradicts itself.

        >>> document = Document.from_dict({"text": " ", "sentences": []})
        >>> Document.from_dict(document.to_dict()) == document
        True
        """
        try:
            text = _a(str, data["text"])
            return cls(text, tuple(_read_sentences(text, data["sentences"])))
        except (KeyError, TypeError, AttributeError, IndexError) as error:
            raise InputError(
                f"this isn't a document: {type(error).__name__}: {error}", hint="from_dict reads what to_dict wrote"
            ) from error

    def __repr__(self) -> str:
        count = len(self.sentences)
        return f"Document of {count} sentence{'s' * (count != 1)}: {self.text[:50]!r}"

    def _repr_html_(self) -> str:
        from fencepost.drawing.html import Drawing, notebook_drawings

        return notebook_drawings(Drawing(sentence.text, sentence.tree) for sentence in self.sentences)


def parsed_sentence(
    found: TextSentence, tree: Tree, score: float, analyzed: tuple[Constituent, ...] | None = None
) -> ParsedSentence:
    """A sentence of a document, from its place in the text and its tree."""
    tags, shift = tree.tags(), found.offset
    tokens = tuple(
        TaggedToken(text, shift + start, shift + end, tag)
        for (text, start, end, _), tag in zip(found.tokens, tags, strict=True)
    )
    return _sentence(found.text, shift, tokens, tree.placed(found.text, found.tokens, shift), score, analyzed)


def _sentence(
    text: str,
    start: int,
    tokens: tuple[TaggedToken, ...],
    tree: Tree,
    score: float,
    analyzed: tuple[Constituent, ...] | None,
) -> ParsedSentence:
    words, tags = tuple(tree.words()), tuple(token.tag for token in tokens)
    spaces = spaces_between(tokens)
    return ParsedSentence(
        words, tags, spaces=spaces, text=text, start=start, tokens=tokens, tree=tree, score=score, analyzed=analyzed
    )


def _constituents(tree: Tree) -> tuple[Constituent, ...]:
    from fencepost.parsing.confidence import without_probabilities  # here: most programs only need trees

    return without_probabilities(tree, 0.0).constituents


def _plain(part: Constituent) -> dict[str, Any]:
    plain: dict[str, Any] = {"label": part.label, "start": part.start, "end": part.end}
    if part.probability is not None:
        plain["probability"] = part.probability
    if part.function_probability is not None:
        plain |= {"function": part.function, "function_probability": part.function_probability}
    return plain


def _read_sentences(text: str, sentences: Sequence[Mapping[str, Any]]) -> Iterator[ParsedSentence]:
    last = 0  # the end of the sentence before
    for number, data in enumerate(sentences, 1):
        tokens = tuple(TaggedToken(**token) for token in data["tokens"])
        tree = Tree.from_string(data["tree"])
        where = f"sentence {number} of the document"
        for what, start, end in ((data["text"], data["start"], data["end"]), *(token[:3] for token in tokens)):
            if start < 0 or text[start:end] != what or len(what) != end - start:
                raise MismatchError(f"{where}: {what!r} isn't the text from {start} to {end}")
        _require_only_blanks(text, last, data["start"], f"before {where}")
        last = data["end"]
        bounds = [data["start"], *(place for token in tokens for place in (token.start, token.end)), last]
        if bounds != sorted(bounds):
            raise MismatchError(f"{where}: its tokens are out of order, or outside it")
        if tree.tags() != [token.tag for token in tokens]:
            raise MismatchError(f"{where}: the tags of the tree differ from those of the tokens")
        placed = tree.placed(text, tokens)
        score = float(_a((int, float), data["score"]))
        if not isfinite(score):
            raise MismatchError(f"{where}: its score is {score}, which isn't finite")
        constituents = _read_constituents(data)
        if constituents is not None and not _agree(constituents, _constituents(placed)):
            raise MismatchError(f"{where}: its constituents differ from those of its tree")
        yield _sentence(data["text"], data["start"], tokens, placed, score, constituents)
    _require_only_blanks(text, last, len(text), "after the last sentence")


def _agree(constituents: Sequence[Constituent], of_tree: Sequence[Constituent]) -> bool:
    """True if they are the same; the labels in the tree may have functions."""
    return len(constituents) == len(of_tree) and all(
        (one.start, one.end) == (other.start, other.end) and f"{other.label}-".startswith(f"{one.label}-")
        for one, other in zip(constituents, of_tree, strict=True)
    )


def _require_only_blanks(text: str, start: int, end: int, where: str) -> None:
    if end < start:
        raise MismatchError(f"{where}: sentences overlap, or are not in order")
    if rest := text[start:end].strip():
        raise MismatchError(f"{where}: {rest[:50]!r} is not part of any sentence")


def _read_constituents(data: Mapping[str, Any]) -> tuple[Constituent, ...] | None:
    from fencepost.parsing.confidence import Constituent  # here: most programs only need trees

    found = tuple(Constituent(**part) for part in data["constituents"])
    for part in found:
        _a(str, part.label), _a(int, part.start), _a(int, part.end)
        for number in (part.probability, part.function_probability):
            if _a((int, float, type(None)), number) is not None and not 0 <= number <= 1:  # type: ignore[operator]
                raise MismatchError(f"{number} isn't a probability")
    says_more = any(part.probability is not None or part.function_probability is not None for part in found)
    return found if says_more else None  # otherwise the tree says it all


def _a(kind: type[Any] | tuple[type[Any], ...], value: Any) -> Any:
    """The value, if it is of this kind; True and False don't count as numbers."""
    if not isinstance(value, kind) or isinstance(value, bool):
        raise TypeError(f"{value!r:.50} is of the wrong type")
    return value
