"""One page of many trees, complete in itself: no scripts, no fonts, nothing fetched."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Final

from fencepost.drawing.boxes import visible
from fencepost.drawing.svg import STYLE, to_svg
from fencepost.trees.tree import Tree

HEAD: Final = (
    '<!DOCTYPE html>\n<html>\n<head>\n<meta charset="utf-8">\n<title>fencepost</title>\n<style>\n'
    "body{margin:2rem auto;max-width:75rem;padding:0 1rem;background:#fff;color:#111;"
    "font-family:'Helvetica Neue',Helvetica,Arial,'Noto Sans','DejaVu Sans',sans-serif}\n"
    "figure{margin:0 0 2.5rem}figcaption{margin-bottom:.5rem;line-height:1.5;overflow-wrap:anywhere}\n"
    ".drawing{overflow-x:auto;border:1px solid #dde2e7;border-radius:6px}.drawing svg{display:block;margin:0 auto}\n"
    f"{STYLE}\n</style>\n</head>\n<body>\n"
)
FOOT: Final = "</body>\n</html>\n"


def figure(text: str, tree: Tree, notes: Sequence[str] | None = None) -> str:
    """A sentence and its drawing."""
    caption = escape(visible(" ".join(text.split())))
    drawing = to_svg(tree, notes, standalone=False)
    return f'<figure><figcaption dir="auto">{caption}</figcaption><div class="drawing">{drawing}</div></figure>\n'
