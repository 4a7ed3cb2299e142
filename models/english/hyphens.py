"""Joins hyphenated words in trees: ``well - known`` is one word in the WSJ, three in newer treebanks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from nodes import name

from fencepost.trees.tree import Leaf, Node, Tree

NOUNS: Final = ("NN", "NNS", "NNP", "NNPS")
BEFORE_NOUNS: Final = ("NP", "NML", "NX", "NAC")  # phrases with modifiers in front of a noun
KEPT_TAGS: Final = frozenset({"CD", "CC", "FW", "LS", "PRP"})  # kept if all pieces of a word have this tag


class Run(NamedTuple):
    """The words that become one: a half-open range of indices."""

    start: int
    end: int


def join_hyphens(tree: Tree) -> Tree:
    """The tree with hyphenated words joined, also at slashes. Words that cross phrase boundaries stay apart."""
    return _join(tree, 0, find_runs(tree.leaves()))


def find_runs(leaves: Sequence[Leaf]) -> list[Run]:
    runs, start = [], 0
    while start < len(leaves):
        end = _end_of_run(leaves, start)
        if end > start + 1:
            runs.append(Run(start, end))
        start = end
    return runs


def _end_of_run(leaves: Sequence[Leaf], start: int) -> int:
    end = start + 1
    while end < len(leaves) and _is_piece(leaves[end - 1]) and _joins(leaves, end):
        if is_suspended(leaves, end):
            return end + 1
        if end + 1 == len(leaves) or not _is_piece(leaves[end + 1]):
            break
        end += 2
    return end


def _is_piece(leaf: Leaf) -> bool:
    return any(map(str.isalnum, leaf.word))


def _joins(leaves: Sequence[Leaf], index: int) -> bool:
    """True if a hyphen or a slash joins its neighbours; ``-`` tagged SYM does so only between numbers."""
    leaf = leaves[index]
    if leaf.tag == "SYM" and leaf.word == "-":
        return index + 1 < len(leaves) and leaves[index - 1].tag == leaves[index + 1].tag == "CD"
    return leaf.tag in ("HYPH", "SYM") and leaf.word in ("-", "/")


def is_suspended(leaves: Sequence[Leaf], hyphen: int) -> bool:
    """True if the hyphen belongs only to the word before it: ``pre - and postnatal``."""
    if leaves[hyphen].word != "-" or hyphen + 2 >= len(leaves):
        return False
    following, after = leaves[hyphen + 1], leaves[hyphen + 2]
    return following.tag in ("CC", ",") and not (after.tag == "HYPH" and following.tag == "CC")


def _join(node: Tree, start: int, runs: Sequence[Run]) -> Tree:
    """Joins the runs inside a phrase, whose first word has the index ``start``."""
    borders = [start]
    for child in node.children:
        borders.append(borders[-1] + (len(child.leaves()) if isinstance(child, Tree) else 1))
    joined: list[Node] = []
    index = 0
    while index < len(node.children):
        child, begin, end = node.children[index], borders[index], borders[index + 1]
        run = next((run for run in runs if run.start == begin and run.end in borders and run.end >= end), None)
        if run is None:
            joined.append(_join(child, begin, runs) if isinstance(child, Tree) else child)
            index += 1
            continue
        last = borders.index(run.end)
        before_noun = name(node) in BEFORE_NOUNS and any(map(_is_noun, node.children[last:]))
        if last == index + 1 and isinstance(child, Tree):
            joined.append(_joined_phrase(child, before_noun))
        else:
            pieces = Tree(node.label, node.children[index:last]).leaves()
            joined.append(_joined_word(pieces, name(node), before_noun))
        index = last
    return Tree(node.label, joined)


def _is_noun(node: Node) -> bool:
    return name(node) in (*NOUNS, "NML", "NX")


def _joined_phrase(phrase: Tree, before_noun: bool) -> Node:
    """A phrase whose words became one. In front of a noun only the word is left, as in the WSJ."""
    if name(phrase) == "PP" and not before_noun:
        return phrase  # "in - frame" has no part of speech as one word
    word = _joined_word(phrase.leaves(), name(phrase), before_noun)
    return word if before_noun or name(phrase) in ("QP", "NML") else Tree(phrase.label, [word])


def _joined_word(leaves: Sequence[Leaf], phrase: str, before_noun: bool) -> Leaf:
    tags = [leaf.tag for leaf in leaves[::2]]
    return Leaf(joined_tag(tags, phrase, before_noun), "".join(leaf.word for leaf in leaves))


def joined_tag(tags: Sequence[str], phrase: str, before_noun: bool) -> str:
    """The tag that the WSJ would give a joined word, from the tags of its pieces and the phrase around it."""
    first, last = tags[0], tags[-1]
    if len(tags) == 1 or (first in KEPT_TAGS and set(tags) == {first}) or {*tags} <= {"NNP", "NNPS"}:
        return last
    if phrase in ("ADJP", "ADVP"):
        return "JJ" if phrase == "ADJP" else "RB"
    if last == "CD" and first in ("NN", "NNP"):
        return first  # interleukin-3
    if before_noun:
        return "NN" if {*tags} == {"NN"} else "JJ"
    if last in NOUNS or (phrase not in BEFORE_NOUNS and last.startswith(("VB", "JJ", "RB"))):
        return last
    return "JJ" if last == "JJ" else "NN"  # profit-taking, follow-up
