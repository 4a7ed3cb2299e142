"""What all steps of the preparation do with trees."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from fencepost.trees.tree import Leaf, Node, Tree


def name(node: Node) -> str:
    """The label of a phrase or the tag of a word."""
    return node.label if isinstance(node, Tree) else node.tag


def rebuild(tree: Tree, change: Callable[[Tree], Tree]) -> Tree:
    """The tree with every phrase changed, those inside a phrase before it."""
    children = [rebuild(child, change) if isinstance(child, Tree) else child for child in tree.children]
    return change(Tree(tree.label, children))


def with_leaves(tree: Tree, leaves: Iterable[Leaf]) -> Tree:
    """The tree over other leaves, of which there are as many."""
    waiting = iter(leaves)

    def fill(node: Tree) -> Tree:
        return Tree(node.label, [fill(child) if isinstance(child, Tree) else next(waiting) for child in node.children])

    return fill(tree)


def change_leaves(tree: Tree, change: Callable[[Leaf], Leaf]) -> Tree:
    return with_leaves(tree, map(change, tree.leaves()))
