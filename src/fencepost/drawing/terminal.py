"""Trees for a terminal, drawn with box characters. A tree that is too wide is written as indented brackets."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from typing import Final

from fencepost.drawing.boxes import Box, lay_out
from fencepost.drawing.text_width import cell_widths, cells
from fencepost.drawing.visible_text import visible
from fencepost.trees.tree import Leaf, Node, Tree, escape

# By the directions in which a line continues: up, down, left, right.
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
    """A drawing of the tree, no wider than ``width`` cells; the default is the width of the terminal."""
    width = shutil.get_terminal_size().columns if width is None else width
    boxes = lay_out(tree, cells, cells, 2, notes)
    if boxes[0].width > width:
        return indented(tree, width, notes)
    return _draw(boxes)


def _draw(boxes: list[Box]) -> str:
    """Draws two rows per level: labels, and the lines below them. Tags stand right above their words."""
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
    column = int(center) - cells(text) // 2
    last = max(column - 1, 0)  # the last cell with a character: marks are added to it
    for character, width in zip(text, cell_widths(text), strict=True):
        if width == 0:
            row[last] += character
            continue
        row[column] = character
        if width == 2:
            row[column + 1] = ""
        last, column = column, column + width


def _connect(row: list[str], parent: int, children: list[int]) -> None:
    first, last = min(parent, *children), max(parent, *children)
    for column in range(first, last + 1):
        row[column] = _LINES[column == parent, column in children, column > first, column < last]


def indented(tree: Tree, width: int, notes: Sequence[str] | None = None) -> str:
    """The tree in brackets over several lines; a phrase that fits on one line stays on one."""
    nodes = list(tree.walk())
    rest = iter(notes or ())
    titles = [_title(node, next(rest, "") if isinstance(node, Tree) else "") for node in nodes]
    sizes, ends = _sizes(nodes, titles)
    lines: list[str] = []
    closing: list[int] = []  # where each open phrase ends
    index = 0
    while index < len(nodes):
        indent = 2 * min(len(closing), _DEEPEST_INDENT)
        end = ends[index] if indent + sizes[index] <= width or isinstance(nodes[index], Leaf) else index + 1
        text = _flat(nodes[index:end], titles[index:end], ends[index:end], index)
        if end < ends[index]:
            closing.append(ends[index])
        index = end
        while closing and closing[-1] == index:
            closing.pop()
            text += ")"
        lines.append(" " * indent + text)
    return "\n".join(lines)


def _title(node: Node, note: str) -> str:
    if isinstance(node, Leaf):
        return f"({visible(node.tag)} {visible(escape(node.word))})"
    return f"({visible(node.label)} {note}".rstrip()


def _sizes(nodes: list[Node], titles: list[str]) -> tuple[list[int], list[int]]:
    """For each node: the cells it takes on one line, and the index after its last descendant."""
    sizes, ends = [0] * len(nodes), [0] * len(nodes)
    done: list[int] = []  # nodes whose parent hasn't come yet, the leftmost last
    for index in range(len(nodes) - 1, -1, -1):
        node = nodes[index]
        children = [done.pop() for _ in node.children] if isinstance(node, Tree) else []
        closed = 1 if children else 0
        sizes[index] = cells(titles[index]) + closed + sum(1 + sizes[child] for child in children)
        ends[index] = ends[children[-1]] if children else index + 1
        done.append(index)
    return sizes, ends


def _flat(nodes: list[Node], titles: list[str], ends: list[int], first: int) -> str:
    """Nodes on one line. Phrases that end among them get their closing bracket."""
    last = first + len(nodes)
    parts: list[str] = []
    open_ends: list[int] = []
    for index, (node, title, end) in enumerate(zip(nodes, titles, ends, strict=True), first):
        if isinstance(node, Tree) and end <= last:
            open_ends.append(end)
            parts.append(title)
            continue
        while open_ends and open_ends[-1] == index + 1:
            open_ends.pop()
            title += ")"
        parts.append(title)
    return " ".join(parts)
