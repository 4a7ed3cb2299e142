"""Labels and their basic categories."""

from __future__ import annotations

import pytest

from fencepost.search.grammar import parse_pattern


@pytest.mark.parametrize(
    ("description", "label", "expected"),
    [
        ("NP", "NP", True),
        ("NP", "NP-SBJ", False),
        ("@NP", "NP-SBJ", True),
        ("@NP", "NP=2", True),
        ("@NP", "NP|X", True),
        ("@NP|VP", "VP-1", True),
        ("@/^N.?$/", "NP-SBJ", True),
        ("!@NP", "NP-SBJ", False),
        ("!NP", "NP-SBJ", True),
        ("@-LRB-", "-LRB-", True),
        ("@-NONE-", "-NONE-", True),
        ("@/^-$/", "--", True),
        ("@/^-X-Y$/", "-X-Y-Z", True),
        ("@/^-a$/", "-a=b", True),
        ("/P$/", "NP", True),
        ("!/P$/", "NP", False),
        ("/np/i", "XNP", True),
        ("__", "anything", True),
        ("!__", "anything", False),
    ],
)
def test_label(description: str, label: str, expected: bool) -> None:
    assert parse_pattern(description).description.fits[label] is expected
