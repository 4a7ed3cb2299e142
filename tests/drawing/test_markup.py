"""SVG and HTML elements, and text that must not become one."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.drawing.markup import Markup, element, escape, join, picture
from fencepost.drawing.visible_text import visible


def test_elements_nest_and_text_is_escaped() -> None:
    source = element("p", "1 < 2, says ", element("b", "Ann & Bob"), class_="small")
    assert source == '<p class="small">1 &lt; 2, says <b>Ann &amp; Bob</b></p>'


def test_attributes_are_escaped_and_numbers_are_short() -> None:
    source = element("text", "", x=1.25, y=3, text_anchor='"><script>')
    assert source == '<text x="1.2" y="3" text-anchor="&quot;&gt;&lt;script&gt;"></text>'


def test_an_element_without_content_is_closed_at_once() -> None:
    assert element("path", d="M0 0") == '<path d="M0 0"/>'


def test_markup_is_not_escaped_twice() -> None:
    assert escape(escape("<")) == "&lt;"
    assert join(["<", Markup("<br>")]) == "&lt;<br>"


def test_markup_put_into_a_string_is_text_again() -> None:
    """So forgetting to vouch for markup can be seen on the page, and does no harm."""
    bold = element("b", "x")
    assert element("p", f"see {bold}") == "<p>see &lt;b&gt;x&lt;/b&gt;</p>"


@given(st.text())
def test_any_text_makes_well_formed_elements(text: str) -> None:
    root = ElementTree.fromstring(picture(1, 1, text, class_=text).encode("utf-8"))
    assert len(root) == 0


@pytest.mark.parametrize("character", ["\0", "\x07", "\x1b", "\ud800", "\ufffe", "\uffff"])
def test_characters_that_xml_cannot_hold_are_replaced(character: str) -> None:
    assert escape(f"a{character}b") == "a\ufffdb"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("cat", "cat"),
        ("\x1b[31m", "\ufffd[31m"),
        ("\u202eabc", "abc"),
        ("\u200f", "\ufffd"),
        ("👩\u200d💻", "👩\u200d💻"),
    ],
)
def test_visible_text_holds_no_controls_and_no_direction_marks(text: str, shown: str) -> None:
    assert visible(text) == shown
