"""Every call that loads something through transformers stays offline and runs no code of a model."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import fencepost

LOADERS = {"from_pretrained", "from_config", "cached_file"}
NEEDED = {
    "from_pretrained": {"local_files_only": True, "trust_remote_code": False},
    "from_config": {"trust_remote_code": False},  # reads no files
    "cached_file": {"local_files_only": True},  # runs no code
}


def calls() -> Iterator[tuple[str, str, ast.Call]]:
    root = Path(fencepost.__file__).parent
    for path in sorted(root.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call):
                name = getattr(node.func, "attr", getattr(node.func, "id", ""))
                if name in LOADERS:
                    yield f"{path.relative_to(root)}:{node.lineno}", name, node


CALLS = list(calls())


def test_there_are_such_calls() -> None:
    assert {name for _, name, _ in CALLS} == LOADERS


@pytest.mark.parametrize(("place", "name", "call"), CALLS, ids=[place for place, _, _ in CALLS])
def test_a_call_stays_offline_and_runs_no_code(place: str, name: str, call: ast.Call) -> None:
    given = {each.arg: each.value.value for each in call.keywords if isinstance(each.value, ast.Constant)}
    assert NEEDED[name].items() <= given.items(), place
