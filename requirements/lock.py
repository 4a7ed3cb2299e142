"""Writes the lock files: every package that an installation needs, with one version and the SHA-256 of its files.

    python requirements/lock.py               # all of them: some minutes
    python requirements/lock.py build.txt

Asks the pip of each supported Python (python3.10, python3.11, …), which must be there, what it would install. torch
and triton are left out: constraints.txt pins torch, whose builds for CPUs and GPUs have other files and needs.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE: Final = Path(__file__).resolve().parent
PYTHONS: Final = ("3.10", "3.11", "3.12", "3.13")
LEFT_OUT: Final = ("torch", "triton")
LOCKS: Final[dict[str, tuple[str, ...] | None]] = {  # the extras of each file; None: what builds the package
    "base.txt": (),
    "serve.txt": ("serve",),
    "cuda.txt": ("serve", "train"),
    "build.txt": None,
    "ci.txt": ("dev",),
}
HEADER: Final = """\
# {what}
# Made by requirements/lock.py. Install with: pip install --require-hashes --no-deps -r requirements/{name}
"""
WHAT: Final = {
    "base.txt": "What `fencepost parse` needs, and nothing else.",
    "serve.txt": "What `fencepost serve` needs on the CPU: for containers and servers.",
    "cuda.txt": "What `fencepost serve --device cuda` needs, except torch: see constraints.txt.",
    "build.txt": "What builds the package.",
    "ci.txt": "What the tests and checks need, except torch: see constraints.txt.",
}


def main() -> None:
    """Writes the files that are named on the command line, or all."""
    for name in sys.argv[1:] or LOCKS:
        extras = LOCKS[name]
        text = HEADER.format(what=WHAT[name], name=name) + _lines(_requirements(extras))
        (HERE / name).write_text(text, "utf-8")
        sys.stderr.write(f"wrote {HERE / name}\n")


def _requirements(extras: Iterable[str] | None) -> list[str]:
    """The requirements of the project with these extras, or of its build."""
    settings = tomllib.loads((HERE.parent / "pyproject.toml").read_text("utf-8"))
    if extras is None:
        return list(settings["build-system"]["requires"])
    project = settings["project"]
    found, waiting = list(project["dependencies"]), list(extras)
    while waiting:
        for requirement in project["optional-dependencies"][waiting.pop()]:
            if own := re.fullmatch(r"fencepost\[([\w,]+)\]", requirement):
                waiting += own[1].split(",")
            else:
                found.append(requirement)
    return [each for each in found if re.split(r"[^\w-]", each)[0] not in LEFT_OUT]


def _lines(requirements: list[str]) -> str:
    pythons: dict[tuple[str, str], set[str]] = defaultdict(set)
    hashes: dict[tuple[str, str], set[str]] = defaultdict(set)
    for python in PYTHONS:
        for item in _resolve(requirements, python):
            key = re.sub(r"[-_.]+", "-", item["metadata"]["name"]).lower(), item["metadata"]["version"]
            if key[0] not in LEFT_OUT:
                pythons[key].add(python)
                hashes[key].add(item["download_info"]["archive_info"]["hashes"]["sha256"])
    lines = []
    for name, version in sorted(pythons):
        marker = _marker(pythons[name, version])
        sums = "".join(f" \\\n    --hash=sha256:{each}" for each in sorted(hashes[name, version]))
        lines.append(f"{name}=={version}{marker}{sums}\n")
    return "".join(lines)


def _marker(pythons: set[str]) -> str:
    """For which of the supported versions of Python a line holds."""
    if pythons == set(PYTHONS):
        return ""
    return " ; " + " or ".join(f'python_version == "{python}"' for python in PYTHONS if python in pythons)


def _resolve(requirements: list[str], python: str) -> list[dict[str, Any]]:
    with TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [f"python{python}", "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed"]
        command += ["--only-binary=:all:", "--report", str(report), "-c", str(HERE.parent / "constraints.txt")]
        subprocess.run([*command, *requirements], check=True)
        found: list[dict[str, Any]] = json.loads(report.read_text("utf-8"))["install"]
        return found


if __name__ == "__main__":
    main()
