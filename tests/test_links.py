"""Relative links in Markdown pages must lead to files and headings of this repository."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = (".github", "benchmarks", "docs", "examples", "models", "src", "tests")
PAGES = sorted([*ROOT.glob("*.md"), *(page for folder in FOLDERS for page in (ROOT / folder).rglob("*.md"))])
CODE = re.compile(r"^(```|~~~).*?^\1|`[^`\n]+`", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(\s*<?([^)\s>]+)>?[^)]*\)|^\[[^\]]+\]:\s+(\S+)|\b(?:href|src)=\"([^\"]+)\"", re.MULTILINE)
ELSEWHERE = re.compile(r"[a-z]+:")


def links(text: str) -> list[str]:
    """The targets of all links and pictures, those within code left out."""
    found = ["".join(groups) for groups in LINK.findall(CODE.sub("", text))]
    return [unquote(target) for target in found if not ELSEWHERE.match(target)]


def anchors(text: str) -> set[str]:
    """The names that GitHub gives to the headings of a page: a second heading of the same name ends in ``-1``."""
    found: set[str] = set()
    for heading in re.findall(r"^#+\s+(.+?)\s*#*$", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S), re.MULTILINE):
        plain = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        again = sum(1 for name in found if re.fullmatch(rf"{re.escape(slug)}(-\d+)?", name))
        found.add(f"{slug}-{again}" if again else slug)
    return found


def broken(page: Path) -> list[str]:
    """The links of a page that lead nowhere."""
    return [target for target in links(page.read_text("utf-8")) if not _leads_somewhere(page, target)]


def _leads_somewhere(page: Path, target: str) -> bool:
    path, _, anchor = target.partition("#")
    file = (page.parent / path).resolve() if path else page
    if not file.exists() or (file != ROOT and ROOT not in file.parents):
        return False
    return not anchor or file.suffix != ".md" or anchor in anchors(file.read_text("utf-8"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    assert broken(page) == []


def test_the_pages_that_readers_start_with_are_checked() -> None:
    assert {"README.md", "CONTRIBUTING.md", "CHANGELOG.md"} <= {page.name for page in PAGES}
    assert {ROOT / "docs", ROOT / "models" / "english"} <= {page.parent for page in PAGES}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('[a](b.md) ![c](d.svg "title")', ["b.md", "d.svg"]),
        ("[a][1]\n\n[1]: b.md#part\n", ["b.md#part"]),
        ('<img src="a.png"> <a href="b.md">', ["a.png", "b.md"]),
        ("[a](https://example.org/b.md) [c](mailto:d@e.org)", []),
        ("`[a](b.md)`\n```\n[c](d.md)\n```\n[e](f%20g.md)", ["f g.md"]),
    ],
)
def test_links_are_found_outside_of_code(text: str, expected: list[str]) -> None:
    assert links(text) == expected


def test_headings_are_named_as_on_github() -> None:
    text = "# One, two: `three_four`!\n## [Link](x.md) – here\n## Twice\n```\n# no heading\n```\n## Twice\n"
    assert anchors(text) == {"one-two-three_four", "link--here", "twice", "twice-1"}


def test_a_link_to_a_missing_file_or_heading_is_broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.test_links.ROOT", tmp_path)
    (tmp_path / "other.md").write_text("# Here\n")
    page = tmp_path / "page.md"
    page.write_text("# Top\n[a](#top) [b](#bottom) [c](other.md#here) [d](other.md#there) [e](none.md) [f](../x)")
    assert broken(page) == ["#bottom", "other.md#there", "none.md", "../x"]
