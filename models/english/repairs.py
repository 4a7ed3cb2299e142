"""Corrects two slips of the annotators in training trees. Test trees stay as they are."""

from __future__ import annotations

from typing import Final

from nodes import change_leaves, name, rebuild

from fencepost.trees.tree import Leaf, Node, Tree

CLAUSES: Final = frozenset({"S", "SQ", "SBARQ", "SINV", "FRAG"})  # not SBAR: (SBAR (IN in) (NN order) (S …))
NOUNS: Final = frozenset({"NN", "NNS", "NNP", "NNPS", "PRP"})


def repair(tree: Tree) -> Tree:
    """A lone noun directly in a clause becomes a noun phrase, and a comma is always tagged as one."""
    return rebuild(change_leaves(tree, _comma), _wrap_nouns)


def _comma(leaf: Leaf) -> Leaf:
    return Leaf(",", ",") if leaf.word == "," else leaf


def _wrap_nouns(node: Tree) -> Tree:
    if name(node) not in CLAUSES:
        return node
    tags = [child.tag if isinstance(child, Leaf) else "" for child in node.children]

    def lone(place: int) -> bool:
        beside = {tags[place - 1] if place else "", tags[place + 1] if place + 1 < len(tags) else ""}
        return tags[place] in NOUNS and not any(tag[:1].isalpha() or tag == "$" for tag in beside)

    children: list[Node] = [Tree("NP", [child]) if lone(i) else child for i, child in enumerate(node.children)]
    return Tree(node.label, children)
