"""Trees whose words know where they stand in a text: see ``Tree.placed``."""

from __future__ import annotations

from collections.abc import Sequence

from fencepost.errors import MismatchError
from fencepost.trees.leaf import Place, placed_leaf
from fencepost.trees.rebuild import with_leaves
from fencepost.trees.tree import HasOffsets, Tree, unbuilt_tree


class PlacedSource:
    """The source of a tree whose words know their places."""

    def __init__(self, tree: Tree, text: str, tokens: Sequence[HasOffsets], offset: int) -> None:
        self._tree, self._text, self._tokens, self._offset = tree, text, tokens, offset

    def build(self) -> Tree:
        return _at_places(self._tree, self.places())

    def places(self) -> list[Place]:
        ends = [self._tokens[0].start, *(token.end for token in self._tokens)]
        return [
            Place(self._offset + token.start, self._text[token.start : token.end], self._text[end : token.start])
            for token, end in zip(self._tokens, ends, strict=False)
        ]

    def text(self) -> str:
        return str(self._tree)

    def words(self) -> list[str]:
        return self._tree.words()

    def tags(self) -> list[str]:
        return self._tree.tags()


def placed(tree: Tree, text: str, tokens: Sequence[HasOffsets], offset: int) -> Tree:
    check_number(len(tree.words()), tokens)
    return unbuilt_tree(PlacedSource(tree, text, tokens, offset))


def check_number(words: int, tokens: Sequence[HasOffsets]) -> None:
    if len(tokens) != words:
        raise MismatchError(f"{words} words but {len(tokens)} tokens")


def with_places(text: str, places: Sequence[Place | None]) -> Tree:
    """Rebuilds a pickled tree whose words know their places."""
    return _at_places(Tree.from_string(text), places)


def _at_places(tree: Tree, places: Sequence[Place | None]) -> Tree:
    pairs = zip(tree.leaves(), places, strict=True)
    return with_leaves(tree, [leaf if at is None else placed_leaf(leaf.tag, leaf.word, at) for leaf, at in pairs])
