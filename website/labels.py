"""The page about labels: what each one means, with an example. On the site, every example is drawn as a tree.

python -m website.labels      # writes the tables of docs/labels.md again, after a change of the table of labels
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from fencepost.drawing.markup import Markup, element, join
from fencepost.drawing.svg import to_svg
from fencepost.trees.label_names import KINDS, label_names
from fencepost.trees.tree import Leaf, Node, Tree

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE: Final = Path(__file__).resolve().parent
PAGE: Final = HERE.parent / "docs" / "labels.md"
TREES: Final[dict[str, dict[str, list[str]]]] = tomllib.loads((HERE / "label_trees.toml").read_text("utf-8"))
_TABLE: Final = re.compile(r"<!-- (phrases|tags|functions) -->\n.*?<!-- end -->\n", re.DOTALL)
_SIGNS: Final = {
    ".": "period",
    ",": "comma",
    ":": "colon",
    "``": "opening-quote",
    "''": "closing-quote",
    "$": "dollar",
    "#": "number",
}


def with_tables(markdown: str) -> str:
    """The page with a table in each of its places, for GitHub."""
    return _TABLE.sub(lambda place: f"<!-- {place[1]} -->\n{_table(place[1])}<!-- end -->\n", markdown)


def with_drawings(markdown: str) -> str:
    """The page with a drawing of every example instead of its tables, for the site."""
    return _TABLE.sub(lambda place: _cards(place[1]) + "\n", markdown)


def _table(kind: str) -> str:
    rows = [
        f"| {_code(label)} | {name.meaning} | {join(_with_marks(name.example, 'b'))} |\n"
        for label, name in label_names()[kind].items()
    ]
    return "".join(["| label | meaning | example |\n|---|---|---|\n", *rows])


def _code(label: str) -> str:
    return f"`` {label} ``" if "`" in label else f"`{label}`"


def _cards(kind: str) -> Markup:
    cards = [
        element(
            "section",
            element("h3", element("code", label), id=anchor(kind, label)),
            element("p", name.meaning),
            element("p", *_with_marks(name.example, "mark"), class_="example"),
            *(element("figure", drawing) for drawing in drawings(kind, label)),
            class_="label",
        )
        for label, name in label_names()[kind].items()
    ]
    return element("div", join(cards), class_="labels")


def _with_marks(example: str, name: str) -> Iterator[str]:
    """The example, with an HTML element of this name in place of its stars."""
    for index, part in enumerate(example.split("*")):
        yield element(name, part) if index % 2 else part


def anchor(kind: str, label: str) -> str:
    """The name of a label on the page, such as ``tag-NN``."""
    return f"{kind[:-1]}-{_SIGNS.get(label, label.strip('-').replace('$', '-dollar'))}"


def drawings(kind: str, label: str) -> list[Markup]:
    """The trees of an example, with its label marked."""
    phrases = label_names()[kind][label].example.split("; ")
    return [
        _draw(Tree.from_string(tree), kind, label, phrase)
        for tree, phrase in zip(TREES[kind][label], phrases, strict=True)
    ]


def _draw(tree: Tree, kind: str, label: str, example: str) -> Markup:
    """A phrase is one text of the drawing, a leaf is two: its tag and its word."""
    marked = {id(node) for node in marked_nodes(tree, kind, label, example)}
    texts = [(id(node) in marked, class_) for node in tree.walk() for class_ in _classes(node)]
    pieces = re.split(r'(?<=<text class=")(?=phrase|tag|word)', to_svg(tree, standalone=False))
    assert len(pieces) == len(texts) + 1
    marks = ("marked " if is_marked and class_ != "word" else "" for is_marked, class_ in texts)
    return Markup(pieces[0] + "".join(mark + piece for mark, piece in zip(marks, pieces[1:], strict=True)))


def _classes(node: Node) -> tuple[str, ...]:
    return ("tag", "word") if isinstance(node, Leaf) else ("phrase",)


def marked_nodes(tree: Tree, kind: str, label: str, example: str) -> list[Node]:
    """The nodes that the example's stars mark; an error if the tree hasn't the words and the label of its example."""
    text = re.sub(r"\s", "", example)
    if "".join(tree.words()) != text.replace("*", ""):
        raise ValueError(f"the words of {tree} aren't those of the example {example!r}")
    nodes: list[Node] = []
    for match in re.finditer(r"\*([^*]*)\*", text):
        start = len(text[: match.start()].replace("*", ""))
        wanted = start, start + len(match[1])
        found = [node for node, span in _spans(tree) if wanted[0] <= span[0] and span[1] <= wanted[1]]
        named = [node for node in found if _has(node, kind, label)]
        if "".join(map(_text, _outermost(named))) != match[1]:
            raise ValueError(f"no {label} of {tree} covers {match[1]!r}")
        nodes += _outermost(named)
    return nodes


def _spans(tree: Tree) -> Iterator[tuple[Node, tuple[int, int]]]:
    """Every node with its letters: where they begin and end among those of the tree."""
    start = 0
    for node in tree.walk():
        yield node, (start, start + len(_text(node)))
        if isinstance(node, Leaf):
            start += len(node.word)


def _text(node: Node) -> str:
    return node.word if isinstance(node, Leaf) else "".join(node.words())


def _has(node: Node, kind: str, label: str) -> bool:
    if isinstance(node, Leaf):
        return kind == "tags" and node.tag == label
    return label in node.label.split("-")[1:] if kind == "functions" else kind == "phrases" and node.label == label


def _outermost(nodes: list[Node]) -> list[Node]:
    below = {id(part) for node in nodes if isinstance(node, Tree) for part in node.walk() if part is not node}
    return [node for node in nodes if id(node) not in below]


def main() -> None:
    PAGE.write_text(with_tables(PAGE.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    assert set(TREES) == set(KINDS)
    main()
