"""An extension of Griffe, which reads the source for the reference: examples become code, comments become descriptions.

Our docstrings have examples between paragraphs, without a heading; Markdown would read ``>>>`` as quotations. A field
of a dataclass is described by the comment on its line.
"""

from __future__ import annotations

import re
from typing import Any, Final

import griffe

_EXAMPLE: Final = re.compile(r"^( *)>>> .*(?:\n(?! *$).*)*", re.MULTILINE)
_COMMENT: Final = re.compile(r"  # (?!noqa|type:)(.+)$")


def fence(text: str) -> str:
    """A docstring with a fence around each example, which ends at an empty line."""
    return _EXAMPLE.sub(lambda example: f"{example[1]}```pycon\n{example[0]}\n{example[1]}```", text)


def describe(line: str) -> str | None:
    """The comment at the end of a line of code, as a sentence."""
    comment = _COMMENT.search(line)
    return None if comment is None else f"{comment[1][0].upper()}{comment[1][1:].rstrip('.')}."


class OurDocstrings(griffe.Extension):
    """Prepares the docstrings of everything that is read."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = fence(obj.docstring.value)

    def on_attribute_instance(self, *, attr: griffe.Attribute, **_: Any) -> None:
        if attr.docstring is None and attr.lineno is not None and "instance-attribute" in attr.labels:
            text = describe(attr.lines_collection[attr.filepath][attr.lineno - 1])  # type: ignore[index]
            attr.docstring = None if text is None else griffe.Docstring(text, parent=attr)
