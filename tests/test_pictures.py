"""Pictures in the documentation are what our own drawing makes of a tree."""

from __future__ import annotations

from pathlib import Path

from fencepost.drawing.svg import to_svg
from fencepost.trees.tree import Tree

ROOT = Path(__file__).parents[1]
TREE = """
(TOP (S (NP (NP (DT A) (NN picket)) (PP (IN between) (NP (CD two) (NNS fenceposts))))
        (VP (VBZ is) (NP (NP (DT a) (NN phrase)) (PP (IN of) (NP (DT the) (NN sentence)))))
        (. .)))
"""


def test_the_picture_in_the_readme_is_drawn_by_us() -> None:
    picture = (ROOT / "docs" / "pictures" / "tree.svg").read_text("utf-8")
    assert picture == to_svg(Tree.from_string(TREE)) + "\n"
    assert "docs/pictures/tree.svg" in (ROOT / "README.md").read_text("utf-8")
