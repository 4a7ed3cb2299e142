"""Dependencies: no version with a known hole is allowed, and lock files have a hash for every package."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]
SETTINGS: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PROJECT: dict[str, Any] = SETTINGS["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
ADVISORIES: list[dict[str, str]] = tomllib.loads((ROOT / "requirements/advisories.toml").read_text("utf-8"))["advisory"]
REQUIREMENTS: list[str] = [*PROJECT["dependencies"], *(each for group in EXTRAS.values() for each in group)]
BUILD: list[str] = SETTINGS["build-system"]["requires"]
NEEDED = {  # what each lock file is for; torch is in none
    "base.txt": PROJECT["dependencies"],
    "serve.txt": [*PROJECT["dependencies"], *EXTRAS["serve"]],
    "cuda.txt": [*PROJECT["dependencies"], *EXTRAS["serve"], *EXTRAS["train"]],
    "build.txt": BUILD,
    "ci.txt": REQUIREMENTS,
}
LOCKS = list(NEEDED)
LOCKED = re.compile(r"([a-z0-9-]+)==(\S+)(?: ; (.*?))? \\((?:\n    --hash=sha256:[0-9a-f]{64}(?: \\)?)+)\n")


def version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in [*re.findall(r"\d+", text), "0", "0"][:3])


def lock(name: str) -> list[tuple[str, str, str]]:
    """Each package with its version and marker. The whole file must be made of such entries and comments."""
    text = (ROOT / "requirements" / name).read_text("utf-8")
    text = "".join(line for line in text.splitlines(keepends=True) if not line.startswith("#"))
    assert LOCKED.sub("", text) == ""
    return [(match[1], match[2], match[3] or "") for match in LOCKED.finditer(text)]


@pytest.mark.parametrize("advisory", ADVISORIES, ids=lambda each: f"{each['package']} {each['id']}")
def test_no_version_with_a_known_hole_is_allowed(advisory: dict[str, str]) -> None:
    floors = [each for each in REQUIREMENTS if re.match(rf"{advisory['package']}\b", each)]
    assert floors
    for floor in floors:
        if "except_python" in advisory and "python_version < '3.11'" in floor:
            continue
        least = re.search(r">=([\d.]+)", floor)
        assert least
        assert version(least[1]) >= version(advisory["fixed"]), floor


@pytest.mark.parametrize("name", LOCKS)
def test_locked_versions_have_no_known_hole(name: str) -> None:
    for package, found, marker in lock(name):
        for advisory in ADVISORIES:
            if advisory["package"] == package and marker != f'python_version == "{advisory.get("except_python")}"':
                assert version(found) >= version(advisory["fixed"]), (package, found)


@pytest.mark.parametrize("name", LOCKS)
def test_lock_files_have_what_the_project_needs(name: str) -> None:
    packages = {package for package, _, _ in lock(name)}
    needed = {re.split(r"[^\w-]", each)[0] for each in NEEDED[name]} - {"fencepost", "torch", "triton"}
    assert needed <= packages
    assert "torch" not in packages


def test_the_licences_of_the_weights_are_in_the_wheel() -> None:
    """The package's model is made from an encoder and treebanks, which the licences must name."""
    from fencepost.storage.model_folder import ModelFolder

    files = [path for pattern in PROJECT["license-files"] for path in ROOT.glob(pattern)]
    assert {path.name for path in files} == {"LICENSE", "README.md"}
    text = (ROOT / "licenses" / "README.md").read_text("utf-8")
    encoder = Path(ModelFolder.open().config.pretrained.model).name
    for source in (encoder, "GUM", "MASC", "CRAFT", "CC BY-SA"):
        assert source in text
