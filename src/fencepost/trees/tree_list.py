"""The list of trees that a parser returns. Notebooks draw it."""

from __future__ import annotations

from typing import SupportsIndex, overload

from fencepost.trees.tree import Tree


class Trees(list[Tree]):
    """A list of trees, and nothing but a list, except that notebooks draw it.

    >>> trees = Trees([Tree.from_string("(TOP (NP (NNS Trees)))")])
    >>> trees == [trees[0]]
    True
    """

    __slots__ = ()

    @overload
    def __getitem__(self, index: SupportsIndex) -> Tree: ...
    @overload
    def __getitem__(self, index: slice) -> Trees: ...
    def __getitem__(self, index: SupportsIndex | slice) -> Tree | Trees:
        return Trees(super().__getitem__(index)) if isinstance(index, slice) else super().__getitem__(index)

    def _repr_html_(self) -> str:
        from fencepost.drawing.html import Drawing, notebook_drawings

        return notebook_drawings(Drawing(" ".join(tree.words()), tree) for tree in self)
