"""Phrase-structure trees: immutable and n-ary. A ``Leaf`` is a word with its tag, a ``Tree`` is a labelled phrase."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import repeat
from typing import TYPE_CHECKING, Any, Final, NoReturn, Protocol, TypeAlias

from fencepost.errors import EmptyNodeError, MismatchError, TreeError, UsageError

if TYPE_CHECKING:
    import nltk

BRACKET_ESCAPES: Final = {"-LRB-": "(", "-RRB-": ")", "-LCB-": "{", "-RCB-": "}"}
_ESCAPED = re.compile("|".join(BRACKET_ESCAPES))
_BRACKETS = re.compile(r"[(){}]|" + _ESCAPED.pattern)
NOT_TEXT: Final = re.compile("[\0\ud800-\udfff]")  # NUL, and surrogates, which UTF-8 can't encode
_NOT_IN_SYMBOLS = re.compile("[\\s()\0\ud800-\udfff]")
_NOT_IN_WORDS = re.compile("[\\s\0\ud800-\udfff]", re.ASCII)


class _Immutable:
    __slots__ = ()

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a {type(self).__name__} can't be changed; build a new one")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a {type(self).__name__} can't be changed; build a new one")

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: object) -> Any:
        return self


class HasOffsets(Protocol):
    """Anything with a start and an end in a text, such as a token."""

    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...


class Leaf(_Immutable):
    """A word and its part-of-speech tag. The word is real text: Penn escapes such as -LRB- are undone."""

    __slots__ = ("tag", "word")
    tag: str
    word: str

    def __init__(self, tag: str, word: str) -> None:
        if not tag or _NOT_IN_SYMBOLS.search(tag):
            raise TreeError(f"a tag must be one symbol without spaces or brackets, got {tag!r}")
        if not word or _NOT_IN_WORDS.search(word):
            raise TreeError(f"a word must not be empty or contain spaces, got {word!r}", hint="write _ for a space")
        _set_tag(self, tag)
        # Escaped first, so that printing and reading agree even on a word such as "-LRB(".
        _set_word(self, unescape(escape(word)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Leaf) and self.tag == other.tag and self.word == other.word

    def __hash__(self) -> int:
        return hash((self.tag, self.word))

    def __repr__(self) -> str:
        return f"Leaf({self.tag!r}, {self.word!r})"

    def __str__(self) -> str:
        return f"({self.tag} {escape(self.word)})"

    def __reduce__(self) -> tuple[object, ...]:
        return (Leaf, (self.tag, self.word))


class TreeSource(Protocol):
    """What a tree is built from when something asks for its label or its children."""

    def build(self) -> Tree: ...
    def text(self) -> str:
        """The tree in Penn brackets."""
        ...

    def words(self) -> list[str]: ...
    def tags(self) -> list[str]: ...


class Tree(_Immutable):
    """A phrase: a label over one or more children, each a ``Tree`` or a ``Leaf``.

    A parser's trees are built when they are first looked into. Printing them needs no nodes.
    """

    __slots__ = ("_source", "children", "label")
    _source: TreeSource  # only until the tree is built; most trees never have one
    label: str
    children: tuple[Node, ...]

    def __init__(self, label: str, children: Iterable[Node]) -> None:
        if not label or _NOT_IN_SYMBOLS.search(label):
            raise TreeError(f"a label must be one symbol without spaces or brackets, got {label!r}")
        children = tuple(children)
        if not children:
            raise EmptyNodeError(f"a phrase must have at least one child; {label} has none")
        for child in children:
            if not isinstance(child, (Tree, Leaf)):
                raise TreeError(f"a child is a Tree or a Leaf, got {child!r} under {label}")
        _set_label(self, label)
        _set_children(self, children)

    if not TYPE_CHECKING:  # for mypy this method would make every attribute valid

        def __getattr__(self, name: str) -> object:
            """Python calls this for a slot that is empty: the tree hasn't been built yet."""
            if name not in ("label", "children"):
                raise AttributeError(f"a Tree has no {name}")
            _build(self)
            return object.__getattribute__(self, name)

    @staticmethod
    def from_string(text: str) -> Tree:
        """Reads one tree in Penn brackets."""
        from fencepost.trees.brackets import parse_tree

        return parse_tree(text)

    @staticmethod
    def from_nltk(tree: nltk.Tree) -> Tree:
        from fencepost.integrations.nltk import from_nltk

        return from_nltk(tree)

    def to_nltk(self) -> nltk.Tree:
        from fencepost.integrations.nltk import to_nltk

        return to_nltk(self)

    def walk(self) -> Iterator[Node]:
        """This phrase and all nodes below it, leaves included, each before its children."""
        stack: list[Node] = [self]
        while stack:
            node = stack.pop()
            yield node
            if type(node) is Tree:
                stack.extend(reversed(node.children))

    def subtrees(self, label: str | None = None) -> Iterator[Tree]:
        """The phrases of this tree, or only those with a label: ``tree.subtrees("NP")``."""
        return (node for node in self.walk() if type(node) is Tree and (label is None or node.label == label))

    def leaves(self) -> list[Leaf]:
        return [node for node in self.walk() if type(node) is Leaf]

    def words(self) -> list[str]:
        source = _source_of(self)
        return [leaf.word for leaf in self.leaves()] if source is None else source.words()

    def tags(self) -> list[str]:
        source = _source_of(self)
        return [leaf.tag for leaf in self.leaves()] if source is None else source.tags()

    def spans(self) -> list[tuple[str, int, int]]:
        """(label, start, end) of every phrase, outer before inner: ``words()[start:end]`` are its words."""
        found: list[tuple[str, int, int]] = []
        stack: list[Node | int] = [self]  # a number closes the phrase with that index in ``found``
        words = 0
        while stack:
            node = stack.pop()
            if isinstance(node, int):
                label, start, _ = found[node]
                found[node] = label, start, words
            elif isinstance(node, Tree):
                stack.append(len(found))
                stack.extend(reversed(node.children))
                found.append((node.label, words, words))
            else:
                words += 1
        return found

    def characters(self, tokens: Sequence[HasOffsets]) -> list[tuple[str, int, int]]:
        """``spans`` counted in characters. ``tokens`` give each word's start and end, as in a ``TextSentence``."""
        spans = self.spans()
        if len(tokens) != spans[0][2]:
            raise MismatchError(f"{spans[0][2]} words but {len(tokens)} tokens")
        return [(label, tokens[start].start, tokens[end - 1].end) for label, start, end in spans]

    def pretty(self, width: int | None = None) -> str:
        """A drawing for a terminal, or indented brackets if it would be wider than ``width`` or the terminal."""
        from fencepost.drawing.terminal import pretty

        return pretty(self, width)

    def to_svg(self) -> str:
        """A drawing as SVG."""
        from fencepost.drawing.svg import to_svg

        return to_svg(self)

    def _repr_svg_(self) -> str:
        return self.to_svg()  # notebooks call this method

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        pairs: list[tuple[Node, Node]] = [(self, other)]
        while pairs:
            mine, theirs = pairs.pop()
            if mine is theirs:
                continue
            if isinstance(mine, Tree) and isinstance(theirs, Tree):
                if mine.label != theirs.label or len(mine.children) != len(theirs.children):
                    return False
                pairs.extend(zip(mine.children, theirs.children, strict=True))
            elif mine != theirs:
                return False
        return True

    def __hash__(self) -> int:
        return hash(str(self))

    def __str__(self) -> str:
        from fencepost.trees.brackets import format_tree

        source = _source_of(self)
        return format_tree(self) if source is None else source.text()

    def __repr__(self) -> str:
        return f"Tree.from_string({str(self)!r})"

    def __reduce__(self) -> tuple[object, ...]:
        # As text: pickling node by node would hit the recursion limit on deep trees.
        return (_from_pickle, (str(self),))


Node: TypeAlias = Tree | Leaf

# Trees refuse assignment, so the slots' own setters fill new ones.
_set_tag = Leaf.__dict__["tag"].__set__
_set_word = Leaf.__dict__["word"].__set__
_set_label = Tree.__dict__["label"].__set__
_set_children = Tree.__dict__["children"].__set__
_SOURCE: Final = Tree.__dict__["_source"]
_new = object.__new__
_exhaust = deque[None](maxlen=0).extend


def unchecked_tree(label: str, children: tuple[Node, ...]) -> Tree:
    """``Tree(label, children)`` without checks, for the reader and the decoder, whose labels and children are valid."""
    tree = _new(Tree)
    _set_label(tree, label)
    _set_children(tree, children)
    return tree


def unbuilt_tree(source: TreeSource) -> Tree:
    """A tree that builds itself when its label or its children are first looked at."""
    tree = _new(Tree)
    _SOURCE.__set__(tree, source)
    return tree


def _source_of(tree: Tree) -> TreeSource | None:
    """What a tree will be built from; None if it is built."""
    try:
        source: TreeSource = _SOURCE.__get__(tree)
    except AttributeError:
        return None
    return source


def _build(tree: Tree) -> None:
    # Several threads may come here at once: each builds the same nodes, and the source goes last.
    source = _source_of(tree)
    if source is not None:
        built = source.build()
        _set_label(tree, built.label)
        _set_children(tree, built.children)
        with suppress(AttributeError):
            _SOURCE.__delete__(tree)


def _from_pickle(text: str) -> Tree:
    from fencepost.trees.brackets import BracketText

    return unbuilt_tree(BracketText(text))


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


def as_tree(tree: Tree | nltk.Tree) -> Tree:
    """The tree itself, or an NLTK tree converted to our type."""
    if isinstance(tree, Tree):
        return tree
    if any(kind.__module__.startswith("nltk.") for kind in type(tree).__mro__):
        return Tree.from_nltk(tree)
    raise UsageError(f"expected a tree, got {tree!r}")


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
    if _NOT_IN_SYMBOLS.search("".join(tags)) or not all(tags):
        number, tag = next((n, t) for n, t in enumerate(tags, 1) if not t or _NOT_IN_SYMBOLS.search(t))
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
