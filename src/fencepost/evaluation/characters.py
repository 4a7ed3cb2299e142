"""Scores trees of one text that was split differently into words or sentences: brackets count characters, not words.

A bracket is (label, start, end), in characters of the whole text. Whitespace and punctuation (``IGNORED``) don't count,
so neither "U.S." at the end of a sentence nor the attachment of a comma makes a difference. The parameters say which
labels are ignored and which are equal; a bracket without a counted character is ignored as well. Brackets are compared
as multisets. Over the same words the result is close to evalb's with COLLINS, which finds punctuation by its tags.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Final, TypeAlias

from fencepost.errors import MismatchError
from fencepost.evaluation.brackets import Brackets
from fencepost.evaluation.evalb import Bracket, LabelNames
from fencepost.evaluation.params import ScoreParams, load_params
from fencepost.trees.spans import spans_of
from fencepost.trees.tree import Tree

IGNORED: Final = frozenset(".,:;?!…\"'`“”‘’„-–—‑")
InText: TypeAlias = tuple[Tree, Sequence[str]]  # a tree, and its words as they are written in the text


def score_in_text(
    gold: Iterable[InText], predicted: Iterable[InText], params: str | Path | ScoreParams = "collins"
) -> Brackets:
    """Scores the trees of one text, each side in the order of the text."""
    names = LabelNames(load_params(params))
    gold, predicted = list(gold), list(predicted)
    if _characters(gold) != _characters(predicted):
        raise MismatchError("gold and predicted trees don't cover the same text")
    expected, actual = brackets_in_text(gold, names), brackets_in_text(predicted, names)
    return Brackets((expected & actual).total(), expected.total(), actual.total())


def brackets_in_text(trees: Iterable[InText], names: LabelNames) -> Counter[Bracket]:
    brackets: Counter[Bracket] = Counter()
    offset = 0
    for tree, words in trees:
        if len(words) != len(tree.leaves()):
            raise MismatchError(f"{len(words)} words for a tree of {len(tree.leaves())}: {' '.join(words)}")
        posts = list(accumulate((len(_counted(word)) for word in words), initial=offset))
        for span in spans_of(tree):
            start, end = posts[span.start], posts[span.end]
            kept = [label for label in map(names.__getitem__, span.label) if label is not None]
            brackets.update((label, start, end) for label in kept if start < end)
        offset = posts[-1]
    return brackets


def _counted(word: str) -> str:
    return "".join(character for character in word if character not in IGNORED and not character.isspace())


def _characters(trees: Iterable[InText]) -> str:
    return "".join(_counted(word) for _, words in trees for word in words)
