from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from fencepost.cli.main import main

TREES = (
    "(TOP (S (NP (NP (DT The) (NN cat)) (PP (IN on) (NP (DT the) (NN mat)))) (VP (VBZ sleeps))))\n"
    "(TOP (S (VP (VB Go))))\n"
)
Output = pytest.CaptureFixture[str]


@pytest.fixture
def trees(tmp_path: Path) -> str:
    (tmp_path / "trees").write_text(TREES, "utf-8")
    return str(tmp_path / "trees")


def rows(output: Output) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(output.readouterr().out)))


def test_csv_has_a_line_for_every_phrase(trees: str, capsys: Output) -> None:
    assert main(["extract", trees]) == 0
    found = rows(capsys)
    assert [(row["sentence"], row["label"], row["text"], row["head"]) for row in found] == [
        ("1", "S", "The cat on the mat sleeps", "sleeps"),
        ("1", "NP", "The cat on the mat", "cat"),
        ("1", "NP", "The cat", "cat"),
        ("1", "PP", "on the mat", "on"),
        ("1", "NP", "the mat", "mat"),
        ("1", "VP", "sleeps", "sleeps"),
        ("2", "S", "Go", "Go"),
        ("2", "VP", "Go", "Go"),
    ]
    assert found[0]["file"] == trees
    assert (found[4]["start"], found[4]["end"], found[4]["start_char"]) == ("3", "5", "")


def test_labels_and_kinds_narrow_the_list(trees: str, capsys: Output) -> None:
    main(["extract", trees, "--label", "NP,PP", "--kind", "base"])
    assert [row["text"] for row in rows(capsys)] == ["The cat", "on the mat", "the mat"]
    main(["extract", trees, "--label", "NP", "--kind", "maximal"])
    assert [row["text"] for row in rows(capsys)] == ["The cat on the mat"]


@pytest.mark.parametrize(
    ("label", "note"),
    [
        ("np", "note: no phrase has the label np\nhint: the trees have NP\n"),
        ("ADJP,QP", "note: no phrase has the label ADJP or QP\n"),
        ("ADJP,PP", ""),
    ],
)
def test_labels_that_no_phrase_has_are_named(label: str, note: str, trees: str, capsys: Output) -> None:
    assert main(["extract", trees, "--label", label]) == 0
    assert capsys.readouterr().err == note


def test_json_has_the_same_fields(trees: str, capsys: Output) -> None:
    main(["extract", trees, "--json", "--label", "PP"])
    assert json.loads(capsys.readouterr().out) == {
        "file": trees, "sentence": 1, "label": "PP", "start": 2, "end": 5, "text": "on the mat",
        "head": "on", "head_tag": "IN", "head_index": 2, "start_char": None, "end_char": None,
    }  # fmt: skip


def test_clauses_have_kinds_and_verbs(trees: str, capsys: Output) -> None:
    main(["extract", trees, "--clauses"])
    assert [(row["kind"], row["verb"]) for row in rows(capsys)] == [("main", "sleeps"), ("main", "Go")]


def test_text_is_parsed_and_characters_count_from_the_start_of_the_file(tmp_path: Path, capsys: Output) -> None:
    text = "It rained.  The cat  can't sleep."
    (tmp_path / "text").write_text(text, "utf-8")
    assert main(["extract", str(tmp_path / "text"), "--label", "NP"]) == 0
    found = rows(capsys)
    assert [(row["sentence"], row["text"]) for row in found] == [("1", "It"), ("2", "The cat")]
    assert all(text[int(row["start_char"]) : int(row["end_char"])] == row["text"] for row in found)


def test_text_and_trees_can_be_mixed_and_input_says_which(trees: str, tmp_path: Path, capsys: Output) -> None:
    (tmp_path / "text").write_text("Cats sleep.", "utf-8")
    main(["extract", str(tmp_path / "text"), trees, "--label", "NP", "--kind", "maximal"])
    assert [row["text"] for row in rows(capsys)] == ["Cats", "The cat on the mat"]
    assert main(["extract", str(tmp_path / "text"), "--input", "trees"]) == 2
    assert "text outside brackets" in capsys.readouterr().err


def test_text_can_be_given_on_the_command_line(capsys: Output) -> None:
    main(["extract", "--text", "Cats sleep.", "--label", "NP"])
    assert [row["text"] for row in rows(capsys)] == ["Cats"]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--clauses", "--label", "NP"], "--clauses can't be combined"),
        (["--language", "xx"], "language can't be 'xx'"),
        (["--text", "Go."], "--text and files can't be combined"),
    ],
)
def test_options_that_make_no_sense_are_refused(trees: str, options: list[str], problem: str, capsys: Output) -> None:
    assert main(["extract", trees, *options]) == 2
    assert problem in capsys.readouterr().err
