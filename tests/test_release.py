"""What a release needs: one version everywhere, one set of addresses, and distributions with the right files."""

from __future__ import annotations

import re
import sys
import zipfile
from datetime import date
from pathlib import Path
from typing import Any

from distributions.build import PYTHONS, differences

import fencepost

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
CITATION = (ROOT / "CITATION.cff").read_text("utf-8")
HEADINGS = re.findall(r"^## (\S+?)(?:, (.+))?$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)


def cited(key: str) -> list[str]:
    return re.findall(rf"^{key}: (.+)$", CITATION, re.MULTILINE)


def test_the_version_is_the_same_everywhere() -> None:
    assert PROJECT["version"] == fencepost.__version__
    assert cited("version") == [fencepost.__version__]
    assert HEADINGS[0][0] == fencepost.__version__


def test_the_date_of_the_release_is_the_same_in_the_changelog_and_the_citation() -> None:
    said = HEADINGS[0][1]
    assert cited("date-released") == ([] if said == "unreleased" else [said])
    assert said == "unreleased" or date.fromisoformat(said)


def test_the_addresses_agree() -> None:
    urls = PROJECT["urls"]
    assert cited("repository-code") == [urls["Source"]]
    assert cited("url") == [urls["Documentation"]]
    assert all(urls[name].startswith(urls["Source"]) for name in ("Changelog", "Issues"))


def test_the_supported_versions_of_python_agree() -> None:
    prefix = "Programming Language :: Python :: "
    named = [each.removeprefix(prefix) for each in PROJECT["classifiers"] if re.fullmatch(rf"{prefix}3\.\d+", each)]
    assert tuple(named) == PYTHONS
    assert PROJECT["requires-python"] == f">={PYTHONS[0]}"
    matrix = ", ".join(f'"{python}"' for python in PYTHONS)
    assert f"python-version: [{matrix}]" in (ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8")


def test_wheels_are_compared_by_their_files(tmp_path: Path) -> None:
    for name, files in {"one": {"a": "1", "b": "2"}, "other": {"a": "1", "b": "3", "c": "4"}}.items():
        with zipfile.ZipFile(tmp_path / name, "w") as wheel:
            for file, text in files.items():
                wheel.writestr(file, text)
    assert differences(tmp_path / "one", tmp_path / "other") == ["b", "c"]
    assert differences(tmp_path / "one", tmp_path / "one") == []
