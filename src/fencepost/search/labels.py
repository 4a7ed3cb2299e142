"""Tests of single labels. Corpora have few different labels and repeat them often, so each is tested only once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fencepost.trees.heads import plain_label

if TYPE_CHECKING:
    from fencepost.search.syntax import Description

_REMEMBERED: Final = 2**18  # labels


class LabelTest(dict[str, bool]):
    """Which labels a description allows: ``test[label]``. Names and variables are left to the matcher."""

    def __init__(self, description: Description) -> None:
        super().__init__()
        self.description = description

    def __missing__(self, label: str) -> bool:
        if len(self) >= _REMEMBERED:
            self.clear()
        answer = self[label] = self._fits(label)
        return answer

    def _fits(self, label: str) -> bool:
        description = self.description
        if description.kind == "labels":
            found = seen_label(description, label) in description.labels
        elif description.regex is not None:
            found = description.regex.search(seen_label(description, label)) is not None
        else:
            found = True  # any label; or a reference, which the matcher looks up
        return found != description.negated


def seen_label(description: Description, label: str) -> str:
    """The part of a label that a description looks at."""
    return plain_label(label) if description.basic else label


def group_text(description: Description, label: str, number: int) -> str | None:
    """What a variable is bound to: a group of the expression, or the label where there is no expression."""
    text = seen_label(description, label)
    if description.regex is None:
        return text
    found = description.regex.search(text)
    return None if found is None else found[number]
