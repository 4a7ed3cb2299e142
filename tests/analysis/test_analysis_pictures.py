"""Pictures: well-formed, with the words in them, and drawn where they say."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from io import BytesIO

import numpy as np
import pytest
from matplotlib.image import imread as read_png

from fencepost.analysis import png, svg
from fencepost.analysis.tokens import START, STOP
from fencepost.drawing.colours import BLUE, ORANGE

AWKWARD = ["<b>", '"&"', "שלום", "猫"]


def texts(picture: str) -> list[str]:
    root = ElementTree.fromstring(picture)
    return [element.text or "" for element in root.iter() if element.tag.endswith("}text")]


@pytest.mark.parametrize("upright", [True, False])
def test_names_stand_in_a_heat_map_whatever_their_letters(upright: bool) -> None:
    assert texts(svg.heat_map(np.eye(4), AWKWARD, AWKWARD, upright=upright)) == AWKWARD * 2


def test_a_cell_is_as_dark_as_its_number() -> None:
    picture = svg.heat_squares(np.array([[0.0, 0.5], [1.0, 0.01]]))
    assert re.findall(r'd="([^"]*)" fill-opacity="([^"]*)"', picture) == [
        ("M1 0h1v1h-1z", "0.5"),
        ("M0 1h1v1h-1z", "1"),
    ]


def test_a_number_over_the_maximum_is_as_dark_as_can_be() -> None:
    assert 'fill-opacity="1"' in svg.heat_squares(np.array([[7.0]]), maximum=2.0)


def test_arcs_go_above_to_earlier_and_below_to_later_words_and_small_ones_are_left_out() -> None:
    matrix = np.array([[0.0, 0.6, 0.05], [0.3, 0.0, 0.0], [0.0, 0.0, 0.9]])
    picture = svg.arcs(["a", "b", "c"], matrix)
    titles = re.findall(r"<title>(.*?)</title>", picture)
    assert titles == ["b → a: 0.30", "a → b: 0.60"]
    assert re.findall(r'stroke="(#\w+)"', picture) == [BLUE, ORANGE]
    assert picture.count("<circle") == 1


def test_a_sentence_without_arcs_is_still_drawn() -> None:
    assert texts(svg.arcs(AWKWARD, np.zeros((4, 4)))) == AWKWARD


def test_bars_are_as_long_as_their_values() -> None:
    picture = svg.bars([("NP", 50.0, "10"), ("VP", 120.0, "3")], width=200)
    lengths = re.findall(rf'width="([\d.]+)" height="15" fill="{BLUE}"', picture)
    assert lengths == ["100.0", "200.0"]


def test_wide_letters_get_more_room_and_marks_none() -> None:
    assert svg.text_width("猫") > 1.5 * svg.text_width("a")
    assert svg.text_width("e\u0301") == svg.text_width("e")


def places(picture: str) -> list[float]:
    return [float(x) for x in re.findall(r'<text x="([\d.]+)"', picture)]


def test_hebrew_runs_from_right_to_left_and_english_from_left_to_right() -> None:
    nothing = np.zeros((4, 4))
    hebrew, english = (
        places(svg.arcs(["שלום", "לך", "3", "!"], nothing)),
        places(svg.arcs(["a", "b", "3", "!"], nothing)),
    )
    assert hebrew == sorted(hebrew, reverse=True)
    assert english == sorted(english)


def test_the_start_and_stop_tokens_have_no_say_in_the_direction() -> None:
    hebrew = places(svg.arcs([START, "שלום", "לך", STOP], np.zeros((4, 4))))
    assert hebrew == sorted(hebrew, reverse=True)


def pixels(picture: bytes) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    return np.asarray(read_png(BytesIO(picture)), np.float32)


def test_a_png_of_awkward_words_is_drawn_and_dollars_make_no_formula() -> None:
    tokens = [*AWKWARD, "$5$", "x_1^2$"]
    with png.fonts():
        arcs, heat = (
            png.arcs(tokens, np.eye(6)[::-1], ""),
            png.heat_map(np.eye(6), tokens, tokens, ("", ""), ""),
        )
    assert pixels(arcs).std() > 0
    assert pixels(heat).std() > 0


def test_a_png_is_darker_for_more_attention() -> None:
    none, some = (pixels(png.heat_map(np.full((3, 3), x), "abc", "abc", ("", ""), "")) for x in (0.0, 1.0))
    assert some.mean() < none.mean()


def test_arcs_of_a_png_are_blue_above_and_orange_below() -> None:
    earlier = np.zeros((3, 3))
    earlier[2, 0] = 1.0
    for matrix, blue_half in ((earlier, "top"), (earlier.T, "bottom")):
        red, _, blue, *_ = np.moveaxis(pixels(png.arcs("abc", matrix, "")), -1, 0)
        difference = np.abs(red - blue).sum(1)
        top, bottom = np.array_split(difference, 2)
        assert (top.sum() > bottom.sum()) == (blue_half == "top")


def test_labels_in_capitals_have_room_beside_their_bars() -> None:
    (start,) = [
        float(x) for x in re.findall(r'<rect x="([\d.]+)"[^>]*fill="#eef1f4"', svg.bars([("WHADVP", 50.0, "")]))
    ]
    assert start > 54  # pixels that the label takes in DejaVu Sans, a wide font
