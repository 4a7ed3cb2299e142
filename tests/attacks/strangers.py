"""Model folders from a stranger: copies of the shipped model in which something was changed on purpose."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fencepost.cli.main import main
from fencepost.storage.find_model import find_model
from fencepost.storage.model_files import CHECKSUMS, VOCABULARIES


def copy_of_en(target: Path) -> Path:
    shutil.copytree(find_model(), target)
    return target


def rewrite(folder: Path, name: str, content: bytes) -> None:
    """Another content under a right checksum."""
    (folder / name).write_bytes(content)
    relist(folder, name, hashlib.sha256(content).hexdigest())


def relist(folder: Path, name: str, digest: str = "0" * 64) -> None:
    """Lists a file with this digest, whatever the file is."""
    lines = (folder / CHECKSUMS).read_text().splitlines()
    others = [line for line in lines if not line.endswith(f"  {name}")]
    (folder / CHECKSUMS).write_text("\n".join([*others, f"{digest}  {name}"]) + "\n")


def change_json(folder: Path, name: str, change: Callable[[Any], object]) -> None:
    table = json.loads((folder / name).read_text("utf-8"))
    change(table)
    rewrite(folder, name, json.dumps(table).encode())


def change_vocabulary(folder: Path, change: Callable[[Any], object]) -> None:
    change_json(folder, VOCABULARIES, change)


def everything_below(folder: Path) -> dict[str, object]:
    """What each path is and contains, to see whether anything was touched."""
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        about = path.lstat()
        content: object = None
        if stat.S_ISREG(about.st_mode) and about.st_size < 2**24:
            content = path.read_bytes()
        elif stat.S_ISLNK(about.st_mode):
            content = os.readlink(path)
        found[str(path)] = (stat.S_IFMT(about.st_mode), about.st_size, about.st_mtime_ns, content)
    return found


def refusal(folder: Path, capsys: pytest.CaptureFixture[str], *command: str) -> str:
    """What ``fencepost parse`` says when it refuses a model. Nothing may be written, inside the folder or beside it."""
    before = everything_below(folder.parent)
    status = main([*(command or ("parse", "--text", "Cats sleep.")), "--model", str(folder)])
    said = capsys.readouterr()
    assert everything_below(folder.parent) == before
    assert (status, said.out) == (2, ""), said
    assert said.err.startswith("error: ")
    return said.err
