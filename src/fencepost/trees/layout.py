"""A tree laid out in lists, so that a phrase's words, text, head and children are found without walking through it."""

from __future__ import annotations

from typing import NamedTuple

from fencepost.trees.heads import plain_label
from fencepost.trees.leaf import place_of
from fencepost.trees.tree import Node, Tree


class Child(NamedTuple):
    """A child of a phrase: a phrase or a word, by its number among the phrases or the words of the tree."""

    name: str  # label or tag without functions
    number: int
    is_word: bool


class Layout:
    """The phrases of a tree, outer before inner, and its words. All indices count from 0.

    >>> layout = Layout(Tree.from_string("(S (NP-SBJ (DT The) (NN cat)) (VP (VBD sat)))"))
    >>> layout.names
    ['S', 'NP', 'VP']
    >>> layout.children[0]
    [Child(name='NP', number=1, is_word=False), Child(name='VP', number=2, is_word=False)]
    >>> layout.text(0, 2)
    'The cat'
    """

    def __init__(self, tree: Tree) -> None:
        self.leaves = tree.leaves()
        self.phrases: list[Tree] = []
        self.names: list[str] = []  # labels without functions
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.parents: list[int] = []  # -1 above the tree itself
        self.children: list[list[Child]] = []
        words = 0
        stack: list[tuple[Node | None, int]] = [(tree, -1)]  # a node and its parent; None ends that phrase
        while stack:
            node, parent = stack.pop()
            if node is None:
                self.ends[parent] = words
            elif isinstance(node, Tree):
                index = len(self.phrases)
                self._add(node, parent, words)
                stack.append((None, index))
                stack.extend((child, index) for child in reversed(node.children))
            else:
                self.children[parent].append(Child(plain_label(node.tag), words, True))
                words += 1
        self._cut_text()

    def _add(self, node: Tree, parent: int, start: int) -> None:
        name = plain_label(node.label)
        if parent >= 0:
            self.children[parent].append(Child(name, len(self.phrases), False))
        self.phrases.append(node)
        self.names.append(name)
        self.starts.append(start)
        self.ends.append(start)
        self.parents.append(parent)
        self.children.append([])

    def _cut_text(self) -> None:
        parts: list[str] = []
        self._from: list[int] = []
        self._to: list[int] = []
        length = 0
        for leaf in self.leaves:
            place = place_of(leaf)
            before, text = (" ", leaf.word) if place is None else (place.before, place.text)
            parts += [before, text]
            self._from.append(length + len(before))
            length += len(before) + len(text)
            self._to.append(length)
        self._text = "".join(parts)

    def text(self, start: int, end: int) -> str:
        """The words from ``start`` to ``end``, as in ``Tree.text``."""
        return self._text[self._from[start] : self._to[end - 1]]

    def characters(self, start: int, end: int) -> tuple[int, int] | tuple[None, None]:
        """Where these words stand in the original text; two times None if that isn't known."""
        first, last = self.leaves[start].offsets, self.leaves[end - 1].offsets
        return (None, None) if first is None or last is None else (first[0], last[1])
