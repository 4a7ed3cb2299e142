"""Functions on trees that all steps of the preparation share."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from fencepost.trees.functions import split_functions, split_label, with_functions
from fencepost.trees.normalize import Normalization, normalize
from fencepost.trees.tree import Leaf, Node, Tree


def name(node: Node) -> str:
    """The label of a phrase, without its function, or the tag of a word."""
    return split_label(node.label)[0] if isinstance(node, Tree) else node.tag


def renamed(node: Tree, label: str) -> str:
    """Another label with the function that the phrase has."""
    return label + node.label.removeprefix(name(node))


def merge_repeats(tree: Tree) -> Tree:
    """Merges a phrase with an only child of the same label. The outer function counts if there are two."""
    merged = normalize(tree, Normalization(keep_functions=True)) or tree
    return with_functions(*split_functions(merged))


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
