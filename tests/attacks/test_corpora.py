"""Output folders of ``fencepost corpus`` in which someone has left something, and documents with odd names."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fencepost.cli.main import main
from tests.attacks.strangers import everything_below

SECONDS = 60
ODD = ["../../up", "/etc/passwd", "a\0b", "\x1b[31mred", "\u202e", "x" * 5000, "."]


@pytest.fixture(scope="module")
def complete(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run with documents whose ids are odd: ``in.jsonl``, and ``out`` with its output."""
    folder = tmp_path_factory.mktemp("corpus")
    documents = [{"id": name, "text": "Cats sleep."} for name in ODD]
    (folder / "in.jsonl").write_text("".join(json.dumps(each) + "\n" for each in documents))
    assert main(["corpus", str(folder / "in.jsonl"), "--out", str(folder / "out"), "--workers", "1"]) == 0
    return folder


def test_ids_are_data(complete: Path) -> None:
    found = [json.loads(line) for line in (complete / "out" / "part-00000.jsonl").read_bytes().splitlines()]
    assert [each["id"] for each in found] == ODD
    names = {path.name for path in complete.rglob("*")}
    assert names == {"in.jsonl", "out", "manifest.json", "errors.jsonl", "part-00000.jsonl"}


def begun(complete: Path, out: Path, **changes: Any) -> None:
    """The folder of a run that was killed before its first part."""
    manifest = json.loads((complete / "out" / "manifest.json").read_text())
    for name in ("documents", "errors", "sentences", "tokens", "parts"):
        del manifest[name]
    (out / ".state").mkdir(parents=True)
    (out / "manifest.json").write_text(json.dumps({**manifest, "complete": False, **changes}))


def ended(complete: Path, out: Path, **changes: Any) -> None:
    """The folder of a complete run, with changes to its manifest."""
    shutil.copytree(complete / "out", out)
    manifest = json.loads((out / "manifest.json").read_text())
    (out / "manifest.json").write_text(json.dumps({**manifest, **changes}))


def run(complete: Path, out: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    status = main(["corpus", str(complete / "in.jsonl"), "--out", str(out), "--workers", "1"])
    return status, capsys.readouterr().err


@pytest.mark.parametrize(
    "name", [".manifest.json.partial", ".plan.json.partial", ".part-00000.jsonl.partial", ".errors.jsonl.partial"]
)
def test_nothing_is_written_through_a_link_in_the_output_folder(
    complete: Path, tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "thesis").write_text("mine")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / name).symlink_to(tmp_path / "thesis")
    assert run(complete, tmp_path / "out", capsys)[0] == 0
    assert (tmp_path / "thesis").read_text() == "mine"
    assert not (tmp_path / "out" / name).is_symlink()


@pytest.mark.parametrize("name", [".state", ".lock", "manifest.json"])
def test_a_link_in_place_of_a_file_of_the_run_is_refused(
    complete: Path, tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / name).symlink_to(tmp_path / "thesis")
    before = everything_below(tmp_path / "thesis")
    status, said = run(complete, tmp_path / "out", capsys)
    assert status == 2
    assert f"{tmp_path / 'out' / name}" in said
    assert "a link" in said
    assert everything_below(tmp_path / "thesis") == before


def terabyte(path: Path) -> None:
    path.touch()
    os.truncate(path, 2**40)


TRAPS: dict[str, Callable[[Path], object]] = {
    "a pipe": os.mkfifo,
    "a folder": Path.mkdir,
    "a device": lambda path: path.symlink_to("/dev/zero"),
    "a terabyte": terabyte,
    "a deep list": lambda path: path.write_text("[" * 100_000),
    "a list": lambda path: path.write_text("[]"),
    "a number": lambda path: path.write_text("5"),
    "nothing": lambda path: path.write_text(""),
    "not UTF-8": lambda path: path.write_bytes(b"\xff"),
}


@pytest.mark.parametrize("trap", TRAPS)
def test_a_manifest_that_is_something_else_is_an_error(
    complete: Path, tmp_path: Path, trap: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "out").mkdir()
    TRAPS[trap](tmp_path / "out" / "manifest.json")
    status, said = run(complete, tmp_path / "out", capsys)
    assert status == 2
    assert said.startswith(f"error: {tmp_path / 'out' / 'manifest.json'} can't be read: ")


@pytest.mark.parametrize("trap", TRAPS)
def test_a_plan_that_is_something_else_is_made_again(
    complete: Path, tmp_path: Path, trap: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    begun(complete, out)
    TRAPS[trap](out / ".state" / "plan.json")
    status, said = run(complete, out, capsys)
    if trap == "a folder":  # the new plan can't be put in its place
        assert status == 1
        assert said.startswith(f"error: {out / '.state' / 'plan.json'}: can't be written: ")
    else:
        assert status == 0
        assert same_output(complete, out)


def same_output(complete: Path, out: Path) -> bool:
    return (out / "part-00000.jsonl").read_bytes() == (complete / "out" / "part-00000.jsonl").read_bytes()


PLANS: dict[str, dict[str, Any]] = {
    "counts below 0": {"counts": [-5]},
    "counts that are strings": {"counts": ["7"]},
    "more counts than parts": {"counts": [3, 4]},
    "a place that is a string": {"starts": [["a", 1, 0]]},
    "a place with too many numbers": {"starts": [[0, 1, 0, 0]]},
    "a size that is true": {"size": True},
    "repeated documents that are numbers": {"repeated": [5]},
}


@pytest.mark.parametrize("name", PLANS)
def test_a_plan_that_is_wrong_is_made_again(
    complete: Path, tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    begun(complete, out)
    plan = {"starts": [[0, 1, 0]], "counts": [7], "size": 100, "repeated": []}
    (out / ".state" / "plan.json").write_text(json.dumps({**plan, **PLANS[name]}))
    assert run(complete, out, capsys)[0] == 0
    assert same_output(complete, out)


SUMMARIES: dict[str, dict[str, Any]] = {
    "parts elsewhere": {"parts": [{"name": "../in.jsonl", "bytes": 5}]},
    "parts that are a number": {"parts": 5},
    "parts without a name": {"parts": [{"bytes": 5}]},
    "a name that is a number": {"parts": [{"name": 5, "bytes": 5}]},
    "counts that are strings": {"documents": "many"},
    "no counts": {"sentences": None},
    "settings that are a number": {"settings": 5},
    "inputs that are a string": {"inputs": "in.jsonl"},
}


@pytest.mark.parametrize("name", SUMMARIES)
def test_a_manifest_that_is_wrong_is_an_error(
    complete: Path, tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    ended(complete, out, **SUMMARIES[name])
    status, said = run(complete, out, capsys)
    assert status == 2
    assert said.startswith(f"error: {out / 'manifest.json'} can't be read: ")


def test_a_part_whose_counts_are_damaged_is_made_again(
    complete: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    begun(complete, out)
    plan = {"starts": [[0, 1, 0]], "counts": [len(ODD)], "size": 100, "repeated": []}
    (out / ".state" / "plan.json").write_text(json.dumps(plan))
    (out / ".state" / "part-00000.json").write_text("[]")
    (out / "part-00000.jsonl").write_text("{}")
    assert run(complete, out, capsys)[0] == 0
    assert same_output(complete, out)


def test_a_link_among_the_inputs_is_read_once_and_never_written(
    complete: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.txt").write_text("Cats sleep.")
    (tmp_path / "in" / "b.txt").symlink_to("a.txt")
    (tmp_path / "in" / "loop.txt").symlink_to("loop.txt")
    assert main(["corpus", str(tmp_path / "in"), "--out", str(tmp_path / "out"), "--workers", "1"]) == 0
    assert (tmp_path / "out" / "part-00000.jsonl").read_text().count("\n") == 1
    assert (tmp_path / "in" / "a.txt").read_text() == "Cats sleep."
    assert main(["corpus", str(tmp_path / "in" / "loop.txt"), "--out", str(tmp_path / "other")]) == 2
    assert "loop.txt" in capsys.readouterr().err
