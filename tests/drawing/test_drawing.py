"""Drawings: for a terminal, as SVG, and as a page."""

from __future__ import annotations

import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.drawing.html import FOOT, HEAD, figure
from fencepost.drawing.svg import stack_svg, to_svg
from fencepost.drawing.terminal import indented
from fencepost.drawing.text_width import cells
from fencepost.trees.tree import Leaf, Tree
from tests.samples import TREES

CAT = TREES[0]
WORDS = st.text(
    st.characters(exclude_categories=["Zs", "Zl", "Zp", "Cs"], exclude_characters="\0\t\n\r\v\f"), min_size=1
)
SVG = "{http://www.w3.org/2000/svg}"


def words_by_place(drawing: str) -> list[str]:
    """The words of an SVG from left to right."""
    texts = [text for text in ElementTree.fromstring(drawing).iter(f"{SVG}text") if text.get("class") == "word"]
    return [text.text or "" for text in sorted(texts, key=lambda text: float(text.get("x") or 0))]


def test_a_small_tree_is_drawn_with_lines() -> None:
    assert TREES[1].pretty(40).splitlines() == [
        "       TOP",
        "        │",
        "        S",
        "  ┌─────┼────┐",
        " NP    VP    │",
        "  │     │    │",
        " PRP   VBZ   .",
        " It   works  .",
    ]


def test_all_labels_and_words_are_in_the_drawing() -> None:
    for tree in TREES:
        drawn = tree.pretty(200).split()
        for symbol in [*tree.words(), *tree.tags(), *(phrase.label for phrase in tree.subtrees())]:
            assert symbol in drawn


def test_wide_characters_take_two_cells() -> None:
    assert cells("漢字a") == 5
    assert cells("e\u0301") == 1
    drawn = Tree("TOP", [Leaf("N", "漢字"), Leaf("V", "です")]).pretty(40).splitlines()
    assert drawn[-1] == " 漢字  です"
    assert drawn[-2].index("V") - drawn[-2].index("N") == cells("漢字  ")


def test_a_tree_wider_than_the_terminal_is_indented_brackets() -> None:
    assert CAT.pretty(30).splitlines() == [
        "(TOP",
        "  (S",
        "    (NP (DT The) (NN cat))",
        "    (VP",
        "      (VBD sat)",
        "      (PP",
        "        (IN on)",
        "        (NP (DT the) (NN mat))))",
        "    (. .)))",
    ]


@pytest.mark.parametrize("tree", TREES)
@pytest.mark.parametrize("width", [1, 20, 40, 200])
def test_indented_brackets_read_back(tree: Tree, width: int) -> None:
    assert Tree.from_string(indented(tree, width)) == tree


def test_a_very_deep_tree_can_be_drawn() -> None:
    tree = Tree("X", [Leaf("N", "n")])
    for _ in range(3000):
        tree = Tree("X", [tree])
    assert Tree.from_string(tree.pretty(1)) == tree
    ElementTree.fromstring(tree.to_svg())


@given(st.lists(WORDS, min_size=1, max_size=6))
def test_any_words_give_well_formed_drawings(words: list[str]) -> None:
    tree = Tree("TOP", [Tree("S", [Leaf("X", word) for word in words])])
    assert len(words_by_place(tree.to_svg())) == len(words)
    ElementTree.fromstring(figure(" ".join(words), tree))
    assert tree.pretty(1000)


def test_markup_in_words_is_escaped() -> None:
    assert words_by_place(Tree("NP", [Leaf("NN", "<b>&amp;")]).to_svg()) == ["<b>&amp;"]


def test_words_go_left_to_right_and_in_hebrew_right_to_left() -> None:
    assert words_by_place(CAT.to_svg()) == CAT.words()
    hebrew = Tree("TOP", [Leaf("NN", "שלום"), Leaf("NN", "עולם"), Leaf(".", "!")])
    assert words_by_place(hebrew.to_svg()) == hebrew.words()[::-1]
    assert 'direction="rtl"' in hebrew.to_svg()


def test_words_do_not_overlap() -> None:
    texts = [text for text in ElementTree.fromstring(CAT.to_svg()).iter(f"{SVG}text") if text.get("class") == "word"]
    places = [float(text.get("x") or 0) for text in texts]
    assert all(right - left > 15 for left, right in pairwise(places))


def test_the_branches_of_a_phrase_are_one_line() -> None:
    """Several would look darker where they overlap."""
    drawing = ElementTree.fromstring(to_svg(Tree.from_string("(S (NP (DT The) (NN cat)) (VP (VBD sat)) (. .))")))
    lines = [path.get("d", "") for path in drawing.iter(f"{SVG}path")]
    assert [line.count("M") for line in lines] == [3, 2, 1]  # the children of S, NP and VP


def test_notes_stand_beside_the_labels_of_phrases() -> None:
    notes = ["", "99%", "50%", "1%"]
    texts = [text.text for text in ElementTree.fromstring(to_svg(TREES[1], notes)).iter(f"{SVG}text")]
    assert [text for text in texts if text and "%" in text] == ["S 99%", "NP 50%", "VP 1%"]


def test_a_notebook_shows_the_drawing() -> None:
    assert CAT._repr_svg_() == CAT.to_svg()


def test_drawings_are_stacked_in_one_picture() -> None:
    drawings = [tree.to_svg() for tree in TREES[:3]]
    parts = list(ElementTree.fromstring(stack_svg(drawings)))
    tops = [int(part.get("y") or 0) for part in parts]
    heights = [int(part.get("height") or 0) for part in parts]
    assert tops == [0, heights[0], heights[0] + heights[1]]


def test_a_page_needs_nothing_from_elsewhere() -> None:
    page = HEAD + figure("The cat sat on the mat.", CAT) + FOOT
    assert "The cat sat on the mat." in page
    assert not re.search(r"<script|src=|href=|@import|url\(", page)


def test_the_caption_of_a_page_runs_the_way_of_its_drawing() -> None:
    for word, direction in (("שלום", "rtl"), ("hello", "ltr")):
        tree = Tree("TOP", [Leaf("X", "IBM"), Leaf("X", word), Leaf("X", word)])
        caption = ElementTree.fromstring(figure("IBM …", tree)).find("figcaption")
        assert caption is not None
        assert caption.get("dir") == direction
