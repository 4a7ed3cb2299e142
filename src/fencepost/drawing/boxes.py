"""The layout of a drawn tree: words in one row at the bottom, each phrase centred above its children."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from fencepost.drawing.direction import is_right_to_left
from fencepost.drawing.visible_text import visible
from fencepost.trees.tree import Leaf, Node, Tree

Measure = Callable[[str], float]


@dataclass
class Box:
    """A phrase, or a word under its tag. ``level`` counts rows upwards from the tags, which are at 0."""

    label: str
    word: str | None  # None for a phrase
    children: list[int] = field(default_factory=list)  # indices into the list of boxes
    level: int = 0
    width: float = 0.0
    left: float = 0.0
    center: float = 0.0


def lay_out(
    tree: Tree, measure_label: Measure, measure_word: Measure, gap: float, notes: Sequence[str] | None = None
) -> list[Box]:
    """The boxes of a tree, each before its children.

    The functions measure a text in the unit of the result; ``gap`` is the least room between two boxes.
    ``notes`` go beside the labels, one for each phrase.
    """
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
    if is_right_to_left(tree.words()):
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
            index = len(boxes) - 1
            stack.extend((child, index) for child in reversed(node.children))
    return boxes
