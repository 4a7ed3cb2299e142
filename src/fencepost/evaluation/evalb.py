"""Compares two trees of one sentence as evalb does: labelled brackets as multisets, crossing brackets, tags.

First, words whose tag is to be deleted are removed, and with them brackets that lose all their words. The remaining
words must agree; otherwise the sentence is an error, with a reason.
"""

from __future__ import annotations

from collections import Counter
from enum import IntEnum
from itertools import accumulate
from typing import NamedTuple, TypeAlias

from fencepost.evaluation.params import ScoreParams
from fencepost.trees.tree import Leaf, Node, Tree, escape

Bracket: TypeAlias = tuple[str, int, int]  # label, start, end
QUOTES = ("'", '"', "/")  # the words that evalb counts as quotation marks
ANY_LABEL = "any"  # the label of all brackets when they are compared without labels


class Status(IntEnum):
    """With evalb's numbers."""

    VALID = 0
    ERROR = 1  # the two trees have different words
    SKIPPED = 2  # nothing is predicted: the tree is missing, or all its words are deleted


class Comparison(NamedTuple):
    """The result for one sentence. If it is not valid, only the length and the gold brackets are set."""

    status: Status
    length: int
    gold: Counter[Bracket]
    predicted: Counter[Bracket]
    matched: Counter[Bracket]
    crossing: int = 0  # predicted brackets that cross a gold one
    words: int = 0
    correct_tags: int = 0
    problem: str = ""
    tags_disagree: bool = False  # the words are the same, but their tags delete different ones


class Comparer:
    """Compares trees under one set of parameters."""

    def __init__(self, params: ScoreParams) -> None:
        self._params = params
        self._labels = LabelNames(params)

    def compare(self, gold_tree: Tree | None, predicted_tree: Tree | None) -> Comparison:
        gold, predicted = self._outline(gold_tree), self._outline(predicted_tree)
        if not any(predicted.kept):
            return self._left_out(Status.SKIPPED, gold)
        words = correct_tags = sum(gold.kept)
        if gold.leaves != predicted.leaves:
            problem = self._mismatch(gold, predicted)
            if sum(gold.kept) != sum(predicted.kept) and self._repair(gold, predicted):
                problem = self._mismatch(gold, predicted)
            if problem:
                return self._left_out(Status.ERROR, gold, problem, self._same_text(gold, predicted))
            words, correct_tags = sum(gold.kept), self._agreeing_tags(gold, predicted)
        gold_brackets, predicted_brackets = gold.brackets(), predicted.brackets()
        gold_counts, predicted_counts = Counter(gold_brackets), Counter(predicted_brackets)
        return Comparison(
            Status.VALID,
            self._length(gold),
            gold_counts,
            predicted_counts,
            gold_counts & predicted_counts,
            count_crossing(gold_brackets, predicted_brackets, words),
            words,
            correct_tags,
        )

    def _left_out(self, status: Status, gold: _Outline, problem: str = "", tags_disagree: bool = False) -> Comparison:
        length, brackets = self._length(gold), Counter(gold.brackets())
        return Comparison(status, length, brackets, Counter(), Counter(), problem=problem, tags_disagree=tags_disagree)

    def _outline(self, tree: Tree | None) -> _Outline:
        leaves: list[Leaf] = []
        phrases: list[Bracket] = []
        labels = self._labels
        stack: list[Node | tuple[str, int]] = [] if tree is None else [tree]  # (label, start) marks the end of a phrase
        while stack:
            node = stack.pop()
            if type(node) is Leaf:
                leaves.append(node)
            elif type(node) is Tree:
                label = labels[node.label]
                if label is not None:
                    stack.append((label, len(leaves)))
                stack.extend(node.children[::-1])
            elif isinstance(node, tuple):
                name, start = node
                phrases.append((name, start, len(leaves)))
        deleted = self._params.deleted
        return _Outline(leaves, phrases, [leaf.tag not in deleted for leaf in leaves])

    def _length(self, outline: _Outline) -> int:
        return len(self._text(outline))

    def _text(self, outline: _Outline) -> list[Leaf]:
        """The words that count for the length, without traces."""
        return [leaf for leaf in outline.leaves if leaf.tag not in self._params.deleted_for_length]

    def _mismatch(self, gold: _Outline, predicted: _Outline) -> str:
        gold_left, predicted_left = gold.leaves_left(), predicted.leaves_left()
        if len(gold_left) != len(predicted_left):
            return f"Length unmatch ({len(gold_left)}|{len(predicted_left)})"
        for here, there in zip(gold_left, predicted_left, strict=True):
            if not self._same_word(here, there):
                return f"Words unmatch ({escape(here.word)}|{escape(there.word)})"
        return ""

    def _repair(self, gold: _Outline, predicted: _Outline) -> bool:
        """Restores quotation marks that only one side deleted, because of a different tag."""
        here, there = self._kept_or_quotes(gold), self._kept_or_quotes(predicted)
        if len(here) != len(there):
            return False
        restored = [
            (mine, theirs)
            for mine, theirs in zip(here, there, strict=True)
            if gold.kept[mine] != predicted.kept[theirs]
            and self._is_quote(gold.leaves[mine])
            and self._is_quote(predicted.leaves[theirs])
        ]
        for mine, theirs in restored:
            gold.kept[mine] = predicted.kept[theirs] = True
        return bool(restored)

    def _kept_or_quotes(self, outline: _Outline) -> list[int]:
        leaves = zip(outline.leaves, outline.kept, strict=True)
        return [position for position, (leaf, kept) in enumerate(leaves) if kept or self._is_quote(leaf)]

    def _is_quote(self, leaf: Leaf) -> bool:
        return leaf.tag in self._params.quotes and leaf.word in QUOTES

    def _same_text(self, gold: _Outline, predicted: _Outline) -> bool:
        here, there = self._text(gold), self._text(predicted)
        return len(here) == len(there) and all(map(self._same_word, here, there))

    def _same_word(self, here: Leaf, there: Leaf) -> bool:
        equal = self._params.equal_words
        return here.word == there.word or equal.get(here.word, here.word) == equal.get(there.word, there.word)

    def _agreeing_tags(self, gold: _Outline, predicted: _Outline) -> int:
        equal = self._params.equal_labels
        leaves = zip(gold.leaves_left(), predicted.leaves_left(), strict=True)
        return sum(equal.get(here.tag, here.tag) == equal.get(there.tag, there.tag) for here, there in leaves)


class _Outline(NamedTuple):
    """A tree taken apart: all its words, its phrases over them (inner before outer), and which words are kept."""

    leaves: list[Leaf]
    phrases: list[Bracket]
    kept: list[bool]

    def leaves_left(self) -> list[Leaf]:
        return [leaf for leaf, kept in zip(self.leaves, self.kept, strict=True) if kept]

    def brackets(self) -> list[Bracket]:
        """The phrases over the words that are kept."""
        posts = list(accumulate(self.kept, initial=0))
        return [(label, posts[start], posts[end]) for label, start, end in self.phrases if posts[start] < posts[end]]


class LabelNames(dict[str, str | None]):
    """The name under which a phrase label is compared, or None if its brackets don't count."""

    def __init__(self, params: ScoreParams) -> None:
        self._params = params
        self._deleted = {params.equal_labels.get(label, label) for label in params.deleted}

    def __missing__(self, label: str) -> str | None:
        self[label] = name = self._name(strip_functions(label))
        return name

    def _name(self, label: str) -> str | None:
        name = self._params.equal_labels.get(label, label)
        if name in self._deleted:
            return None
        return name if self._params.labeled else ANY_LABEL


def strip_functions(label: str) -> str:
    """``NP-SBJ-1`` and ``NP=2`` are ``NP``; labels that begin with ``-`` or ``=``, such as ``-NONE-``, stay."""
    if label.startswith(("-", "=")):
        return label
    return label.split("-", 1)[0].split("=", 1)[0]


def count_crossing(gold: list[Bracket], predicted: list[Bracket], words: int) -> int:
    """How many predicted brackets cross a gold one. In both lists, inner brackets come before outer ones."""
    spans = {(start, end) for _, start, end in gold}
    others = [(start, end) for _, start, end in predicted if (start, end) not in spans]
    if not others:
        return 0
    starts, ends = _innermost(gold, words)
    return sum(ends[start] < end or starts[end] > start for start, end in others)


def _innermost(brackets: list[Bracket], words: int) -> tuple[list[int], list[int]]:
    """For every fencepost, the start and end of the smallest bracket around it.

    The brackets around a fencepost are nested. So a span crosses none of those around its start if it ends within
    the smallest of them, and none of those around its end if it starts within the smallest of those.
    """
    starts, ends = [0] * (words + 1), [words] * (words + 1)
    around: list[Bracket] = []
    outer_first = iter(reversed(brackets))  # and from right to left
    following = next(outer_first, None)
    for fencepost in range(words - 1, 0, -1):
        while following and following[2] > fencepost:
            around.append(following)
            following = next(outer_first, None)
        while around and around[-1][1] >= fencepost:
            around.pop()
        if around:
            _, starts[fencepost], ends[fencepost] = around[-1]
    return starts, ends
