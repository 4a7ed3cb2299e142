"""``fencepost search``."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from fencepost.cli.main import main
from fencepost.cli.search_output import Found, coloured, wants_colour
from fencepost.search.nodes import Nodes
from fencepost.search.pattern import Place
from fencepost.trees.tree import Tree

TREES = (
    "(TOP (S (NP (NP (DT The) (NN cat)) (PP (IN on) (NP (DT the) (NN mat)))) (VP (VBD sat)) (-LRB- -LRB-)))\n"
    "(TOP (S (NP (PRP It)) (VP (VBD slept) (CC and) (VBD slept))))\n"
)
Output = pytest.CaptureFixture[str]


@pytest.fixture
def trees(tmp_path: Path) -> str:
    path = tmp_path / "trees.txt"
    path.write_text(TREES)
    return str(path)


def lines(output: Output) -> list[str]:
    return output.readouterr().out.splitlines()


def test_prints_the_number_of_the_tree_and_the_part_that_matches(trees: str, capsys: Output) -> None:
    assert main(["search", "VP < VBD", trees]) == 0
    assert lines(capsys) == [
        "1: (VP (VBD sat))",
        "2: (VP (VBD slept) (CC and) (VBD slept))",
        "2: (VP (VBD slept) (CC and) (VBD slept))",
    ]


def test_word_that_matches_is_printed_alone(trees: str, capsys: Output) -> None:
    main(["search", "cat|/^-LRB/", trees])
    main(["search", "/^(cat|-LRB-)$/", trees])
    assert lines(capsys) == ["1: cat", "1: (-LRB- -LRB-)", "1: -LRB-"]


def test_files_may_follow_options(trees: str, capsys: Output) -> None:
    assert main(["search", "VP < VBD", "--count", trees]) == 0
    assert main(["search", "VP < VBD", trees, "--count", trees]) == 0
    assert lines(capsys) == ["3", "6"]
    with pytest.raises(SystemExit):
        main(["search", "VP < VBD", "--cuont", trees])
    assert capsys.readouterr().err.endswith("hint: did you mean --count?\n")


@pytest.mark.parametrize("arguments", [["-LRB-"], ["--count", "-LRB-"], ["-LRB-", "--count"]], ids=" ".join)
def test_a_tag_that_begins_with_a_dash_is_a_pattern(arguments: list[str], trees: str, capsys: Output) -> None:
    assert main(["search", *arguments, trees]) == 0
    assert lines(capsys)[-1:] in (["1: -LRB-"], ["2"])


def test_once_and_count(trees: str, capsys: Output) -> None:
    main(["search", "VP < VBD", trees, "--once"])
    assert len(lines(capsys)) == 2
    main(["search", "VP < VBD", trees, "--count"])
    main(["search", "VP < VBD", trees, "--count", "--once"])
    main(["search", "VP=x < (VBD > =x)", trees, "--count"])
    main(["search", "ADJP", trees, "--count"])
    assert lines(capsys) == ["3", "2", "3", "0"]


def test_trees_are_numbered_over_all_files(trees: str, tmp_path: Path, capsys: Output) -> None:
    (tmp_path / "zz.txt").write_text("(TOP (VP (VBD ran)))\n")
    main(["search", "VP < VBD", trees, str(tmp_path / "zz.txt"), "--once"])
    assert lines(capsys)[-1] == "3: (VP (VBD ran))"


def test_standard_input_is_searched_without_files(capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    stdin = io.TextIOWrapper(io.BytesIO(TREES.encode()))
    monkeypatch.setattr("sys.stdin", stdin)
    main(["search", "CC"])
    assert lines(capsys) == ["2: (CC and)"]


def test_json_has_names_spans_and_file(trees: str, capsys: Output) -> None:
    main(["search", "NP < (PP=pp < /^(.)N$/#1%letter)", trees, "--json"])
    (line,) = lines(capsys)
    row = json.loads(line)
    assert (row["file"], row["tree"], row["label"], row["start"], row["end"]) == (trees, 1, "NP", 0, 5)
    assert row["text"] == "The cat on the mat"
    assert row["start_char"] is None
    assert row["names"]["pp"]["match"] == "(PP (IN on) (NP (DT the) (NN mat)))"
    assert (row["names"]["pp"]["start"], row["names"]["pp"]["end"]) == (2, 5)
    assert row["variables"] == {"letter": "I"}


def test_csv_has_columns_for_each_name(trees: str, capsys: Output) -> None:
    main(["search", "S < NP=subject ?< CC=missing", trees, "--csv"])
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["subject_text"] for row in rows] == ["The cat on the mat", "It"]
    assert [row["missing_start"] for row in rows] == ["", ""]
    assert (rows[0]["tree"], rows[0]["start"], rows[0]["end"]) == ("1", "0", "7")
    assert rows[0]["text"].endswith("sat (")


def test_kwic_shows_words_in_context(trees: str, capsys: Output) -> None:
    main(["search", "PP", trees, "--kwic"])
    (line,) = lines(capsys)
    assert line == f"{1:>6}  {'The cat':>40}  on the mat  sat ("


def test_kwic_cuts_long_contexts(tmp_path: Path, capsys: Output) -> None:
    words = " ".join(f"(NN word{number})" for number in range(100))
    (tmp_path / "long.txt").write_text(f"(TOP (NP {words} (JJ here) {words}))\n")
    main(["search", "JJ", str(tmp_path / "long.txt"), "--kwic"])
    (line,) = lines(capsys)
    assert len(line) < 110
    assert line.count("…") == 2


def test_whole_prints_the_whole_tree(trees: str, capsys: Output) -> None:
    main(["search", "CC", trees, "--whole"])
    assert lines(capsys) == [f"2: {TREES.splitlines()[1]}"]


def test_bad_pattern_shows_a_caret_and_a_hint(trees: str, capsys: Output) -> None:
    assert main(["search", "NP < (NN", trees]) == 2
    assert capsys.readouterr().err == (
        "error: column 6: this ( is never closed\n  NP < (NN\n       ^\nhint: close it with )\n"
    )


def test_index_is_built_used_and_refused_when_stale(trees: str, tmp_path: Path, capsys: Output) -> None:
    index = str(tmp_path / "index")
    assert main(["search", "VP < VBD", trees, "--index", index]) == 0
    first = capsys.readouterr()
    assert first.err == f"building {index}\n"
    assert main(["search", "VP < VBD", "--index", index]) == 0
    again = capsys.readouterr()
    assert (again.out, again.err) == (first.out, "")
    assert main(["search", "VP < VBD", trees, "--index", index, "--count"]) == 0
    assert lines(capsys) == ["3"]
    Path(trees).write_text(TREES * 2)
    assert main(["search", "VP < VBD", trees, "--index", index]) == 2
    assert "has changed since it was indexed" in capsys.readouterr().err


def test_index_may_be_below_the_folder_that_it_is_of(trees: str, tmp_path: Path, capsys: Output) -> None:
    index = str(tmp_path / "indexes" / "all")
    for files in ([str(tmp_path)], [str(tmp_path)], [f"{tmp_path}/**"], []):
        assert main(["search", "NP", *files, "--index", index, "--count"]) == 0
        assert capsys.readouterr().out == "4\n"
    assert main(["search", "NP", index]) == 2
    assert f"it is an index: fencepost search PATTERN --index {index}" in capsys.readouterr().err


def test_an_index_that_cannot_be_written_is_refused_before_the_trees_are_read(trees: str, capsys: Output) -> None:
    assert main(["search", "NP", trees, "--index", f"{trees}/index"]) == 2
    error = f"error: can't create the folder {trees}: File exists\nhint: give another folder\n"
    assert capsys.readouterr().err == error


def test_missing_index_needs_files(tmp_path: Path, capsys: Output) -> None:
    assert main(["search", "NP", "--index", str(tmp_path / "none")]) == 2
    assert "give the files to build it from" in capsys.readouterr().err


def test_macros_come_from_a_file(trees: str, tmp_path: Path, capsys: Output) -> None:
    (tmp_path / "macros").write_text("# verbs\n\nVERB\t/^VB/\n")
    main(["search", "VP < VERB", trees, "--macros", str(tmp_path / "macros"), "--count"])
    assert lines(capsys) == ["3"]
    (tmp_path / "macros").write_text("VERB\n")
    assert main(["search", "VP < VERB", trees, "--macros", str(tmp_path / "macros")]) == 2
    assert "macros:1: a macro is a name, a tab and its replacement" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--text", "--index", "x"], "--text and --index can't be combined"),
        (["--model", "en"], "--model, --device, --workers and --batch-tokens are for --text"),
        (["--workers", "2"], "--model, --device, --workers and --batch-tokens are for --text"),
        (["--text", "--workers", "0"], "--workers must be at least 1"),
    ],
)
def test_options_that_contradict_each_other(trees: str, options: list[str], problem: str, capsys: Output) -> None:
    assert main(["search", "NP", trees, *options]) == 2
    assert problem in capsys.readouterr().err


def test_text_is_parsed_first_and_offsets_count_its_characters(tmp_path: Path, capsys: Output) -> None:
    text = "A dog barked.  The old cat slept on the mat."
    (tmp_path / "text.txt").write_text(text)
    main(["search", "PP <, IN=in", str(tmp_path / "text.txt"), "--text", "--json"])
    (line,) = lines(capsys)
    row = json.loads(line)
    assert row["tree"] == 2
    assert text[row["start_char"] : row["end_char"]] == "on the mat"
    assert text[row["names"]["in"]["start_char"] : row["names"]["in"]["end_char"]] == "on"
    main(["search", "NN", str(tmp_path / "text.txt"), "--text", "--count"])
    assert lines(capsys) == ["3"]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_colours_are_for_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert wants_colour(Terminal())
    assert not wants_colour(io.StringIO())
    monkeypatch.setenv("NO_COLOR", "1")
    assert not wants_colour(Terminal())


def test_inner_colours_win_and_outer_ones_come_back() -> None:
    nodes = Nodes.of(Tree.from_string("(S (NP (NN a)) (VP (VB b) (NP (NN c))))"))
    found = Found(1, None, nodes, Place(4, {}))
    text = coloured(found, 0, {4: "<green>", 7: "<blue>"}).replace("\x1b[0m", "<off>")
    assert text == "(S (NP (NN a)) <green>(VP (VB b) <blue>(NP (NN c))<off><green>)<off>)"


@pytest.mark.parametrize(("option", "expected"), [([], "\x1b[1;36m(CC and)"), (["--whole"], "\x1b[1;32m(VP (VBD")])
def test_terminal_shows_names_and_matches_in_colour(
    trees: str, option: list[str], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    monkeypatch.setattr("sys.stdout", terminal)
    main(["search", "VP < CC=conjunction", trees, *option])
    assert expected in terminal.getvalue()


@pytest.mark.parametrize("options", [[], ["--whole"], ["--kwic"]], ids=" ".join)
def test_a_real_terminal_gets_our_colours_and_shows_other_escapes(tmp_path: Path, options: list[str]) -> None:
    (tmp_path / "trees.txt").write_text("(TOP (NP (DT the) (NN c\x1b[2Jat)) (VBD sat))\n", "utf-8")
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "fencepost", "search", "NP=np < NN", str(tmp_path / "trees.txt"), *options]
    environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"} | {"TERM": "xterm"}
    subprocess.run(command, stdin=theirs, stdout=theirs, stderr=theirs, check=True, env=environment)
    os.close(theirs)
    said = os.read(ours, 10_000).decode()
    os.close(ours)
    assert "\x1b[1;3" in said
    assert "c\\x1b[2Jat" in said
    assert "\\x1b[1;3" not in said


@pytest.mark.parametrize(
    ("pattern", "note"),
    [
        ("np < PP", "no node has the label np\nhint: the trees have NP\n"),
        ("ROOT < S", "no node has the label ROOT\nhint: the trees have TOP\n"),
        ("NP-SBJ < PRP", "no node has the label NP-SBJ\nhint: the trees have NP\n"),
        ("N* < PP", "no node has the label N*\nhint: /^N/ finds labels that begin with N\n"),
        ("NP << XX|YY", "no node has one of the labels XX, YY\n"),
    ],
)
@pytest.mark.parametrize("options", [[], ["--count"]])
def test_labels_that_no_tree_has_are_named(
    pattern: str, note: str, options: list[str], tmp_path: Path, capsys: Output
) -> None:
    (tmp_path / "trees.txt").write_text("(TOP (S (NP (PRP it)) (VP (VBD sat) (PP (IN on) (NP (PRP it))))))\n")
    assert main(["search", pattern, str(tmp_path / "trees.txt"), *options]) == 0
    captured = capsys.readouterr()
    assert captured.out == ("0\n" if options else "")
    assert captured.err == f"note: no matches: {note}"


def test_no_matches_are_silent_if_the_trees_have_all_labels(trees: str, capsys: Output) -> None:
    assert main(["search", "VP > NN", trees]) == 0
    assert capsys.readouterr() == ("", "")


def test_labels_of_parsed_text_are_named_too(tmp_path: Path, capsys: Output) -> None:
    (tmp_path / "text.txt").write_text("A dog barked.")
    assert main(["search", "np", str(tmp_path / "text.txt"), "--text"]) == 0
    assert capsys.readouterr().err == "note: no matches: no node has the label np\nhint: the trees have NP\n"


def test_raw_text_without_the_option_is_an_error_that_names_it(tmp_path: Path, capsys: Output) -> None:
    (tmp_path / "text.txt").write_text("A dog barked.")
    assert main(["search", "NP", str(tmp_path / "text.txt")]) == 2
    assert "--text parses files of raw text first" in capsys.readouterr().err


def test_a_sentence_in_place_of_a_file_is_explained(capsys: Output) -> None:
    assert main(["search", "NP", "A dog barked.", "--text"]) == 2
    assert "pipe it: echo … | fencepost search" in capsys.readouterr().err


def test_a_terminal_is_told_what_to_type(trees: str, capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.TextIOWrapper):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr("sys.stdin", Terminal(io.BytesIO(Path(trees).read_bytes()), "utf-8"))
    assert main(["search", "NP", "--count"]) == 0
    captured = capsys.readouterr()
    assert captured.err == "type or paste trees; Ctrl-D ends the input\n"
    assert int(captured.out) > 0
