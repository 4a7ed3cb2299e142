"""Subtrees over several lines, with the line ends and blanks of CoreNLP's ``pennString``."""

from __future__ import annotations

from fencepost.search.nodes import Nodes


def penn_text(nodes: Nodes, number: int) -> str:
    """A node of a tree. A tag stays on the line of its parent, or of the tag before it; CC starts a line of its own."""
    labels, ends = nodes.labels, nodes.ends
    if ends[number] <= number + 2:  # a word, or a tag with its word
        return f"{nodes.brackets(number)}\n"
    pieces: list[str] = []
    above: list[int] = []  # the open phrases
    first = False  # this node is the first child of its parent
    after_tag = False  # it comes after a tag that isn't CC
    at = number
    while at < ends[number]:
        label = labels[at]
        is_tag = ends[at] == at + 2
        if above:
            stays = is_tag and (first or (after_tag and not label.startswith("CC")))
            pieces.append(" " if stays else "\n" + "  " * len(above))
        if not is_tag:
            pieces.append(f"({label}")
            above.append(at)
            first = True
            at += 1
            continue
        pieces.append(f"({label} {labels[at + 1]})")
        first, after_tag = False, not label.startswith("CC")
        at += 2
        while above and ends[above[-1]] == at:
            above.pop()
            pieces.append(")")
            after_tag = False
    return "".join(pieces) + "\n"
