"""Rebuilds running text from the trees of a treebank, whose original text isn't available.

Marks of the treebank go (``Barn$ $ið`` is ``Barnið``, ``afin_de`` is ``afin de``, ``em o`` is ``no``), punctuation is
spaced as the language does it, and straight quotes become the language's own where they come in pairs. A paragraph has
the sentences of a document, at most SENTENCES, and ends after a sentence without final punctuation, such as a heading.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Final, NamedTuple

from fencepost.text.conventions import read_conventions
from fencepost.trees.tree import Tree

SENTENCES: Final = 10  # in a paragraph, where nothing tells documents apart
_NO_SPACE_BEFORE: Final = frozenset(".,;:?!)]}…%") | {"...", "..", "?!", "!!", "»", "°C", "…", "”", '"close'}
_NO_SPACE_AFTER: Final = frozenset("([{«¿¡") | {'"open'}
_FINAL: Final = frozenset(".!?…:;\"”»)'") | {"...", "。", "！", "？", "」", "』", "）"}


@dataclass(frozen=True)
class Spacing:
    """How a language writes what its treebank has."""

    quotes: tuple[str, str] = ('"', '"')
    before: frozenset[str] = field(default_factory=frozenset)  # signs that have a space before them after all
    left: frozenset[str] = frozenset()  # words that are written together with the one before them
    right: frozenset[str] = frozenset()  # and with the one after them
    spaces: bool = True
    clauses: bool = False  # sentences are main clauses, so most of them go on in the same paragraph


SPACING: Final = {
    "de": Spacing(("„", "“")),
    "es": Spacing(("«", "»")),
    "fo": Spacing(("„", "“"), clauses=True),
    "fr": Spacing(("« ", " »"), before=frozenset(":;!?")),
    "fro": Spacing(clauses=True),
    "id": Spacing(left=frozenset({"nya", "pun", "-", "'"}), right=frozenset({"-", "'"})),
    "is": Spacing(("„", "“")),
    "is-historical": Spacing(("„", "“"), clauses=True),
    "ja": Spacing(spaces=False),
    "nl": Spacing(("„", "”")),
    "pt": Spacing(("«", "»")),
    "sv": Spacing(("”", "”")),
}


class Word(NamedTuple):
    """A word as it is written, which may be empty: Portuguese ``à`` is two words."""

    text: str
    space: bool  # after it


def paragraphs(trees: Sequence[Tree], name: str, documents: Sequence[str] | None = None) -> Iterator[list[list[Word]]]:
    """The sentences of each paragraph."""
    paragraph: list[list[Word]] = []
    for index, tree in enumerate(trees):
        words = written(tree, name)
        paragraph.append(words)
        at_end = documents is not None and index + 1 < len(trees) and documents[index] != documents[index + 1]
        is_heading = not SPACING[name].clauses and words[-1].text not in _FINAL
        if at_end or is_heading or len(paragraph) >= SENTENCES:
            yield paragraph
            paragraph = []
    if paragraph:
        yield paragraph


def text_of(sentences: Sequence[Sequence[Word]], name: str) -> str:
    """A paragraph as running text."""
    between = " " if SPACING[name].spaces else ""
    return between.join("".join(text + " " * space for text, space in words).strip() for words in sentences)


def written(tree: Tree, name: str) -> list[Word]:
    """The words of a tree as they stand in a text."""
    spacing = SPACING[name]
    marks = _quote_marks(tree.words())
    words = [_plain(word, name) for word in marks]
    if name == "pt":
        words = _contracted(words)
    spaced = []
    for index, (mark, word) in enumerate(zip(marks, words, strict=True)):
        following = marks[index + 1] if index + 1 < len(marks) else ""
        spaced.append(Word(_quoted(word, spacing.quotes), _has_space(mark, following, spacing)))
    if name == "pt":
        for index in range(len(words) - 1):
            if (words[index], words[index + 1]) in _TOGETHER or not words[index + 1]:
                spaced[index] = Word(spaced[index].text, False)
    return spaced


def _has_space(word: str, following: str, spacing: Spacing) -> bool:
    if not spacing.spaces or (word.endswith(("$", "@")) and following.startswith(("$", "@"))):
        return False
    if following in spacing.left or word in spacing.right or following.startswith(("-il", "-ce", "-t-", "-elle")):
        return False
    if word.endswith("'") and len(word) > 1 and spacing.quotes[0] in ("« ", '"'):
        return False
    if word.endswith("-") and spacing.before and len(word) > 2:
        return False
    if word.endswith("-") and following in _PORTUGUESE_CLITICS:
        return False
    if following.startswith("-") and following[1:2].islower() and spacing.before:
        return False
    return not (following in _NO_SPACE_BEFORE and following not in spacing.before) and word not in _NO_SPACE_AFTER


def _quote_marks(words: Sequence[str]) -> list[str]:
    """The words, with straight quotes that open and close told apart where they come in pairs."""
    marks = list(words)
    places = [index for index, word in enumerate(words) if word == '"']
    if len(places) % 2 and places:
        is_last = places[-1] >= len(words) - 2
        marks[places[-1] if is_last else places[0]] = '"close' if is_last else '"open'
        places = places[:-1] if is_last else places[1:]
    for number, index in enumerate(places):
        marks[index] = '"close' if number % 2 else '"open'
    return marks


def _quoted(word: str, quotes: tuple[str, str]) -> str:
    return {'"open': quotes[0], '"close': quotes[1]}.get(word, word)


def _plain(word: str, name: str) -> str:
    if name in ("fo", "is-historical"):
        return word.strip("$") or word
    if name == "fro":
        return word.strip("@").replace("=", " ") or word
    if name == "pt":
        word = {"{": "(", "}": ")", '»"': "»"}.get(word, word)
    if name in ("fr", "es", "pt", "de") and len(word) > 1:
        return word.replace("'_", "'").replace("_", " ")
    return word


_PORTUGUESE_CLITICS: Final = frozenset(
    ["se", "me", "te", "lhe", "lhes", "nos", "vos", "lo", "la", "los", "las", "o", "a", "os", "as"]
)
_CUT: Final = read_conventions("pt").tokens.cut
_CONTRACTED: Final = {
    (first, second): (word[:place], word[place:]) for word, (place, first, second) in _CUT.items()
} | {("a", "a"): ("à", ""), ("a", "as"): ("às", "")}
_TOGETHER: Final = frozenset(_CONTRACTED.values())


def _contracted(words: list[str]) -> list[str]:
    words = list(words)
    for index in range(len(words) - 1):
        first, second = words[index], words[index + 1]
        if parts := _CONTRACTED.get((first.lower(), second)):
            words[index] = parts[0].capitalize() if first[0].isupper() else parts[0]
            words[index + 1] = parts[1]
    return words


class Splits(NamedTuple):
    """Where sentences end, and where tokens start and end, in characters without whitespace."""

    boundaries: set[int]
    tokens: set[tuple[int, int]]


def splits(sentences: Sequence[Sequence[str]]) -> Splits:
    boundaries: set[int] = set()
    tokens: set[tuple[int, int]] = set()
    done = 0
    for words in sentences:
        posts = list(accumulate((len("".join(word.split())) for word in words), initial=done))
        tokens.update(pairwise(posts))
        done = posts[-1]
        boundaries.add(done)
    return Splits(boundaries, tokens)
