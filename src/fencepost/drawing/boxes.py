"""Where the parts of a drawn tree stand: words in one row at the bottom, each phrase centred above its children."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from fencepost.trees.tree import Leaf, Node, Tree

Measure = Callable[[str], float]


@dataclass
class Box:
    """A phrase, or a word under its tag. ``level`` counts rows from the tags, which are 0, upwards."""

    label: str
    word: str | None  # None for a phrase
    children: list[int] = field(default_factory=list)  # places in the list of boxes
    level: int = 0
    width: float = 0.0
    left: float = 0.0
    center: float = 0.0


def lay_out(
    tree: Tree, measure_label: Measure, measure_word: Measure, gap: float, notes: Sequence[str] | None = None
) -> list[Box]:
    """The boxes of a tree, each before its children. ``notes`` go beside the labels, one for each phrase."""
    boxes = _boxes(tree, notes)
    for box in reversed(boxes):
        children = [boxes[child] for child in box.children]
        box.level = 1 + max((child.level for child in children), default=-1)
        own = max(measure_label(box.label), 0.0 if box.word is None else measure_word(box.word)) + gap
        box.width = max(own, sum(child.width for child in children))
    for box in boxes:
        children = [boxes[child] for child in box.children]
        left = box.left + (box.width - sum(child.width for child in children)) / 2
        for child in children:
            child.left = left
            left += child.width
    for box in reversed(boxes):
        ends = [boxes[child].center for child in (box.children[:1] + box.children[-1:])]
        half = (measure_label(box.label) + gap) / 2
        middle = sum(ends) / 2 if ends else box.left + box.width / 2
        box.center = min(max(middle, box.left + half), box.left + box.width - half)
    if is_right_to_left(tree):
        whole = boxes[0].width
        for box in boxes:
            box.center = whole - box.center
    return boxes


def _boxes(tree: Tree, notes: Sequence[str] | None) -> list[Box]:
    boxes: list[Box] = []
    rest = iter(notes or ())
    stack: list[tuple[Node, int]] = [(tree, -1)]
    while stack:
        node, parent = stack.pop()
        if parent >= 0:
            boxes[parent].children.append(len(boxes))
        if isinstance(node, Leaf):
            boxes.append(Box(visible(node.tag), visible(node.word)))
        else:
            boxes.append(Box(f"{visible(node.label)} {next(rest, '')}".rstrip(), None))
            place = len(boxes) - 1
            stack.extend((child, place) for child in reversed(node.children))
    return boxes


def visible(text: str) -> str:
    """Text that can be drawn anywhere: controls become a replacement sign, direction marks go."""
    if text.isprintable():
        return text
    kinds = map(unicodedata.category, text)
    return "".join(_shown(character, kind) for character, kind in zip(text, kinds, strict=True)) or "\ufffd"


def _shown(character: str, kind: str) -> str:
    if character in "\u200c\u200d":  # they shape letters and join emoji
        return character
    return "" if kind == "Cf" else "\ufffd" if kind in ("Cc", "Cs", "Cn", "Co") else character


def is_right_to_left(tree: Tree) -> bool:
    """Whether most words are written from right to left; the first one stands on the right then."""
    words = [word for word in tree.words() if any(map(str.isalpha, word))]
    return sum(map(_goes_left, words)) > len(words) / 2


def _goes_left(word: str) -> bool:
    """By the first letter that has a direction."""
    directions = map(unicodedata.bidirectional, word)
    return next((direction for direction in directions if direction in ("L", "R", "AL")), "L") != "L"
