"""Builds the wheel and the source distribution of the last commit, and tries them on every supported Python.

    python distributions/build.py                             # builds into dist/, and tries both on Python 3.10 to 3.13
    python distributions/build.py --python 3.12 --tests none  # only install and parse, on one Python

Needs hatchling and git, and each Python as a command (python3.10, python3.11, …). Only committed files are built, with
the time of the commit, so the same commit gives the same bytes. The wheel must be the same whether it is built from the
repository or from the source distribution. In a new environment for each Python, the wheel is installed and parses a
sentence; the base tests run from the unpacked source distribution, against the installed wheel.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
PYTHONS: Final = ("3.10", "3.11", "3.12", "3.13")
TESTED: Final = ("3.10", "3.13")  # the base tests take minutes: the oldest Python and the newest
SENTENCE: Final = "The time for action is now."
TREE: Final = (
    "(TOP (S (NP (NP (DT The) (NN time)) (PP (IN for) (NP (NN action)))) (VP (VBZ is) (ADVP (RB now))) (. .)))"
)
LARGEST: Final = 60_000_000  # bytes of a distribution: more than this is a file that slipped in


def main() -> None:
    arguments = _arguments()
    out: Path = arguments.out.resolve()
    with TemporaryDirectory(prefix="fencepost-release-") as temporary:
        folder = Path(temporary)
        source, epoch = export(folder / "source")
        wheel, sdist = build(source, out, epoch)
        unpacked = unpack(sdist, folder)
        again, _ = build(unpacked, folder / "again", epoch)
        if differing := differences(wheel, again):
            sys.exit(f"error: the wheels of the repository and of the source distribution differ: {differing}")
        for path in (wheel, sdist):
            if path.stat().st_size > LARGEST:
                sys.exit(f"error: {path.name} is {path.stat().st_size / 1e6:.0f} MB")
            say(f"{path.name}: {path.stat().st_size / 1e6:.1f} MB, sha256 {checksum(path)}")
        for python in arguments.python:
            try_wheel(python, wheel, folder / python)
            if python in arguments.tests:
                run_tests(folder / python, unpacked)
    say("done")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="where the distributions go (default: dist)")
    parser.add_argument("--python", nargs="+", default=PYTHONS, metavar="VERSION", help="which Pythons to try")
    parser.add_argument("--tests", nargs="+", default=TESTED, metavar="VERSION", help="which run the tests; or none")
    return parser.parse_args()


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def run(*command: str | Path, cwd: Path | None = None, **environment: str) -> str:
    """Runs a command without any Python settings of this process, and returns what it printed."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    result = subprocess.run(
        command, cwd=cwd, env={**clean, **environment}, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    if result.returncode != 0:
        sys.exit(f"{result.stdout}\nerror: {' '.join(map(str, command))} ended with {result.returncode}")
    return result.stdout


def export(folder: Path) -> tuple[Path, str]:
    """The files of the last commit, and its time."""
    if run("git", "status", "--porcelain", cwd=ROOT):
        say("warning: changes that are not committed are not in these distributions")
    folder.mkdir()
    archive = folder.parent / "source.tar"
    run("git", "archive", "--output", archive, "HEAD", cwd=ROOT)
    with tarfile.open(archive) as files:
        files.extractall(folder, filter="data")
    return folder, run("git", "log", "-1", "--format=%ct", cwd=ROOT).strip()


def build(source: Path, out: Path, epoch: str) -> tuple[Path, Path]:
    """The wheel and the source distribution."""
    out.mkdir(parents=True, exist_ok=True)
    for old in out.glob("fencepost-*"):
        old.unlink()
    run(sys.executable, "-m", "hatchling", "build", "--directory", out, cwd=source, SOURCE_DATE_EPOCH=epoch)
    (wheel,), (sdist,) = out.glob("*.whl"), out.glob("*.tar.gz")
    return wheel, sdist


def unpack(sdist: Path, folder: Path) -> Path:
    with tarfile.open(sdist) as files:
        files.extractall(folder, filter="data")
    return folder / sdist.name.removesuffix(".tar.gz")


def differences(one: Path, other: Path) -> list[str]:
    """The files that two wheels don't share, or whose bytes differ."""
    found = []
    for path in (one, other):
        with zipfile.ZipFile(path) as wheel:
            found.append({name: hashlib.sha256(wheel.read(name)).hexdigest() for name in wheel.namelist()})
    return sorted(name for name in found[0].keys() | found[1].keys() if found[0].get(name) != found[1].get(name))


def checksum(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def try_wheel(version: str, wheel: Path, folder: Path) -> None:
    """Installs the wheel into a new environment, and parses with it, far from the checkout."""
    if shutil.which(f"python{version}") is None:
        sys.exit(f"error: python{version} is not installed")
    run(f"python{version}", "-m", "venv", folder)
    run(folder / "bin" / "pip", "install", "--quiet", wheel)
    run(folder / "bin" / "pip", "check")
    size = sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_dir())
    fencepost = folder / "bin" / "fencepost"
    expected = f"fencepost {wheel.name.split('-')[1]}"
    if (printed := run(fencepost, "--version", cwd=folder).strip()) != expected:
        sys.exit(f"error: --version says {printed!r} instead of {expected!r}")
    if (printed := run(fencepost, "parse", "--text", SENTENCE, cwd=folder).strip()) != TREE:
        sys.exit(f"error: the tree is {printed!r}")
    run(fencepost, "models", "verify", "en", cwd=folder)
    say(f"Python {version}: installs ({size / 1e6:.0f} MB, pip included), parses")


def run_tests(folder: Path, source: Path) -> None:
    """Runs the base tests of the source distribution against the installed wheel."""
    run(folder / "bin" / "pip", "install", "--quiet", "pytest>=8", "pytest-xdist>=3", "hypothesis>=6.100", "hatchling")
    printed = run(
        folder / "bin" / "python", "-m", "pytest", "-q", "-n", "2", "--base", "-p", "no:cacheprovider", cwd=source
    )
    say(f"{folder.name}: {printed.strip().splitlines()[-1]}")


if __name__ == "__main__":
    main()
