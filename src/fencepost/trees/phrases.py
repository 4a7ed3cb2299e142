"""The phrases of a tree as rows: with offsets, text and head. Also the dependencies that follow from the heads."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Literal, NamedTuple, get_args

from fencepost.errors import UsageError, require_choice
from fencepost.trees.brackets import ROOT_SYMBOLS
from fencepost.trees.heads import HeadRules
from fencepost.trees.layout import Layout
from fencepost.trees.tree import Tree

Kind = Literal["all", "maximal", "base"]


class Phrase(NamedTuple):
    """A phrase of a sentence. Tokens count from 0; ``words()[start:end]`` are its own."""

    label: str
    start: int
    end: int
    text: str
    head: str
    head_tag: str
    head_index: int
    start_char: int | None  # in the text, if it is known; see ``Tree.placed``
    end_char: int | None
    tree: Tree


class Dependency(NamedTuple):
    """A word and the word that it depends on. Both count from 0; the root of the sentence depends on none."""

    number: int
    word: str
    tag: str
    head: int | None
    head_word: str | None


def phrases(tree: Tree, labels: Sequence[str], kind: Kind, rules: HeadRules) -> list[Phrase]:
    """See ``Tree.phrases``."""
    for label in labels:
        if not isinstance(label, str):
            hint = 'tree.phrases("NP", "VP"); with a list, tree.phrases(*labels)'
            raise UsageError(f"phrases takes labels one by one, not {label!r}", hint=hint)
    require_choice("kind", kind, get_args(Kind))
    layout = Layout(tree)
    heads = rules.head_words(tree)
    wanted = _of_kind(layout, kind)
    found: list[Phrase] = []
    for index, (node, name) in enumerate(zip(layout.phrases, layout.names, strict=True)):
        if index not in wanted or (index == 0 and name in ROOT_SYMBOLS):
            continue
        if labels and node.label not in labels and name not in labels:
            continue
        start, end, head = layout.starts[index], layout.ends[index], layout.leaves[heads[index]]
        place = layout.characters(start, end)
        text = layout.text(start, end)
        found.append(Phrase(node.label, start, end, text, head.word, head.tag, heads[index], place[0], place[1], node))
    return found


def _of_kind(layout: Layout, kind: Kind) -> Container[int]:
    """The indices of the phrases of a kind. Labels are compared without functions."""
    everything = range(len(layout.names))
    if kind == "all":
        return everything
    inner: set[int] = set()  # phrases inside another one with the same label
    outer: set[int] = set()  # phrases around one
    around: list[int] = []  # the phrases that contain the current one, outermost first
    same: dict[str, list[int]] = {}  # the same for each label
    for index, name in enumerate(layout.names):
        while around and around[-1] != layout.parents[index]:
            same[layout.names[around.pop()]].pop()
        if above := same.setdefault(name, []):
            inner.add(index)
            outer.add(above[-1])
        around.append(index)
        above.append(index)
    return set(everything) - (inner if kind == "maximal" else outer)


def dependencies(tree: Tree, rules: HeadRules) -> list[Dependency]:
    """See ``Tree.dependencies``."""
    layout = Layout(tree)
    heads = rules.head_words(tree)
    above: list[int | None] = [None] * len(layout.leaves)
    for index, children in enumerate(layout.children):
        for child in children:
            word = child.number if child.is_word else heads[child.number]
            if word != heads[index]:
                above[word] = heads[index]
    return [
        Dependency(index, leaf.word, leaf.tag, head, None if head is None else layout.leaves[head].word)
        for index, (leaf, head) in enumerate(zip(layout.leaves, above, strict=True))
    ]
