"""docs/architecture.md: every function that a walk names exists, and the walk calls them in the order of the page."""

from __future__ import annotations

import importlib
import inspect
import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

from fencepost.cli.main import main
from tests.grammar import toy_trees

PAGE = (Path(__file__).parents[1] / "docs" / "architecture.md").read_text("utf-8")


def hops(walk: str) -> list[str]:
    """The functions in the numbered list under a heading."""
    section = re.split(r"^## ", PAGE, flags=re.M)
    text = next(part for part in section if part.startswith(walk))
    return re.findall(r"^\d+\. `([\w.]+)`", text, flags=re.M)


def code_of(name: str) -> CodeType:
    """The code of the function called by its dotted name under ``fencepost``."""
    parts = name.split(".")
    for size in range(len(parts) - 1, 0, -1):
        try:
            found: Any = importlib.import_module(".".join(["fencepost", *parts[:size]]))
        except ModuleNotFoundError:
            continue
        for part in parts[size:]:
            found = inspect.getattr_static(found, part) if inspect.isclass(found) else getattr(found, part)
        found = found.__func__ if isinstance(found, classmethod | staticmethod) else found
        code = inspect.unwrap(found).__code__
        assert isinstance(code, CodeType)
        return code
    raise AssertionError(f"no module of fencepost begins with {parts[0]}")


@contextmanager
def first_calls() -> Iterator[dict[CodeType, int]]:
    """The code that runs, in every thread, by the order of its first call."""
    order: dict[CodeType, int] = {}

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            order.setdefault(frame.f_code, len(order))

    before = sys.getprofile()
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield order
    finally:
        sys.setprofile(before)
        threading.setprofile(None)


def check(walk: str, go: Callable[[], int]) -> None:
    names = hops(walk)
    assert len(names) >= 8, f"the page lists {len(names)} hops of the walk {walk!r}"
    codes = {name: code_of(name) for name in names}
    with first_calls() as order:
        assert go() == 0
    assert [name for name in names if codes[name] not in order] == []
    assert sorted(names, key=lambda name: order[codes[name]]) == names


def test_the_walk_from_text_to_tree(capsys: pytest.CaptureFixture[str]) -> None:
    check("From text to tree", lambda: main(["parse", "--text", "The cat sat. It slept.", "--workers", "1"]))
    assert capsys.readouterr().out.count("(TOP ") == 2


def test_the_walk_from_treebank_to_model_folder(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    (tmp_path / "trees.txt").write_text("".join(f"{tree}\n" for tree in toy_trees(12)), "utf-8")
    options = ["encoder.layers=1", "encoder.d_model=16", "encoder.heads=2", "encoder.d_k=8", "encoder.d_v=8"]
    options += [
        "encoder.d_ff=16",
        "char_lstm.size=8",
        "train.max_epochs=1",
        "train.batch_size=4",
        "train.warmup_batches=1",
    ]
    trees, out = str(tmp_path / "trees.txt"), str(tmp_path / "model")
    check(
        "From treebank to model folder",
        lambda: main(["train", "small", "--train", trees, "--dev", trees, "--out", out, "--set", *options]),
    )
