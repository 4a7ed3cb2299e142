"""Rewrites trees of all treebanks in one notation: that of the Penn Treebank's Wall Street Journal. README.md says why.

Every step turns a tree into a tree, and none adds, drops or moves a word.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from nodes import change_leaves, merge_repeats, name, rebuild, renamed

from fencepost.trees.tree import Leaf, Node, Tree

OPEN: Final = "-LRB-"
CLOSE: Final = "-RRB-"
WHOLE_SENTENCES: Final = frozenset({"TOP", "S", "SQ", "SBARQ", "SINV", "FRAG", "INTJ", "X"})
BRACKETED: Final = frozenset({"PRN", "LST", "CIT"})
AFTER_THE_NOUN: Final = frozenset({"PP", "SBAR", "VP", "S"})
WH_TAGS: Final = frozenset({"WDT", "WP", "WP$"})
TAGS: Final = {"-LSB-": OPEN, "-RSB-": CLOSE, "NFP": ":", "AFX": "JJ", "XX": "FW"}
SQUARE: Final = {"-LSB-": "[", "-RSB-": "]"}  # escapes that only MASC uses
PENN_QUOTES: Final = {
    "``": {'"': "``", "“": "``", "'": "`", "‘": "`"},
    "''": {'"': "''", "”": "''", "’": "'"},
}


def harmonize(tree: Tree) -> Tree:
    for step in STEPS:
        tree = step(tree)
    return merge_repeats(tree)


# Brackets


def close_brackets(tree: Tree) -> Tree:
    """Moves a closing bracket that is attached higher than its opening one down to it."""
    return rebuild(tree, _close_brackets)


def _close_brackets(node: Tree) -> Tree:
    children: list[Node] = []
    for child in node.children:
        before = children[-1] if children else None
        if name(child) == CLOSE and isinstance(before, Tree) and not _unclosed(children) and _opens_at_end(before):
            children[-1] = _add_at_end(before, child)
        else:
            children.append(child)
    return Tree(node.label, children)


def _unclosed(children: Sequence[Node]) -> bool:
    names = [name(child) for child in children]
    return names.count(OPEN) > names.count(CLOSE)


def _opens_at_end(node: Node) -> bool:
    """True if a bracket is still open at the end of a phrase."""
    return isinstance(node, Tree) and (_unclosed(node.children) or _opens_at_end(node.children[-1]))


def _add_at_end(node: Tree, bracket: Node) -> Tree:
    """The phrase with a closing bracket beside the innermost open one."""
    *others, last = node.children
    if isinstance(last, Tree) and _opens_at_end(last):
        return Tree(node.label, [*others, _add_at_end(last, bracket)])
    return Tree(node.label, [*node.children, bracket])


def wrap_parentheses(tree: Tree) -> Tree:
    """Makes bracketed text a PRN: ``(NP (NP x) ( (NP y) ))`` becomes ``(NP (NP x) (PRN ( (NP y) )))``."""
    return rebuild(tree, _wrap_parentheses)


def _wrap_parentheses(node: Tree) -> Tree:
    names = [name(child) for child in node.children]
    if name(node) in BRACKETED or OPEN not in names:
        return node
    start = names.index(OPEN)
    if CLOSE not in names[start:]:
        return node
    end = names.index(CLOSE, start)
    inside = node.children[start + 1 : end]
    if start == 0 and end == len(names) - 1 and inside and name(node) not in WHOLE_SENTENCES:
        return Tree("PRN", [node.children[0], Tree(node.label, inside), node.children[end]])
    # A bracket at the start, or around one bare word, is part of a name: "(317) 634-6102", "poly (A) tail".
    if start == 0 or (len(inside) < 2 and not any(isinstance(child, Tree) for child in inside)):
        return node
    parenthesis = Tree("PRN", node.children[start : end + 1])
    return Tree(node.label, [*node.children[:start], parenthesis, *node.children[end + 1 :]])


def rename_citations(tree: Tree) -> Tree:
    """CIT, which only CRAFT has, becomes a PRN if it is in brackets and an NP elsewhere."""

    def rename(node: Tree) -> Tree:
        if name(node) != "CIT":
            return node
        return Tree(renamed(node, "PRN" if name(node.children[0]) == OPEN else "NP"), node.children)

    return rebuild(tree, rename)


# Noun phrases


def replace_nml(tree: Tree) -> Tree:
    """Removes NML, the inner structure of noun phrases, which are flat in the WSJ. Three cases have other labels there.

    In a parenthesis, NML becomes NP; with a phrase after its noun, NAC (``(NAC (NNP Bank) (PP of England))``);
    coordinated phrases at the end of an NP become NX.
    """
    last = len(tree.children) - 1
    parts = [_noun_parts(child, name(tree), index == last) for index, child in enumerate(tree.children)]
    return Tree(tree.label, [node for nodes in parts for node in nodes])


def _noun_parts(node: Node, above: str, is_last: bool) -> Sequence[Node]:
    if isinstance(node, Leaf):
        return [node]
    if name(node) != "NML":
        return [replace_nml(node)]
    if above in ("PRN", "TOP"):
        return [replace_nml(Tree("NP", node.children))]
    if any(name(child) in AFTER_THE_NOUN and not _is_range(child) for child in node.children):
        return [Tree("NAC", replace_nml(node).children)]
    names = [name(child) for child in node.children]
    if is_last and above == "NP" and "CC" in names and "NML" in names:
        return [Tree("NX", [_coordinated(child) for child in node.children])]
    return replace_nml(node).children


def _is_range(node: Node) -> bool:
    """True for the second half of a range: CRAFT has ``(PP (SYM -) (NP (CD 5)))`` in "3-5"."""
    return isinstance(node, Tree) and name(node.children[0]) == "SYM"


def _coordinated(node: Node) -> Node:
    if isinstance(node, Leaf):
        return node
    return replace_nml(Tree("NX", node.children) if name(node) == "NML" else node)


def name_wh_phrases(tree: Tree) -> Tree:
    """Labels the relative or interrogative phrase of an SBAR or SBARQ as WHNP; GUM often has NP."""

    def rename(node: Tree) -> Tree:
        if name(node) not in ("SBAR", "SBARQ"):
            return node
        return Tree(node.label, map(_wh_phrase, node.children))

    return rebuild(tree, rename)


def _wh_phrase(node: Node) -> Node:
    if isinstance(node, Tree) and name(node) == "NP" and name(node.children[0]) in WH_TAGS:
        return Tree("WHNP", node.children)
    return node


# Words and tags


def rename_tags(tree: Tree) -> Tree:
    """Keeps Penn's 45 tags, HYPH for separate hyphens, and GW. "to" is always TO; other joining signs are SYM."""
    return change_leaves(tree, _rename_tag)


def _rename_tag(leaf: Leaf) -> Leaf:
    if leaf.tag == "IN" and leaf.word.lower() == "to":
        return Leaf("TO", leaf.word)
    if leaf.tag == "AFX" and leaf.word in ("s", "'s"):
        return Leaf("NNS", leaf.word)  # the plural of a sign: "+'s"
    if leaf.tag == "HYPH" and leaf.word not in ("-", "–", "‑"):
        return Leaf("SYM", leaf.word)
    return Leaf(TAGS.get(leaf.tag, leaf.tag), leaf.word)


def penn_words(tree: Tree) -> Tree:
    """Writes words as our tokenizer does: Penn's quotes, real square brackets, no backslash before ``/`` and ``*``."""
    return change_leaves(tree, _penn_word)


def _penn_word(leaf: Leaf) -> Leaf:
    word = {**SQUARE, **PENN_QUOTES.get(leaf.tag, {})}.get(leaf.word, leaf.word)
    return Leaf(leaf.tag, word.replace("\\/", "/").replace("\\*", "*"))


STEPS: Final[tuple[Callable[[Tree], Tree], ...]] = (
    close_brackets,
    wrap_parentheses,
    rename_citations,
    replace_nml,
    name_wh_phrases,
    rename_tags,
    penn_words,
)
