"""Malformed files: each gives the right error, at the right place, with exit status 2 and no traceback."""

from __future__ import annotations

import gzip
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from fencepost.cli.main import main
from fencepost.errors import (
    EmptyNodeError,
    EncodingError,
    ExtraTextError,
    InputError,
    MissingLabelError,
    TreeError,
    UnbalancedError,
    UntaggedLeafError,
)
from fencepost.trees.treebank import Treebank

GOOD = "(TOP (S (NP (DT The) (NN cat)) (VP (VBD sat))))\n"
PACKED = gzip.compress(GOOD.encode() * 50, mtime=0)
JUNK = random.Random(1).randbytes(5000)


class Case(NamedTuple):
    name: str
    data: str | bytes
    error: type[InputError]
    line: int | None


CASES = [
    # Brackets that are not closed
    Case("cut short inside a word", GOOD + "(TOP (S (NP (DT Th", UnbalancedError, 2),
    Case("cut short after a label", GOOD + GOOD + "(TOP (S", UnbalancedError, 3),
    Case("cut short before the last bracket", GOOD + "(TOP (S (NN cat))", UnbalancedError, 2),
    Case("cut short over several lines", "(TOP\n (S\n  (NP (DT The)\n", UnbalancedError, 1),
    Case("one opening bracket alone", "(", UnbalancedError, 1),
    Case("an opening bracket at the end", GOOD + "(\n", UnbalancedError, 2),
    Case("a missing bracket on line 3 of 5", GOOD * 2 + GOOD[:-2] + "\n" + GOOD * 2, UnbalancedError, 3),
    Case("a hundred thousand opening brackets", "(" * 100_000, UnbalancedError, 1),
    Case("a hundred thousand open phrases", "(S " * 100_000, UnbalancedError, 1),
    # Brackets that were never opened
    Case("an extra bracket on line 2", GOOD + GOOD[:-1] + ")\n" + GOOD, UnbalancedError, 2),
    Case("an extra bracket on a line of its own", GOOD + ")\n" + GOOD, UnbalancedError, 2),
    Case("an extra bracket first of all", ")" + GOOD, UnbalancedError, 1),
    Case("closing before opening", ")(\n", UnbalancedError, 1),
    Case("closing too early on line 2", "(S\n (NP (NN a)))\n (NP (NN b)))\n", UnbalancedError, 3),
    Case("counts agree but order does not", "(S (NN a))) ((NN b)\n", UnbalancedError, 1),
    Case("a hundred thousand closing brackets", GOOD + ")" * 100_000, UnbalancedError, 2),
    Case("text that ends in a bracket", "hello)\n", UnbalancedError, 1),
    # Nodes with nothing in them
    Case("empty brackets", GOOD + "()\n", EmptyNodeError, 2),
    Case("blank brackets", GOOD + "(  )\n", EmptyNodeError, 2),
    Case("empty brackets inside", "(S\n (NN cat)\n ())\n", EmptyNodeError, 3),
    Case("empty brackets in a root", "( ())\n", EmptyNodeError, 1),
    Case("a label alone", "(NP)\n", EmptyNodeError, 1),
    Case("a label alone inside", GOOD + "(S (NP) (VP (VBD sat)))\n", EmptyNodeError, 2),
    Case("a word without a tag in brackets", "(S (cat) (VBD sat))\n", EmptyNodeError, 1),
    Case("nothing but brackets", "((((()))))\n", MissingLabelError, 1),
    # Labels that are missing
    Case("an inner node without a label", GOOD + "(S (NP (NN cat)) ((VBD sat)))\n", MissingLabelError, 2),
    Case("an inner node without a label on line 3", "(S\n (NN cat)\n ( (VP (VBD sat))))\n", MissingLabelError, 3),
    Case("three brackets to open a tree", "(((S (NN cat))))\n", MissingLabelError, 1),
    # Words that do not stand alone under a tag
    Case("a word beside its phrase", "(S the (NP (NN cat)))\n", UntaggedLeafError, 1),
    Case("two words in a leaf", GOOD + "(S (NN black cat))\n", UntaggedLeafError, 2),
    Case("three words in a leaf", "(S\n (DT the)\n (NN big black cat))\n", UntaggedLeafError, 3),
    Case("a sentence in brackets", "(The cat sat on the mat.)\n", UntaggedLeafError, 1),
    Case("a bare bracket as a word", "(S (-LRB- () (NN cat))\n", UnbalancedError, 1),
    Case("a bare closing bracket as a word", "(S (-RRB- )) (NN cat))\n", EmptyNodeError, 1),
    Case("a smiley as a word", "(S (NFP :)) (NN cat))\n", UnbalancedError, 1),
    # Text where none may be
    Case("a word after a phrase", "(S (NP (NN cat)) sat)\n", ExtraTextError, 1),
    Case("a word after a leaf on line 2", "(S (NN cat)\n sat)\n", ExtraTextError, 2),
    Case("text after a tree", GOOD + GOOD[:-1] + " and more\n", ExtraTextError, 2),
    Case("text before a tree", "and more " + GOOD, ExtraTextError, 1),
    Case("text between trees", GOOD + "and more\n" + GOOD, ExtraTextError, 2),
    Case("plain text", "The cat sat.\n", ExtraTextError, 1),
    Case("plain text after empty lines", "\n\n\nThe cat sat.\n", ExtraTextError, 4),
    Case("a table", "1\tThe\tDT\n2\tcat\tNN\n", ExtraTextError, 1),
    Case("JSON", '{"tree": null}\n', ExtraTextError, 1),
    Case("XML", '<?xml version="1.0"?>\n<s/>\n', ExtraTextError, 1),
    Case("square brackets", "[S [NP cat]]\n", ExtraTextError, 1),
    Case("thirty megabytes without a bracket", "x" * 30_000_000, ExtraTextError, 1),
    Case("a comment mark after a blank", " # comment\n", ExtraTextError, 1),
    Case("a byte-order mark in the middle", GOOD + "\ufeff" + GOOD, ExtraTextError, 2),
    # Bytes that are no UTF-8 text
    Case("Latin-1", GOOD.encode() + "(TOP (NN café))\n".encode("latin-1"), EncodingError, 2),
    Case("Windows quotation marks", b"(TOP (`` \x93))\n", EncodingError, 1),
    Case("UTF-16, little-endian", b"\xff\xfe" + GOOD.encode("utf-16-le"), EncodingError, 1),
    Case("UTF-16, big-endian", b"\xfe\xff" + GOOD.encode("utf-16-be"), EncodingError, 1),
    Case("UTF-16 without a mark", GOOD.encode("utf-16-le"), EncodingError, 1),
    Case("UTF-16, big-endian, without a mark", GOOD.encode("utf-16-be"), EncodingError, 1),
    Case("UTF-32", GOOD.encode("utf-32"), EncodingError, 1),
    Case("half a character at the end", GOOD.encode() + "(TOP (NN é".encode()[:-1], EncodingError, 2),
    Case("half a character in the middle", b"(TOP (NN \xe6\xbc))\n", EncodingError, 1),
    Case("a surrogate in UTF-8", b"(TOP (NN \xed\xa0\x80))\n", EncodingError, 1),
    Case("an overlong bracket", b"\xc0\xa8TOP (NN cat))\n", EncodingError, 1),
    Case("a NUL in a word", GOOD + "(TOP (NN c\0t))\n", EncodingError, 2),
    Case("a file of NULs", b"\0" * 100_000, EncodingError, 1),
    Case("random bytes", JUNK, EncodingError, None),
    Case("an image", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", EncodingError, 1),
    Case("a zip archive", b"PK\x03\x04\x14\0\0\0", EncodingError, 1),
    # Gzip
    Case("gzip cut short", PACKED[:-20], EncodingError, None),
    Case("gzip with nothing but its mark", b"\x1f\x8b", EncodingError, None),
    Case("gzip with a damaged middle", PACKED[:30] + b"\xff" * 10 + PACKED[40:], EncodingError, None),
    Case("gzip with a wrong checksum", PACKED[:-8] + b"\0\0\0\0" + PACKED[-4:], EncodingError, None),
    Case("gzip with junk after it", PACKED + b"junk", EncodingError, None),
    Case("gzip of random bytes", gzip.compress(JUNK), EncodingError, None),
    Case("gzip of plain text", gzip.compress(b"The cat sat.\n"), ExtraTextError, 1),
    Case("gzip of gzip", gzip.compress(PACKED), EncodingError, 1),
    Case("gzip of nothing", gzip.compress(b""), InputError, None),
    # Files without trees
    Case("an empty file", "", InputError, None),
    Case("blank lines", "\n\n  \n\t\n", InputError, None),
    Case("only comments", "# nothing\n*x*\n/* here */\n", InputError, None),
    Case("a byte-order mark alone", b"\xef\xbb\xbf", InputError, None),
]


@pytest.fixture(params=CASES, ids=lambda case: case.name)
def case(request: pytest.FixtureRequest) -> Case:
    return request.param  # type: ignore[no-any-return]


@pytest.fixture
def path(case: Case, tmp_path: Path) -> Path:
    path = tmp_path / "bad.txt"
    path.write_bytes(case.data if isinstance(case.data, bytes) else case.data.encode())
    return path


def test_loading_raises_the_right_error_at_the_right_line(case: Case, path: Path) -> None:
    with pytest.raises(InputError) as caught:
        Treebank.load(path)
    assert type(caught.value) is case.error
    assert caught.value.source == str(path)
    if case.line is not None:
        assert caught.value.line == case.line
        assert caught.value.message.startswith(f"{path}:{case.line}: ")
    assert len(caught.value.message) < 200 + len(str(path))


def test_the_program_says_so_in_a_line_or_two(case: Case, path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["treebank", "stats", str(path)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    first, *rest = captured.err.splitlines()
    assert first.startswith(f"error: {path}")
    assert all(line.startswith("hint: ") for line in rest)
    assert len(rest) <= 1


@pytest.mark.parametrize("side", ["gold", "predicted"])
def test_scoring_refuses_it_on_either_side(
    case: Case, path: Path, side: str, capsys: pytest.CaptureFixture[str]
) -> None:
    good = path.with_name("good.txt")
    good.write_text(GOOD * case_sentences(path))
    files = [path, good] if side == "gold" else [good, path]
    if side == "predicted" and not path.read_bytes().strip(b"\xef\xbb\xbf \t\n"):
        good.write_text(GOOD * (case_sentences(path) + 1))  # a missing parse a line, and one line too few
    assert main(["score", *map(str, files)]) == 2
    assert capsys.readouterr().err.startswith("error: ")


def case_sentences(path: Path) -> int:
    return max(path.read_bytes()[:1000].count(b"\n"), 1)


@pytest.mark.parametrize("command", ["normalize", "words", "split"])
@pytest.mark.parametrize("data", ["", "# nothing\n", GOOD + "(S", "text\n", "()\n"])
def test_every_treebank_command_refuses_bad_trees(
    tmp_path: Path, command: str, data: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bad.txt").write_text(data)
    options = ["--out", str(tmp_path / "out")] if command == "split" else []
    assert main(["treebank", command, str(tmp_path / "bad.txt"), *options]) == 2
    assert capsys.readouterr().err.startswith("error: ")


PLACES: dict[str, Callable[[Path], list[str]]] = {
    "a missing file": lambda folder: ["treebank", "stats", f"{folder}/none.txt"],
    "a glob that matches nothing": lambda folder: ["treebank", "words", f"{folder}/*.none"],
    "a folder without files": lambda folder: ["treebank", "normalize", f"{folder}/empty"],
    "a file in place of a folder": lambda folder: ["treebank", "stats", f"{folder}/good.txt/x.txt"],
    "an output below a file": lambda folder: [
        "treebank", "words", f"{folder}/good.txt", "--output", f"{folder}/good.txt/out.txt"
    ],
    "an output that is a folder": lambda folder: [
        "treebank", "words", f"{folder}/good.txt", "--output", f"{folder}/empty"
    ],
    "a split into a file": lambda folder: ["treebank", "split", f"{folder}/good.txt", "--out", f"{folder}/good.txt"],
    "a split of one tree": lambda folder: ["treebank", "split", f"{folder}/good.txt", "--out", f"{folder}/out"],
    "a split of one file": lambda folder: [
        "treebank", "split", f"{folder}/two.txt", "--by", "file", "--out", f"{folder}/out"
    ],
    "a ratio of nothing": lambda folder: [
        "treebank", "split", f"{folder}/good.txt", "--ratio", "0:0:0", "--out", f"{folder}/out"
    ],
    "standard input twice": lambda folder: ["treebank", "words", "-", "-"],
    "gold without predictions": lambda folder: ["score", f"{folder}/good.txt", f"{folder}/none.txt"],
    "more gold than predicted": lambda folder: ["score", f"{folder}/two.txt", f"{folder}/good.txt"],
    "more predicted than gold": lambda folder: ["score", f"{folder}/good.txt", f"{folder}/two.txt"],
    "parameters that do not exist": lambda folder: [
        "score", f"{folder}/good.txt", f"{folder}/good.txt", "--params", "none.prm"
    ],
    "parameters that are trees": lambda folder: [
        "score", f"{folder}/good.txt", f"{folder}/good.txt", "--params", f"{folder}/good.txt"
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", PLACES)
def test_files_that_are_missing_or_do_not_go_together_are_named(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "good.txt").write_text(GOOD)
    (tmp_path / "two.txt").write_text(GOOD * 2)
    assert main(PLACES[name](tmp_path)) == 2
    assert capsys.readouterr().err.startswith("error: ")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"(TOP (S (NN cat)\n", b"bad.txt:1: a bracket is never closed"),
        (b"(TOP (NN caf\xe9))\n", b"bad.txt:1: not UTF-8"),
        (PACKED[:-20], b"bad.txt: damaged gzip file"),
        (b"", b"bad.txt: there are no trees"),
    ],
    ids=["unbalanced", "latin-1", "gzip cut short", "empty"],
)
def test_the_real_program_exits_with_2_and_no_traceback(tmp_path: Path, data: bytes, message: bytes) -> None:
    (tmp_path / "bad.txt").write_bytes(data)
    command = [sys.executable, "-m", "fencepost", "treebank", "stats", "bad.txt"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True)
    assert result.returncode == 2
    assert result.stdout == b""
    assert result.stderr.startswith(b"error: " + message)
    assert b"Traceback" not in result.stderr


def test_a_long_run_of_blanks_takes_no_quadratic_time(tmp_path: Path) -> None:
    (tmp_path / "bad.txt").write_text("(S" + " " * 1_000_000 + "a b c (NN cat))\n")
    with pytest.raises(TreeError):
        Treebank.load(tmp_path / "bad.txt")
