"""The width of text in a terminal and in a picture."""

from __future__ import annotations

import unicodedata

import pytest

from fencepost.drawing.terminal import pretty
from fencepost.drawing.text_width import cell_widths, cells, pixels
from fencepost.trees.tree import Leaf, Tree


@pytest.mark.parametrize(
    ("text", "width"),
    [
        ("", 0),
        ("cat", 3),
        ("漢字a", 5),
        ("ｗｉｄｅ", 8),  # full-width letters
        ("e\u0301", 1),
        ("שָׁלוֹם", 4),  # four letters with their vowels
        ("ن\u200cم", 2),
        ("한국", 4),
        (unicodedata.normalize("NFD", "한국"), 4),
        ("😀", 2),
        ("👍🏽", 2),  # with a skin tone
        ("🏽", 2),  # the skin tone alone
        ("👩\u200d💻", 2),  # a woman joined to a computer
        ("👩\u200d❤\ufe0f\u200d👨", 2),
        ("❤", 1),
        ("❤\ufe0f", 2),  # in emoji style
        ("1\ufe0f\u20e3", 2),  # a key cap
        ("🇫🇷", 2),
        ("क्\u200dष", 2),  # a joiner shapes letters but doesn't hide them
    ],
)
def test_cells_of_a_terminal(text: str, width: int) -> None:
    assert cells(text) == width
    assert len(cell_widths(text)) == len(text)


def test_pixels_grow_with_the_font() -> None:
    assert pixels("cat", 32) == pytest.approx(2 * pixels("cat", 16))


@pytest.mark.parametrize(("narrower", "wider"), [("i", "e"), ("e", "E"), ("e", "m"), ("E", "漢"), ("❤", "❤\ufe0f")])
def test_pixels_know_narrow_and_wide_letters(narrower: str, wider: str) -> None:
    assert pixels(narrower, 16) < pixels(wider, 16)


@pytest.mark.parametrize(
    ("composed", "plain"), [("e\u0301", "e"), ("👍🏽", "👍"), ("👩\u200d💻", "👩"), ("\u1112\u1161", "\u1112")]
)
def test_characters_that_join_another_add_no_pixels(composed: str, plain: str) -> None:
    assert pixels(composed, 16) == pixels(plain, 16)


def test_emoji_of_several_characters_stay_whole_in_a_terminal() -> None:
    tree = Tree("TOP", [Leaf("X", "👩\u200d💻"), Leaf("X", "👍🏽"), Leaf("X", "n\u0303")])
    *_, tags, words = pretty(tree, 40).splitlines()
    assert words.split() == tree.words()
    assert [index for index, tag in enumerate(tags) if tag == "X"] == [2, 6, 9]
    assert cells(words) == 10
