"""What ``fencepost search`` says when nothing matches: labels of the pattern that don't occur in the trees."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Final

from fencepost.trees.brackets import ROOT_SYMBOLS

if TYPE_CHECKING:
    from fencepost.search.pattern import Pattern

_MOST: Final = 3  # suggestions


def explain_no_matches(pattern: Pattern, labels: Collection[str]) -> str | None:
    """A note about labels that the pattern needs and the trees don't have, or None if they have all of them."""
    from fencepost.search.matcher import needed_labels

    missing = [wanted for wanted in needed_labels(pattern.root) if wanted.isdisjoint(labels)]
    if not missing:
        return None
    wanted = sorted(missing[0])
    which = f"the label {wanted[0]}" if len(wanted) == 1 else f"one of the labels {', '.join(wanted)}"
    hint = _hint(wanted, labels) or _expression(wanted[0])
    return f"note: no matches: no node has {which}{hint}"


def explain_no_phrases(wanted: Collection[str], labels: Collection[str]) -> str:
    """A note that no phrase has one of the ``wanted`` labels."""
    which = " or ".join(wanted)
    return f"note: no phrase has the label {which}{_hint(wanted, labels)}"


def _hint(wanted: Collection[str], labels: Collection[str]) -> str:
    others = [label for each in wanted for label in similar(each, labels)]
    return f"\nhint: the trees have {', '.join(others[:_MOST])}" if others else ""


def _expression(wanted: str) -> str:
    """A hint for ``N*``, which is a label in Tregex's language and not a glob."""
    start = wanted[:-1]
    return (
        f"\nhint: /^{start}/ finds labels that begin with {start}" if wanted == f"{start}*" and start.isalnum() else ""
    )


def similar(wanted: str, labels: Collection[str]) -> list[str]:
    """Labels that may be meant: in other letters, another root symbol, with or without functions."""
    from fencepost.trees.heads import plain_label

    if wanted in ROOT_SYMBOLS:
        return sorted(ROOT_SYMBOLS.intersection(labels))
    plain = plain_label(wanted)
    found = [label for label in labels if label.lower() == wanted.lower() or plain in (label, plain_label(label))]
    return sorted(found, key=lambda label: (label.lower() != wanted.lower(), len(label), label))
