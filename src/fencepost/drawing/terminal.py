"""Trees for a terminal, drawn with box characters; one that is too wide is written as indented brackets."""

from __future__ import annotations

import shutil
import unicodedata
from collections.abc import Sequence
from typing import Final

from fencepost.drawing.boxes import Box, lay_out, visible
from fencepost.trees.tree import Leaf, Node, Tree, escape

# Which ways a line goes on: up, down, left, right.
_LINES: Final = {
    (True, True, False, False): "│",
    (False, False, True, True): "─",
    (True, False, True, True): "┴",
    (True, True, True, True): "┼",
    (True, True, False, True): "├",
    (True, True, True, False): "┤",
    (True, False, False, True): "└",
    (True, False, True, False): "┘",
    (False, True, True, True): "┬",
    (False, True, False, True): "┌",
    (False, True, True, False): "┐",
}
_DEEPEST_INDENT: Final = 100


def pretty(tree: Tree, width: int | None = None, notes: Sequence[str] | None = None) -> str:
    """A drawing of the tree, no wider than ``width`` columns (by default the terminal's)."""
    width = shutil.get_terminal_size().columns if width is None else width
    boxes = lay_out(tree, columns, columns, 2, notes)
    if boxes[0].width > width:
        return indented(tree, width, notes)
    return _draw(boxes)


def columns(text: str) -> int:
    """How many columns of a terminal a text takes."""
    return sum(map(_columns, text))


def _columns(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _draw(boxes: list[Box]) -> str:
    """Two rows a level: labels, and the lines below them. Tags stand right above their words."""
    top = boxes[0].level
    canvas = [[" "] * (int(boxes[0].width) + 2) for _ in range(2 * top + 2)]
    for box in boxes:
        row = 2 * (top - box.level)
        _write(canvas[row], box.label, box.center)
        if box.word is not None:
            _write(canvas[row + 1], box.word, box.center)
            continue
        children = [boxes[child] for child in box.children]
        _connect(canvas[row + 1], int(box.center), [int(child.center) for child in children])
        for child in children:
            for between in range(row + 2, 2 * (top - child.level)):
                canvas[between][int(child.center)] = "│"
    return "\n".join("".join(row).rstrip() for row in canvas)


def _write(row: list[str], text: str, center: float) -> None:
    place = int(center) - columns(text) // 2
    for character in text:
        size = _columns(character)
        if size == 0:
            row[max(place - 1, 0)] += character
            continue
        row[place] = character
        if size == 2:
            row[place + 1] = ""
        place += size


def _connect(row: list[str], parent: int, children: list[int]) -> None:
    first, last = min(parent, *children), max(parent, *children)
    for place in range(first, last + 1):
        row[place] = _LINES[place == parent, place in children, place > first, place < last]


def indented(tree: Tree, width: int, notes: Sequence[str] | None = None) -> str:
    """The tree in brackets over several lines; what fits on one line stays on one."""
    nodes = list(tree.walk())
    rest = iter(notes or ())
    titles = [_title(node, next(rest, "") if isinstance(node, Tree) else "") for node in nodes]
    sizes, ends = _sizes(nodes, titles)
    lines: list[str] = []
    closing: list[int] = []  # where the phrases end that are open
    place = 0
    while place < len(nodes):
        indent = 2 * min(len(closing), _DEEPEST_INDENT)
        end = ends[place] if indent + sizes[place] <= width or isinstance(nodes[place], Leaf) else place + 1
        text = _flat(nodes[place:end], titles[place:end], [ends[one] for one in range(place, end)], place)
        if end < ends[place]:
            closing.append(ends[place])
        place = end
        while closing and closing[-1] == place:
            closing.pop()
            text += ")"
        lines.append(" " * indent + text)
    return "\n".join(lines)


def _title(node: Node, note: str) -> str:
    if isinstance(node, Leaf):
        return f"({visible(node.tag)} {visible(escape(node.word))})"
    return f"({visible(node.label)} {note}".rstrip()


def _sizes(nodes: list[Node], titles: list[str]) -> tuple[list[int], list[int]]:
    """The columns that each node takes on one line, and the place after its last descendant."""
    sizes, ends = [0] * len(nodes), [0] * len(nodes)
    done: list[int] = []  # nodes without a parent so far, the leftmost last
    for place in range(len(nodes) - 1, -1, -1):
        node = nodes[place]
        children = [done.pop() for _ in node.children] if isinstance(node, Tree) else []
        closed = 1 if children else 0
        sizes[place] = columns(titles[place]) + closed + sum(1 + sizes[child] for child in children)
        ends[place] = ends[children[-1]] if children else place + 1
        done.append(place)
    return sizes, ends


def _flat(nodes: list[Node], titles: list[str], ends: list[int], first: int) -> str:
    """Nodes on one line, with the brackets closed of those that end among them."""
    last = first + len(nodes)
    parts: list[str] = []
    open_ends: list[int] = []
    for place, (node, title, end) in enumerate(zip(nodes, titles, ends, strict=True), first):
        if isinstance(node, Tree) and end <= last:
            open_ends.append(end)
            parts.append(title)
            continue
        while open_ends and open_ends[-1] == place + 1:
            open_ends.pop()
            title += ")"
        parts.append(title)
    return " ".join(parts)
