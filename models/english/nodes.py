"""Functions on trees that all steps of the preparation share."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from fencepost.trees.tree import Leaf, Node, Tree


def name(node: Node) -> str:
    """The label of a phrase or the tag of a word."""
    return node.label if isinstance(node, Tree) else node.tag


def rebuild(tree: Tree, change: Callable[[Tree], Tree]) -> Tree:
    """Applies ``change`` to every phrase, inner phrases first."""
    children = [rebuild(child, change) if isinstance(child, Tree) else child for child in tree.children]
    return change(Tree(tree.label, children))


def with_leaves(tree: Tree, leaves: Iterable[Leaf]) -> Tree:
    """The tree with its leaves replaced by as many others."""
    remaining = iter(leaves)

    def fill(node: Tree) -> Tree:
        return Tree(
            node.label, [fill(child) if isinstance(child, Tree) else next(remaining) for child in node.children]
        )

    return fill(tree)


def change_leaves(tree: Tree, change: Callable[[Leaf], Leaf]) -> Tree:
    return with_leaves(tree, map(change, tree.leaves()))
