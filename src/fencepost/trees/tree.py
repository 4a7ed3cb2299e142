"""Phrase-structure trees: immutable and n-ary. A ``Leaf`` is a word with its tag, a ``Tree`` is a labelled phrase."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, TypeAlias, overload

from fencepost.errors import EmptyNodeError, TreeError, UsageError
from fencepost.trees.leaf import BRACKET_ESCAPES as BRACKET_ESCAPES
from fencepost.trees.leaf import NOT_IN_SYMBOLS, Immutable, place_of
from fencepost.trees.leaf import NOT_TEXT as NOT_TEXT
from fencepost.trees.leaf import Leaf as Leaf
from fencepost.trees.leaf import check_tags as check_tags
from fencepost.trees.leaf import escape as escape
from fencepost.trees.leaf import real_words as real_words
from fencepost.trees.leaf import unchecked_leaf as unchecked_leaf
from fencepost.trees.leaf import unchecked_leaves as unchecked_leaves
from fencepost.trees.leaf import unescape as unescape

if TYPE_CHECKING:
    import nltk

    from fencepost.trees.clauses import Clause
    from fencepost.trees.heads import HeadRules
    from fencepost.trees.phrases import Dependency, Kind, Phrase

Path: TypeAlias = tuple[int, ...]


class HasOffsets(Protocol):
    """Anything with a start and an end in a text, such as a token."""

    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...


class TreeSource(Protocol):
    """What a tree is built from when something asks for its label or its children."""

    def build(self) -> Tree: ...
    def text(self) -> str:
        """The tree in Penn brackets."""
        ...

    def words(self) -> list[str]: ...
    def tags(self) -> list[str]: ...


class Tree(Immutable):
    """A phrase: a label over one or more children, each a ``Tree`` or a ``Leaf``.

    A parser's trees are built when they are first looked into. Printing them needs no nodes.

    >>> tree = Tree("S", [Tree("NP", [Leaf("DT", "The"), Leaf("NN", "cat")]), Tree("VP", [Leaf("VBD", "sat")])])
    >>> print(tree)
    (S (NP (DT The) (NN cat)) (VP (VBD sat)))
    >>> tree.label
    'S'
    >>> tree[0]
    Tree.from_string('(NP (DT The) (NN cat))')
    >>> tree[0, 1].word
    'cat'
    >>> [child.label for child in tree]
    ['NP', 'VP']
    >>> len(tree)
    2
    >>> tree[1] in tree
    True
    """

    __slots__ = ("_source", "children", "label")
    _source: TreeSource  # only until the tree is built; most trees never have one
    label: str
    children: tuple[Node, ...]

    def __init__(self, label: str, children: Iterable[Node]) -> None:
        if not label or NOT_IN_SYMBOLS.search(label):
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

    # Reading and writing

    @staticmethod
    def from_string(text: str) -> Tree:
        """Reads one tree in Penn brackets.

        >>> Tree.from_string("(NP (DT The) (NN cat))").words()
        ['The', 'cat']
        """
        from fencepost.trees.brackets import parse_tree

        return parse_tree(text)

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Tree:
        """The tree that ``to_dict`` made a dictionary of.

        >>> print(Tree.from_dict({"label": "NP", "children": [{"tag": "NNS", "word": "cats"}]}))
        (NP (NNS cats))
        """
        from fencepost.trees.rebuild import from_dict

        return from_dict(data)

    def to_dict(self) -> dict[str, Any]:
        """The tree as nested dictionaries, for JSON: phrases have a label and children, leaves a tag and a word.

        >>> Tree.from_string("(NP (NNS cats))").to_dict()
        {'label': 'NP', 'children': [{'tag': 'NNS', 'word': 'cats'}]}
        """
        from fencepost.trees.rebuild import to_dict

        return to_dict(self)

    @staticmethod
    def from_nltk(tree: nltk.Tree) -> Tree:
        """Converts an NLTK tree: ``Tree.from_nltk(nltk_tree)``."""
        from fencepost.integrations.nltk import from_nltk

        return from_nltk(tree)

    def to_nltk(self) -> nltk.Tree:
        """Converts to an NLTK tree: ``tree.to_nltk()``."""
        from fencepost.integrations.nltk import to_nltk

        return to_nltk(self)

    # Children

    @overload
    def __getitem__(self, index: int) -> Node: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Node, ...]: ...
    @overload
    def __getitem__(self, index: Path) -> Node: ...
    def __getitem__(self, index: int | slice | Path) -> Node | tuple[Node, ...]:
        if isinstance(index, str):
            hint = f"next(tree.subtrees({index!r})) is the first phrase with this label"
            raise UsageError(f"a tree is indexed by numbers and paths, not by the string {index!r}", hint=hint)
        if not isinstance(index, tuple):
            return self.children[index]
        node: Node = self
        for depth, step in enumerate(index):
            if not isinstance(node, Tree) or not -len(node.children) <= step < len(node.children):
                raise IndexError(f"the path {index} leaves the tree at step {depth + 1}")
            node = node.children[step]
        return node

    def __iter__(self) -> Iterator[Node]:
        return iter(self.children)

    def __len__(self) -> int:
        return len(self.children)

    def __contains__(self, node: object) -> bool:
        if isinstance(node, str):
            hint = f"any(tree.subtrees({node!r})) looks for a label, {node!r} in tree.words() for a word"
            raise UsageError(f"a tree contains trees and leaves, not the string {node!r}", hint=hint)
        return node in self.children

    # Nodes below

    def walk(self) -> Iterator[Node]:
        """This phrase and all nodes below it, leaves included, each before its children.

        >>> tree = Tree.from_string("(S (NP (NNS Cats)) (VP (VBP sleep)))")
        >>> [node.label if isinstance(node, Tree) else node.word for node in tree.walk()]
        ['S', 'NP', 'Cats', 'VP', 'sleep']
        """
        stack: list[Node] = [self]
        while stack:
            node = stack.pop()
            yield node
            if type(node) is Tree:
                stack.extend(reversed(node.children))

    def subtrees(self, *labels: str) -> Iterator[Tree]:
        """The phrases of this tree, itself included, or only those with one of the labels.

        >>> tree = Tree.from_string("(S (NP (NNS Cats)) (VP (VBP sleep)))")
        >>> [phrase.text for phrase in tree.subtrees("NP", "VP")]
        ['Cats', 'sleep']
        """
        for label in labels:
            if not isinstance(label, str):
                hint = 'tree.subtrees("NP", "VP"); with a list, tree.subtrees(*labels)'
                raise UsageError(f"subtrees takes labels one by one, not {label!r}", hint=hint)
        return (node for node in self.walk() if type(node) is Tree and (not labels or node.label in labels))

    def leaves(self) -> list[Leaf]:
        """The words with their tags.

        >>> Tree.from_string("(NP (DT The) (NN cat))").leaves()
        [Leaf('DT', 'The'), Leaf('NN', 'cat')]
        """
        return [node for node in self.walk() if type(node) is Leaf]

    def words(self) -> list[str]:
        """The words.

        >>> Tree.from_string("(NP (DT The) (NN cat))").words()
        ['The', 'cat']
        """
        source = _source_of(self)
        return [leaf.word for leaf in self.leaves()] if source is None else source.words()

    def tags(self) -> list[str]:
        """The part-of-speech tags of the words.

        >>> Tree.from_string("(NP (DT The) (NN cat))").tags()
        ['DT', 'NN']
        """
        source = _source_of(self)
        return [leaf.tag for leaf in self.leaves()] if source is None else source.tags()

    def height(self) -> int:
        """The number of levels from this phrase to its deepest word: the tag is one, the word another, as in NLTK.

        >>> Tree.from_string("(NP (DT The) (NN cat))").height()
        3
        """
        highest = depth = 0
        stack: list[Node | None] = [self]  # None closes a phrase
        while stack:
            node = stack.pop()
            if node is None:
                depth -= 1
            elif type(node) is Tree:
                depth += 1
                stack.append(None)
                stack.extend(reversed(node.children))
            else:
                highest = max(highest, depth + 2)
        return highest

    # Positions

    def paths(self) -> Iterator[Path]:
        """The path of every node in the order of ``walk``: ``tree[path]`` is the node, and ``()`` leads to the tree.

        >>> tree = Tree.from_string("(S (NP (NNS Cats)) (VP (VBP sleep)))")
        >>> list(tree.paths())
        [(), (0,), (0, 0), (1,), (1, 0)]
        """
        stack: list[tuple[Path, Node]] = [((), self)]
        while stack:
            path, node = stack.pop()
            yield path
            if type(node) is Tree:
                stack.extend([((*path, index), node.children[index]) for index in range(len(node) - 1, -1, -1)])

    def parent(self, path: Path) -> Tree | None:
        """The phrase above a node, which is given by its path; None for the tree itself.

        >>> tree = Tree.from_string("(S (NP (NNS Cats)) (VP (VBP sleep)))")
        >>> tree.parent((1, 0)).label
        'VP'
        """
        above = self.ancestors(path)
        return above[0] if above else None

    def ancestors(self, path: Path) -> list[Tree]:
        """All phrases above a node, which is given by its path: its parent first, this tree last.

        >>> tree = Tree.from_string("(S (NP (NNS Cats)) (VP (VBP sleep)))")
        >>> [phrase.label for phrase in tree.ancestors((1, 0))]
        ['VP', 'S']
        """
        self[path]  # raises IndexError for a path that leaves the tree
        above: list[Tree] = []
        node: Node = self
        for step in path:
            assert isinstance(node, Tree)
            above.append(node)
            node = node.children[step]
        return above[::-1]

    def spans(self) -> list[tuple[str, int, int]]:
        """(label, start, end) of every phrase, outer before inner: ``words()[start:end]`` are its words.

        >>> Tree.from_string("(S (NP (DT The) (NN cat)) (VP (VBD sat)))").spans()
        [('S', 0, 3), ('NP', 0, 2), ('VP', 2, 3)]
        """
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

    # The text that the tree was made from

    def placed(self, text: str, tokens: Sequence[HasOffsets], offset: int = 0) -> Tree:
        """The same tree, whose words know where they stand: ``tokens`` give the start and end of each in ``text``.

        ``offset`` is added to both, for a sentence that begins there. Comparing, printing and hashing ignore places.

        >>> from fencepost.text.tokens import tokenize
        >>> tree = Tree.from_string("(S (NP (NNS Cats)) (VP (MD ca) (RB n't) (VP (VB swim))))")
        >>> tree = tree.placed("Cats  can't swim", tokenize("Cats  can't swim"))
        >>> tree.text
        "Cats  can't swim"
        >>> tree[1].offsets
        (6, 16)
        """
        from fencepost.trees.placed import placed

        return placed(self, text, tokens, offset)

    @property
    def text(self) -> str:
        """The characters of the text from the first to the last word if the text is known, else words and blanks.

        >>> Tree.from_string("(NP (DT The) (NN cat))").text
        'The cat'
        """
        first, *others = self.leaves()
        parts = [first.text]
        for leaf in others:
            place = place_of(leaf)
            parts.append(f" {leaf.word}" if place is None else place.before + place.text)
        return "".join(parts)

    @property
    def offsets(self) -> tuple[int, int] | None:
        """Start and end in the text, counted in characters; None if the text isn't known. See ``placed``.

        >>> Tree.from_string("(NP (DT The) (NN cat))").offsets is None
        True
        """
        first, last = self._edge(0).offsets, self._edge(-1).offsets
        return None if first is None or last is None else (first[0], last[1])

    def _edge(self, side: Literal[0, -1]) -> Leaf:
        node: Node = self
        while type(node) is Tree:
            node = node.children[side]
        assert isinstance(node, Leaf)
        return node

    def characters(self, tokens: Sequence[HasOffsets]) -> list[tuple[str, int, int]]:
        """``spans`` counted in characters. ``tokens`` give each word's start and end, as in a ``TextSentence``.

        >>> from fencepost.text.tokens import tokenize
        >>> tree = Tree.from_string("(S (NP (NNS Cats)) (VP (VBP sleep)))")
        >>> tree.characters(tokenize("Cats sleep"))
        [('S', 0, 10), ('NP', 0, 4), ('VP', 5, 10)]
        """
        from fencepost.trees.placed import check_number

        spans = self.spans()
        check_number(spans[0][2], tokens)
        return [(label, tokens[start].start, tokens[end - 1].end) for label, start, end in spans]

    # Heads, phrases, clauses

    @property
    def head(self) -> Leaf:
        """The head word of the phrase, by the rules for English; ``head_tables.rules_for("de")`` has those for German.

        >>> Tree.from_string("(NP (NP (DT the) (NN cat)) (PP (IN on) (NP (DT the) (NN mat))))").head
        Leaf('NN', 'cat')
        """
        from fencepost.trees.head_tables import ENGLISH

        return ENGLISH.head(self)

    @property
    def head_child(self) -> Node:
        """The child that the head word comes from, by the rules for English.

        >>> Tree.from_string("(S (NP (NNS Cats)) (VP (VBP sleep)))").head_child.label
        'VP'
        """
        from fencepost.trees.head_tables import ENGLISH

        return self.children[ENGLISH.head_child(self)]

    def dependencies(self, language: str = "en", *, rules: HeadRules | None = None) -> list[Dependency]:
        """For each word, the word that it depends on by the head rules; the root of the sentence depends on none.

        ``rules`` are head rules of your own, instead of those for a language.

        >>> tree = Tree.from_string("(S (NP (DT The) (NN cat)) (VP (VBD sat)))")
        >>> [(word.word, word.head_word) for word in tree.dependencies()]
        [('The', 'cat'), ('cat', 'sat'), ('sat', None)]
        """
        from fencepost.trees.head_tables import rules_for
        from fencepost.trees.phrases import dependencies

        return dependencies(self, rules or rules_for(language))

    def phrases(
        self, *labels: str, kind: Kind = "all", language: str = "en", rules: HeadRules | None = None
    ) -> list[Phrase]:
        """The phrases with their words, offsets and heads, outer before inner: ``pandas.DataFrame(tree.phrases())``.

        ``kind="maximal"`` gives those that are not part of another phrase with the same label, ``kind="base"`` those
        that have no other phrase with the same label as a part. Heads follow the rules for a language, or ``rules``.

        >>> tree = Tree.from_string("(NP (NP (DT the) (NN cat)) (PP (IN on) (NP (DT the) (NN mat))))")
        >>> [(phrase.text, phrase.head) for phrase in tree.phrases("NP", kind="base")]
        [('the cat', 'cat'), ('the mat', 'mat')]
        """
        from fencepost.trees.head_tables import rules_for
        from fencepost.trees.phrases import phrases

        return phrases(self, labels, kind, rules or rules_for(language))

    def clauses(self) -> list[Clause]:
        """The finite clauses of an English tree with their kind (main, dependent, relative), verb, offsets and head.

        >>> tree = Tree.from_string("(S (NP (PRP I)) (VP (VBP know) (SBAR (S (NP (PRP it)) (VP (VBD sat))))))")
        >>> [(clause.kind, clause.text, clause.verb) for clause in tree.clauses()]
        [('main', 'I know it sat', 'know'), ('dependent', 'it sat', 'sat')]
        """
        from fencepost.trees.clauses import clauses

        return clauses(self)

    # Drawing

    def pretty(self, width: int | None = None) -> str:
        """A drawing for a terminal, or indented brackets if it would be wider than ``width`` or the terminal.

        >>> print(Tree.from_string("(NP (DT The) (NN cat))").pretty(80))
            NP
          ┌──┴─┐
         DT   NN
         The  cat
        """
        from fencepost.drawing.terminal import pretty

        return pretty(self, width)

    def to_svg(self) -> str:
        """A drawing as SVG, which notebooks show by themselves.

        >>> Tree.from_string("(NP (DT The) (NN cat))").to_svg()[:4]
        '<svg'
        """
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
        from fencepost.trees.placed import PlacedSource, with_places

        source = _source_of(self)
        if isinstance(source, PlacedSource):
            return (with_places, (source.text(), source.places()))
        if source is not None or place_of(self._edge(0)) is None:
            return (_from_pickle, (str(self),))
        return (with_places, (str(self), [place_of(leaf) for leaf in self.leaves()]))


Node: TypeAlias = Tree | Leaf

# Trees refuse assignment, so the slots' own setters fill new ones.
_set_label = Tree.__dict__["label"].__set__
_set_children = Tree.__dict__["children"].__set__
_SOURCE: Final = Tree.__dict__["_source"]
_new = object.__new__


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


def as_tree(tree: Tree | nltk.Tree) -> Tree:
    """The tree itself, or an NLTK tree converted to our type."""
    if isinstance(tree, Tree):
        return tree
    if any(kind.__module__.startswith("nltk.") for kind in type(tree).__mro__):
        return Tree.from_nltk(tree)
    raise UsageError(f"expected a tree, got {tree!r}")
