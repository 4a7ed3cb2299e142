"""SVG and HTML elements, with escaping in one place.

Plain strings are text and are escaped; ``Markup`` is inserted as it is.
``element`` returns ``Markup``, so elements nest:

    >>> element("p", "1 < 2, says ", element("b", "Ann"), class_="small")
    '<p class="small">1 &lt; 2, says <b>Ann</b></p>'

A forgotten ``Markup`` shows as visible tags on the page. A word can never become a tag.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape as escape_html
from typing import Final

_NOT_XML: Final = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")  # XML can't hold these characters


class Markup(str):
    """SVG or HTML source. Write ``Markup(text)`` only for text that contains no user's words."""

    __slots__ = ()


def escape(text: str) -> Markup:
    """The source that shows this text; ``Markup`` is returned as it is."""
    return text if isinstance(text, Markup) else Markup(_NOT_XML.sub("\ufffd", escape_html(text)))


def join(parts: Iterable[str]) -> Markup:
    """Several texts or elements, one after another."""
    return Markup("".join(map(escape, parts)))


def element(name: str, /, *content: str, **attributes: str | float) -> Markup:
    """``<name attributes>content</name>``, or ``<name attributes/>`` without any content.

    In attribute names ``_`` stands for ``-``, and one at the end is dropped: ``class_``, ``text_anchor``.
    Numbers that aren't whole are written with one decimal.
    """
    opening = f"<{name}" + "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_attribute(value)}"' for key, value in attributes.items()
    )
    return Markup(f"{opening}>{join(content)}</{name}>" if content else f"{opening}/>")


def picture(width: int, height: int, /, *content: str, **attributes: str | float) -> Markup:
    """An ``<svg>`` element that is a complete picture, in a file or inside a page."""
    return element(
        "svg",
        *content,
        xmlns="http://www.w3.org/2000/svg",
        **attributes,
        width=width,
        height=height,
        viewBox=f"0 0 {width} {height}",
    )


def _attribute(value: str | float) -> str:
    return escape(value) if isinstance(value, str) else f"{value:.1f}" if isinstance(value, float) else str(value)
