"""Trees from and to dictionaries, and trees with other leaves. Loops instead of recursion, for trees of any depth."""

from __future__ import annotations

import reprlib
from collections.abc import Mapping, Sequence
from typing import Any, Final

from fencepost.errors import TreeError
from fencepost.trees.tree import Leaf, Node, Tree, unchecked_tree

_SHAPE: Final = 'a phrase is {"label": …, "children": […]}, a leaf {"tag": …, "word": …}'


def with_leaves(tree: Tree, leaves: Sequence[Leaf]) -> Tree:
    """The tree with these leaves instead of its own, one for one."""
    remaining = iter(leaves)
    done: list[Node] = []  # finished nodes whose parent isn't finished
    stack: list[tuple[Node, bool]] = [(tree, False)]  # a node, and whether its children are done
    while stack:
        node, closed = stack.pop()
        if type(node) is not Tree:
            done.append(next(remaining))
        elif closed:
            children = tuple(done[-len(node.children) :])
            del done[-len(node.children) :]
            done.append(unchecked_tree(node.label, children))
        else:
            stack.append((node, True))
            stack.extend((child, False) for child in reversed(node.children))
    (new,) = done
    assert isinstance(new, Tree)
    return new


def to_dict(tree: Tree) -> dict[str, Any]:
    """See ``Tree.to_dict``."""
    top: list[dict[str, Any]] = []
    stack: list[tuple[Node, list[dict[str, Any]]]] = [(tree, top)]  # a node, and the list that its dictionary goes to
    while stack:
        node, siblings = stack.pop()
        if isinstance(node, Tree):
            children: list[dict[str, Any]] = []
            siblings.append({"label": node.label, "children": children})
            stack.extend((child, children) for child in reversed(node.children))
        else:
            siblings.append({"tag": node.tag, "word": node.word})
    return top[0]


def from_dict(data: Mapping[str, Any]) -> Tree:
    """See ``Tree.from_dict``."""
    done: list[Node] = []
    stack: list[tuple[Any, bool]] = [(data, False)]
    while stack:
        entry, closed = stack.pop()
        if closed:
            size = len(entry["children"])
            children = done[len(done) - size :]
            del done[len(done) - size :]
            done.append(Tree(entry["label"], children))
        elif _has(entry, tag=str, word=str):
            done.append(Leaf(entry["tag"], entry["word"]))
        elif _has(entry, label=str, children=Sequence) and not isinstance(entry["children"], str):
            stack.append((entry, True))
            stack.extend((child, False) for child in reversed(entry["children"]))
        else:
            raise TreeError(f"not a node of a tree: {reprlib.repr(entry)}", hint=_SHAPE)
    if not isinstance(done[0], Tree):
        raise TreeError("a tree begins with a phrase, not with a leaf", hint=_SHAPE)
    return done[0]


def _has(entry: object, **fields: type) -> bool:
    return isinstance(entry, Mapping) and all(isinstance(entry.get(name), kind) for name, kind in fields.items())
