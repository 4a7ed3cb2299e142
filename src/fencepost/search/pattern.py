"""``Pattern``: searches trees for Tregex's patterns."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import compress, repeat
from typing import TYPE_CHECKING, NamedTuple

from fencepost.errors import UsageError
from fencepost.search.definitions import Bound
from fencepost.search.grammar import parse_pattern
from fencepost.search.listing import Lister
from fencepost.search.matcher import count_in_large_tree, counter, is_large, needed_labels
from fencepost.search.nodes import Nodes, labels_of
from fencepost.search.syntax import Condition, NodePattern, Related, has_references
from fencepost.trees.tree import Leaf, Node, Tree, as_tree

if TYPE_CHECKING:
    import nltk


class Place(NamedTuple):
    """A node that matches: its number in its tree, and the names and variables of the match."""

    node: int
    bound: Bound


class Match:
    """A node that matches a pattern. ``match["name"]`` is the node that the pattern names ``name``.

    >>> from fencepost import Pattern, Tree
    >>> match = next(Pattern("NP=whole < NN=noun").search(Tree.from_string("(NP (DT the) (NN cat))")))
    >>> match.label, match.start, match.end, match["noun"].word, match.span("noun")
    ('NP', 0, 2, 'cat', (1, 2))

    ``start`` and ``end`` count words: ``tree.words()[match.start:match.end]`` are the words of the match.
    """

    __slots__ = ("_bound", "_nodes", "_objects", "node")

    def __init__(self, nodes: Nodes, objects: Callable[[], list[Node]], place: Place) -> None:
        self._nodes = nodes
        self._objects = objects
        self._bound = place.bound
        self.node = place.node

    @property
    def tree(self) -> Node:
        """The matching phrase, or the leaf of a tag or a word that matches."""
        return self._objects()[self.node]

    @property
    def label(self) -> str:
        """The label, tag or word that matches."""
        return self._nodes.labels[self.node]

    @property
    def start(self) -> int:
        """The number of its first word, from 0."""
        return self._nodes.span(self.node)[0]

    @property
    def end(self) -> int:
        """The number of the first word after it."""
        return self._nodes.span(self.node)[1]

    @property
    def names(self) -> dict[str, Node]:
        """The named nodes that this match has found. Names in optional or other alternatives may be missing."""
        objects = self._objects()
        return {name: objects[node] for name, node in self._bound.items() if isinstance(node, int)}

    @property
    def variables(self) -> dict[str, str]:
        """The texts of variable groups such as ``#1%x``."""
        return {name[1:]: text for name, text in self._bound.items() if isinstance(text, str)}

    def __getitem__(self, name: str) -> Node:
        node = self._bound.get(name)
        if not isinstance(node, int):
            raise KeyError(name)
        return self._objects()[node]

    def span(self, name: str | None = None) -> tuple[int, int]:
        """The words of the match, or of one of its named nodes, as (start, end)."""
        node = self.node if name is None else self._bound.get(name)
        if not isinstance(node, int):
            raise KeyError(name)
        return self._nodes.span(node)

    def __repr__(self) -> str:
        return f"Match({str(self.tree)!r})"


class Pattern:
    """A pattern in Tregex's language, read once. It can be used from several threads, and pickled.

    >>> from fencepost import Pattern, Tree
    >>> tree = Tree.from_string("(S (NP (NP (NN cat)) (PP (IN on) (NP (NN mat)))) (VP (VBD sat)))")
    >>> for match in Pattern("NP < (PP=pp < IN)").search(tree):
    ...     print(match.tree, match["pp"], match.start, match.end)
    (NP (NP (NN cat)) (PP (IN on) (NP (NN mat)))) (PP (IN on) (NP (NN mat))) 0 3
    """

    def __init__(self, pattern: str, macros: Mapping[str, str] | None = None) -> None:
        """Reads a pattern. Raises PatternError, which shows the column of a mistake.

        Args:
            pattern: The pattern, such as ``NP < (PP=pp < IN)``.
            macros: Texts to replace in the pattern before it is read, such as ``{"VERB": "/^VB/"}``.
        """
        if not isinstance(pattern, str):
            raise UsageError(f"a pattern is a string, not {pattern!r}", hint='such as Pattern("NP < PP")')
        self.text = pattern
        self.macros = dict(macros or {})
        for original, replacement in self.macros.items():
            pattern = pattern.replace(original, replacement)
        self.root: NodePattern = parse_pattern(pattern)
        self.has_references = has_references(self.root)
        self.names = tuple(dict.fromkeys(_names(self.root)))
        self._needed = needed_labels(self.root)
        self._first_way = counter(self.root, once=True)
        self._all_ways = counter(self.root)
        self._lister = Lister(self.root)

    def search(self, tree: Tree | nltk.Tree, *, once: bool = False) -> Iterator[Match]:
        """The matches in a tree, in Tregex's order: one for each way in which a node matches.

        Args:
            tree: Where to search. A tag and its word count as two nodes, as in Tregex.
            once: Yield each node only once, however many ways it matches.

        >>> tree = Tree.from_string("(NP (NP (NN cat)) (PP (IN on) (NP (NN mat))))")
        >>> [match.tree.text for match in Pattern("NP << NN").search(tree, once=True)]
        ['cat on mat', 'cat', 'mat']
        """
        tree = as_tree(tree)
        nodes = Nodes.of(tree)
        made: list[Node] = []

        def objects() -> list[Node]:
            if not made:
                made.extend(_objects(tree))
            return made

        for place in self.places(nodes, once=once):
            yield Match(nodes, objects, place)

    def count(self, trees: Tree | nltk.Tree | Iterable[Tree | nltk.Tree], *, once: bool = False) -> int:
        """How many matches a tree or several trees have.

        >>> Pattern("NP << NN").count(Tree.from_string("(NP (NP (NN cat)) (PP (IN on) (NP (NN mat))))"))
        4
        """
        several = [trees] if isinstance(trees, Tree) or hasattr(trees, "treepositions") else trees
        total = 0
        for tree in several:
            if self.root.condition is None and not self.has_references:
                total += sum(map(self.root.description.fits.__getitem__, labels_of(as_tree(tree))))
                continue
            nodes = Nodes.of(as_tree(tree))
            if self.has_references:
                total += sum(1 for _ in self.places(nodes, once=once))
            else:
                total += sum(number for _, number in self._ways(nodes, once))
        return total

    def places(self, nodes: Nodes, *, once: bool = False) -> Iterator[Place]:
        """The matches in a tree that is given as lists."""
        if self.has_references:
            for node in self._candidates(nodes):
                yield from self.places_at(nodes, node, once=once)
            return
        for node, number in self._ways(nodes, once or bool(self.names)):
            if self.names:
                yield from self.places_at(nodes, node, once=once)
            else:
                yield from repeat(Place(node, {}), min(number, sys.maxsize))

    def _candidates(self, nodes: Nodes) -> list[int]:
        """The nodes whose own label fits."""
        labels = nodes.labels
        for needed in self._needed:
            if needed.isdisjoint(labels):
                return []
        fits = self.root.description.fits
        return list(compress(range(len(labels)), map(fits.__getitem__, labels)))

    def _ways(self, nodes: Nodes, once: bool) -> list[tuple[int, int]]:
        """The nodes that match, and the number of ways in which they do, or 1 for each with ``once``."""
        candidates = self._candidates(nodes)
        if not candidates:
            return []
        if is_large(nodes, self._lister.effort):
            return count_in_large_tree(self.root, nodes, once)
        ways = self._first_way if once else self._all_ways
        return [(node, number) for node in candidates if (number := ways(nodes, node))]

    def places_at(self, nodes: Nodes, node: int, *, once: bool = False) -> Iterator[Place]:
        """The matches of one node, with names and variables."""
        for bound in self._lister.ways(nodes, node, {}):
            yield Place(node, bound)
            if once:
                return

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pattern) and self.root == other.root

    def __hash__(self) -> int:
        return hash(self.root)

    def __repr__(self) -> str:
        return f"Pattern({self.text!r})"

    def __reduce__(self) -> tuple[object, ...]:
        return (Pattern, (self.text, self.macros))


def _objects(tree: Tree) -> list[Node]:
    """The tree or leaf of each node; a tag and its word share a leaf."""
    objects: list[Node] = []
    for node in tree.walk():
        objects.append(node)
        if isinstance(node, Leaf):
            objects.append(node)
    return objects


def _names(pattern: NodePattern) -> Iterator[str]:
    if pattern.description.name is not None:
        yield pattern.description.name
    waiting: list[Condition] = [] if pattern.condition is None else [pattern.condition]
    while waiting:
        condition = waiting.pop(0)
        if isinstance(condition, Related):
            yield from _names(condition.node)
        else:
            waiting[:0] = condition.parts
