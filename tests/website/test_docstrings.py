"""What the reference makes of docstrings and comments."""

from __future__ import annotations

import griffe  # noqa: F401
import pytest
from website.docstrings import describe, fence


def test_examples_get_a_fence_that_ends_at_an_empty_line() -> None:
    text = "Says it.\n\n>>> say()\n'it'\n>>> for x in y:\n...     x\n\nMore.\n\n>>> 1\n1"
    assert fence(text) == (
        "Says it.\n\n```pycon\n>>> say()\n'it'\n>>> for x in y:\n...     x\n```\n\nMore.\n\n```pycon\n>>> 1\n1\n```"
    )


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("    size: int = 64  # of a letter", "Of a letter."),
        ("    size: int = 64", None),
        ("    size: int = 64  # noqa: E501", None),
        ('    sign: str = "#"', None),
    ],
)
def test_the_comment_of_a_field_describes_it(line: str, expected: str | None) -> None:
    assert describe(line) == expected
