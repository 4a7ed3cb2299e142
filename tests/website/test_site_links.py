"""Links of pages, as the site has them."""

from __future__ import annotations

import pytest
from website.links import github_anchor, plain_bars, rewrite_links, site_link

HUB = "https://example.org/fencepost"


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("text.md#sentences", "text.md#sentences"),
        ("results/README.md", "results/README.md"),
        ("results", "results/README.md"),
        ("pictures/tree.svg", "pictures/tree.svg"),
        ("#here", "#here"),
        ("missing.md", "missing.md"),
        ("../missing/file.py", "../missing/file.py"),
        ("https://example.com/a.md", "https://example.com/a.md"),
        ("mailto:someone@example.com", "mailto:someone@example.com"),
        ("../CHANGELOG.md#020", "changelog.md#020"),
        ("../src/fencepost/models/en/README.md", f"{HUB}/blob/main/src/fencepost/models/en/README.md"),
        ("../models/english/README.md#functions", f"{HUB}/blob/main/models/english/README.md#functions"),
        ("../benchmarks", f"{HUB}/tree/main/benchmarks"),
        ("results/h200-2026-11-15", f"{HUB}/tree/main/docs/results/h200-2026-11-15"),
    ],
)
def test_a_link_of_a_page_of_docs(target: str, expected: str) -> None:
    assert site_link(target, "docs/training.md", "training.md", HUB) == expected


def test_a_link_between_folders_of_docs() -> None:
    assert site_link("../text.md", "docs/results/cpu.md", "results/cpu.md", HUB) == "../text.md"
    assert site_link("../../SECURITY.md", "docs/results/cpu.md", "results/cpu.md", HUB) == "../security.md"


def test_a_link_of_a_page_outside_docs() -> None:
    assert site_link("docs/text.md", "CHANGELOG.md", "changelog.md", HUB) == "text.md"
    assert site_link("README.md", "CHANGELOG.md", "changelog.md", HUB) == f"{HUB}/blob/main/README.md"


def test_links_in_code_stay_as_they_are() -> None:
    page = (
        "[a](../README.md) `[b](../README.md)`\n```\n[c](../README.md)\n```\n[`d`](../README.md)\n\n[e]: ../LICENSE\n"
    )
    assert rewrite_links(page, "docs/text.md", "text.md", HUB) == (
        f"[a]({HUB}/blob/main/README.md) `[b](../README.md)`\n```\n[c](../README.md)\n```\n"
        f"[`d`]({HUB}/blob/main/README.md)\n\n[e]: {HUB}/blob/main/LICENSE\n"
    )


def test_bars_in_the_code_of_a_table_lose_their_backslash() -> None:
    assert plain_bars("| `NP\\|VP` | a \\| b |\n\n`a\\|b`\n") == "| `NP|VP` | a \\| b |\n\n`a\\|b`\n"


def test_headings_are_named_as_on_github() -> None:
    assert github_anchor("One, two: three_four – here!", "-") == "one-two-three_four--here"
