from __future__ import annotations

import io
import json
import os
import random
import signal
import subprocess
import sys
import unicodedata
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest

from fencepost.cli.main import main
from fencepost.parsing.load import load
from fencepost.parsing.parser import Parser
from fencepost.text.sentences import MOST_WORDS
from fencepost.training.train import train
from fencepost.trees.tree import Tree
from tests.grammar import toy_trees
from tests.samples import tiny_config

TEXT = 'The cat didn\'t sleep. It said "no".\n\nA heading\n'
WORDS = [["The", "cat", "did", "n't", "sleep", "."], ["It", "said", "``", "no", "''", "."], ["A", "heading"]]
Parse = Callable[..., str]
INTERRUPTIBLE = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # which a job in the background would have to ignore
from fencepost.cli.main import main
sys.exit(main())
"""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    trees = toy_trees(30)
    folder = tmp_path_factory.mktemp("parse") / "model"
    train(tiny_config(max_epochs=3), trees, trees, folder)
    return str(folder)


@pytest.fixture(scope="module")
def parser(model: str) -> Parser:
    return load(model)


def test_without_a_name_it_is_the_model_that_ships_whatever_folder_lies_here(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "en").symlink_to(model)
    monkeypatch.chdir(tmp_path)
    assert main(["parse", "--text", "It works."]) == 0
    assert capsys.readouterr().out == "(TOP (S (NP (PRP It)) (VP (VBZ works)) (. .)))\n"
    assert load().config != load("en").config == load(model).config
    assert main(["parse", "--model", "en", "--text", "It works."]) == 0
    assert capsys.readouterr().out == f"{load(model).parse([['It', 'works', '.']])[0]}\n"


@pytest.fixture
def parse(model: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Parse:
    """Runs the command and gives what it printed; ``stdin`` is what it reads."""

    def run(*arguments: str, stdin: bytes = b"", status: int = 0) -> str:
        given = SimpleNamespace(buffer=io.BytesIO(stdin), fileno=lambda: -1, isatty=lambda: False)
        monkeypatch.setattr(sys, "stdin", given)
        assert main(["parse", "--model", model, *arguments]) == status
        return capsys.readouterr().out

    return run


def objects(output: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in output.splitlines()]


def test_text_gives_a_tree_a_line_in_order(parse: Parse, parser: Parser) -> None:
    trees = [Tree.from_string(line) for line in parse("--text", TEXT).splitlines()]
    assert [tree.words() for tree in trees] == WORDS
    assert trees == parser.parse(WORDS)


def test_files_and_standard_input_give_the_same(parse: Parse, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(TEXT, "utf-8")
    expected = parse("--text", TEXT)
    assert parse(str(tmp_path / "a.txt")) == expected
    assert parse(stdin=TEXT.encode()) == expected
    assert parse(str(tmp_path / "a.txt"), "-", stdin=TEXT.encode()) == expected * 2


def test_several_texts_are_parsed_one_after_the_other(parse: Parse) -> None:
    expected = parse("--text", "One two") + parse("--text", "Three four")
    assert parse("--text", "One two", "--text", "Three four") == expected
    assert parse("--tokenized", "--text", "One two", "--text", "Three four") == expected


def test_modes_say_what_a_line_is(parse: Parse) -> None:
    text = "One two. Three\nfour.\n"
    assert len(parse("--text", text).splitlines()) == 2
    assert len(parse("--text", text, "--paragraphs").splitlines()) == 3
    assert [len(Tree.from_string(line).leaves()) for line in parse("--text", text, "--lines").splitlines()] == [3, 2]


def test_tokens_given_are_tokens_kept(parse: Parse) -> None:
    lines = parse("--tokenized", "--text", "don't split -LRB- me .\n\n a  b\u00a0c \n").splitlines()
    assert Tree.from_string(lines[0]).words() == ["don't", "split", "(", "me", "."]
    assert lines[1] == ""
    assert Tree.from_string(lines[2]).words() == ["a", "b\u00a0c"]


def test_json_has_the_fields_of_the_design(parse: Parse) -> None:
    found = objects(parse("--format", "json", "--text", TEXT))
    assert [one["text"] for one in found] == ["The cat didn't sleep.", 'It said "no".', "A heading"]
    for one in found:
        assert set(one) == {"file", "document", "text", "offset", "tokens", "tree", "score", "constituents"}
        assert TEXT[one["offset"] :].startswith(one["text"])
        assert all(one["text"][token["start"] : token["end"]] == token["text"] for token in one["tokens"])
        tree = Tree.from_string(one["tree"])
        assert [token["tag"] for token in one["tokens"]] == tree.tags()
        assert [part["label"] for part in one["constituents"]] == [phrase.label for phrase in tree.subtrees()][1:]
        assert all(set(part) == {"label", "start", "end"} for part in one["constituents"])
        assert all(0 <= part["start"] < part["end"] <= len(one["tokens"]) for part in one["constituents"])
    assert found[1]["tokens"][2] == {"text": '"', "start": 8, "end": 9, "tag": found[1]["tokens"][2]["tag"]}


@pytest.mark.parametrize("reading", ["--lines", "--tokenized"])
def test_offsets_of_lines_count_the_line_ends_before_them(parse: Parse, reading: str) -> None:
    text = "A cat\n\nA dog\nA bird\n"
    found = objects(parse(reading, "--format", "json", "--text", text))
    assert [one["offset"] for one in found] == [0, 6, 7, 13]
    assert all(text.startswith(one["text"], one["offset"]) for one in found)


def test_json_tells_documents_apart(parse: Parse, tmp_path: Path) -> None:
    first, second = tmp_path / "a.txt", tmp_path / "b.txt"
    first.write_text("One two. Three.", "utf-8")
    second.write_text("  Four.", "utf-8")
    found = objects(parse("--format", "json", str(first), "-", str(second), stdin=b"Five."))
    assert [(one["file"], one["document"], one["offset"], one["text"]) for one in found] == [
        (str(first), 0, 0, "One two."),
        (str(first), 0, 9, "Three."),
        ("-", 1, 0, "Five."),
        (str(second), 2, 2, "Four."),
    ]
    lines = objects(parse("--format", "json", "--lines", str(first), str(second)))
    assert [(one["file"], one["document"]) for one in lines] == [(str(first), 0), (str(second), 1)]
    texts = objects(parse("--format", "json", "--text", "One.", "--text", "Two."))
    assert [(one["file"], one["document"], one["offset"]) for one in texts] == [(None, 0, 0), (None, 0, 6)]


def test_probabilities_and_k_best_trees_are_there_when_asked(parse: Parse, parser: Parser) -> None:
    (found,) = objects(parse("--format", "json", "--probabilities", "--kbest", "3", "--text", "The cat sat."))
    expected = parser.analyze(["The", "cat", "sat", "."], k=3)
    assert [one["tree"] for one in found["kbest"]] == [str(one.tree) for one in expected.trees]
    assert [one["score"] for one in found["kbest"]] == pytest.approx([one.score for one in expected.trees], abs=1e-4)
    assert [part["probability"] for part in found["constituents"]] == pytest.approx(
        [part.probability for part in expected.constituents], abs=1e-4
    )


def test_a_sentence_too_long_for_probabilities_is_named(
    model: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fencepost.parsing.confidence.LARGEST_CHART", 0)
    for asked in (["--probabilities"], ["--kbest", "3"], ["--decoding", "risk"]):
        arguments = ["--format", "json", *asked, "--text", "The cat sat."]
        assert main(["parse", "--model", model, *arguments]) == 0
        printed = capsys.readouterr()
        assert objects(printed.out)[0]["tree"].startswith("(TOP ")
        assert "a sentence of 4 words is too long for probabilities" in printed.err


def test_brackets_have_no_place_for_probabilities(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["parse", "--model", model, "--probabilities", "--text", "The cat sat."]) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("(TOP ")
    assert "brackets can't show probabilities" in printed.err


def test_k_best_trees_alone_bring_no_probabilities_of_constituents(parse: Parse) -> None:
    (found,) = objects(parse("--format", "json", "--kbest", "2", "--text", "The cat sat."))
    assert len(found["kbest"]) == 2
    assert not any("probability" in part for part in found["constituents"])


def test_k_best_trees_in_brackets_end_with_an_empty_line(parse: Parse) -> None:
    groups = parse("--kbest", "2", "--text", TEXT).strip().split("\n\n")
    assert [[Tree.from_string(line).words() for line in group.splitlines()] for group in groups] == [
        [words] * 2 for words in WORDS
    ]


def test_risk_is_another_way_to_choose_a_tree(parse: Parse, parser: Parser) -> None:
    tree = parser.analyze(WORDS[0], decoding="risk").tree
    assert parse("--decoding", "risk", "--text", "The cat didn't sleep.") == f"{tree}\n"


def test_json_has_both_the_tree_of_least_risk_and_the_best_ones(parse: Parse, parser: Parser) -> None:
    options = ("--kbest", "2", "--decoding", "risk", "--format", "json")
    (found,) = objects(parse(*options, "--text", "The cat didn't sleep."))
    analysis = parser.analyze(WORDS[0], k=2, decoding="risk")
    assert found["tree"] == str(analysis.tree)
    assert [one["tree"] for one in found["kbest"]] == [str(one.tree) for one in analysis.trees]


def test_pretty_shows_the_sentence_and_a_drawing(parse: Parse) -> None:
    shown = parse("--format", "pretty", "--probabilities", "--text", "The cat sat.")
    assert shown.startswith("The cat sat.\n")
    assert shown.endswith("\n\n")
    assert "TOP" in shown
    assert "%" in shown


@pytest.mark.parametrize("text", ["The cat sat.", TEXT, " "])
def test_svg_is_one_picture(parse: Parse, text: str) -> None:
    assert ElementTree.fromstring(parse("--format", "svg", "--text", text)).tag.endswith("svg")


def test_html_is_one_page_of_all_trees(parse: Parse) -> None:
    page = parse("--format", "html", "--probabilities", "--text", TEXT)
    assert page.startswith("<!DOCTYPE html>")
    assert page.endswith("</html>\n")
    assert page.count("<figure>") == page.count("<svg ") == 3


def test_a_bad_line_is_reported_and_keeps_its_place(
    parse: Parse, tmp_path: Path, capsys: pytest.CaptureFixture[str], model: str
) -> None:
    path = tmp_path / "bad.txt"
    path.write_bytes(b"It works .\nbad \xff line\n" + b"a " * (MOST_WORDS + 1) + b"\n\nIt works .\n")
    assert main(["parse", "--model", model, "--tokenized", str(path)]) == 0
    output, errors = capsys.readouterr()
    lines = output.splitlines()
    assert lines[1:4] == ["", "", ""]
    assert lines[0] == lines[4] != ""
    assert f"warning: {path}:2: not UTF-8: byte 0xff at column 5" in errors
    assert f"warning: {path}:3: the sentence has 3,001 words; at most 3,000 can be parsed" in errors
    assert "note: found 2 bad lines" in errors
    found = objects(parse("--tokenized", "--format", "json", str(path)))
    assert [one.get("error") is not None for one in found] == [False, True, True, False, False]
    assert [one["tree"] is None for one in found] == [False, True, True, True, False]


def test_strict_stops_at_a_bad_line(tmp_path: Path, capsys: pytest.CaptureFixture[str], model: str) -> None:
    path = tmp_path / "bad.txt"
    path.write_bytes(b"It works .\nbad \xff line\nIt works .\n")
    assert main(["parse", "--model", model, "--tokenized", "--strict", str(path)]) == 2
    output, errors = capsys.readouterr()
    assert len(output.splitlines()) == 1
    assert errors.startswith(f"error: {path}:2: not UTF-8")


def test_strict_writes_all_trees_before_a_bad_line_of_running_text_even_when_workers_read_ahead(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fencepost.parsing.workers.CHUNK", 50)  # tokens, so that there are many chunks
    path = tmp_path / "bad.txt"
    path.write_bytes(b"It works.\n" * 60 + b"bad \xff line.\n")
    options = ["--strict", "--workers", "2", "--batch-tokens", "20"]
    assert main(["parse", "--model", model, *options, str(path)]) == 2
    output, errors = capsys.readouterr()
    assert len(output.splitlines()) >= 60
    assert errors.startswith(f"error: {path}:61: not UTF-8")


def test_bad_bytes_in_running_text_are_reported_and_replaced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], model: str
) -> None:
    path = tmp_path / "bad.txt"
    path.write_bytes(b"One two.\nThree \xff four.\n")
    assert main(["parse", "--model", model, str(path)]) == 0
    output, errors = capsys.readouterr()
    assert Tree.from_string(output.splitlines()[1]).words() == ["Three", "\ufffd", "four", "."]
    assert f"warning: {path}:2: not UTF-8" in errors
    assert main(["parse", "--model", model, "--strict", str(path)]) == 2


@pytest.mark.parametrize("arguments", [["--text", ""], ["--text", " \n\n"], ["--text", "\n", "--lines"]])
def test_an_input_without_words_is_noted(arguments: list[str], capsys: pytest.CaptureFixture[str], model: str) -> None:
    assert main(["parse", "--model", model, *arguments]) == 0
    output, errors = capsys.readouterr()
    assert output.strip() == ""
    assert errors == "note: the input has nothing to parse\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--text", "a", "file.txt"], "--text and files"),
        (["--text", "a", "--kbest", "0"], "--kbest must be at least 1, got 0"),
        (["--text", "a", "--batch-tokens", "0"], "--batch-tokens must be at least 1, got 0"),
        *(
            (["--text", "a", "--kbest", "2", "--decoding", "risk", "--format", form], "can't show both the trees")
            for form in ("brackets", "pretty", "svg", "html")
        ),
        (["no-such-file.txt"], "no such file or folder"),
    ],
)
def test_what_can_mean_nothing_is_refused(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str], model: str
) -> None:
    assert main(["parse", "--model", model, *arguments]) == 2
    assert message in capsys.readouterr().err


def test_a_model_that_is_not_there_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["parse", "--model", "no-such-model", "--text", "a"]) == 2
    assert capsys.readouterr().err.startswith("error: no model at no-such-model\nhint: ")


def test_utf16_is_refused_with_a_remedy(tmp_path: Path, capsys: pytest.CaptureFixture[str], model: str) -> None:
    (tmp_path / "a.txt").write_bytes("It works.".encode("utf-16"))
    assert main(["parse", "--model", model, str(tmp_path / "a.txt")]) == 2
    assert "hint: iconv" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("start", "kind"),
    [
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "a PDF"),
        (b"PK\x03\x04\x14\0\0\0", "a zip archive, such as a Word or EPUB file"),
        (b"{\\rtf1\\ansi It works.}\n", "RTF"),
    ],
)
@pytest.mark.parametrize("reading", [[], ["--lines"]])
def test_files_of_other_programs_are_refused_with_a_remedy(
    start: bytes, kind: str, reading: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], model: str
) -> None:
    (tmp_path / "a.txt").write_bytes(start)
    assert main(["parse", "--model", model, *reading, str(tmp_path / "a.txt")]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.endswith(f"text but {kind}\nhint: save it as plain text in UTF-8 first\n")


def test_utf16_without_its_mark_is_reported_and_strict_refuses_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], model: str
) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("The cat sat.\nIt slept.\n".encode("utf-16-le"))
    problem = f"{path}:1: a NUL byte: this isn't UTF-8 text (is it UTF-16, or a binary file?)"
    for reading in ([], ["--lines"]):
        assert main(["parse", "--model", model, str(path), *reading]) == 0
        assert f"warning: {problem}\n" in capsys.readouterr().err
        assert main(["parse", "--model", model, str(path), "--strict", *reading]) == 2
        assert f"error: {problem}\n" in capsys.readouterr().err


@pytest.mark.parametrize("reading", [[], ["--lines"]])
def test_ten_bad_lines_are_shown_and_all_are_counted(
    reading: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], model: str
) -> None:
    (tmp_path / "bad.txt").write_bytes(b"bad \xff line.\n" * 25)
    (tmp_path / "worse.txt").write_bytes(b"bad \xff line.\n" * 25)
    assert main(["parse", "--model", model, *reading, str(tmp_path / "bad.txt"), str(tmp_path / "worse.txt")]) == 0
    *shown, more, note = capsys.readouterr().err.splitlines()
    assert [line.partition(": not UTF-8")[0] for line in shown] == [
        f"warning: {tmp_path / 'bad.txt'}:{number}" for number in range(1, 11)
    ]
    assert more.startswith("warning: further bad lines are counted")
    assert note == "note: found 50 bad lines"


def test_a_bad_line_after_the_last_sentence_is_reported_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], model: str
) -> None:
    (tmp_path / "a.txt").write_bytes(b"It works.\n\n\xff")
    assert main(["parse", "--model", model, str(tmp_path / "a.txt")]) == 0
    assert f"warning: {tmp_path / 'a.txt'}:3: not UTF-8" in capsys.readouterr().err
    assert main(["parse", "--model", model, "--strict", str(tmp_path / "a.txt")]) == 2


def test_an_input_that_cannot_be_read_takes_no_sentence_with_it_that_came_before(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], model: str
) -> None:
    (tmp_path / "a.txt").write_text("It works.\n" * 30)
    (tmp_path / "b.txt").write_bytes("It works.".encode("utf-16"))
    out = tmp_path / "trees.txt"
    files = [str(tmp_path / "a.txt"), str(tmp_path / "b.txt"), str(tmp_path / "a.txt")]
    assert main(["parse", "--model", model, "--lines", *files]) == 2
    trees = capsys.readouterr().out
    assert len(trees.splitlines()) == 30
    assert main(["parse", "--model", model, "--lines", *files, "--output", str(out)]) == 2
    assert not out.exists()
    assert (tmp_path / "trees.txt.partial").read_text() == trees
    assert f"the output so far is in {out}.partial\nerror: {files[1]}:1: not UTF-8" in capsys.readouterr().err


def test_a_closed_standard_input_is_an_error_that_says_so(
    model: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert main(["parse", "--model", model]) == 2
    assert "error: -: standard input is closed\n" in capsys.readouterr().err


def test_output_goes_to_a_file(parse: Parse, tmp_path: Path) -> None:
    path = tmp_path / "trees.txt"
    assert parse("--text", TEXT, "--output", str(path)) == ""
    assert path.read_text("utf-8") == parse("--text", TEXT)


def hostile_lines(count: int) -> list[str]:
    source = random.Random(7)
    kinds = [
        lambda: "".join(chr(source.randrange(1, 0x110000)) for _ in range(source.randrange(60))),
        lambda: "".join(chr(source.randrange(1, 128)) for _ in range(source.randrange(60))),
        lambda: "".join(source.choice(".,;:!?\"'()[]{}-–—…«»`*#@&%$/\\|<>") for _ in range(source.randrange(60))),
        lambda: " ".join(
            source.choice("\u200e\u200f\u202a\u202e\u2066\ufeff\u200b\u0301אבא漢字😀aZ9") for _ in range(20)
        ),
        lambda: source.choice("a.漢)") * 10_000,
        lambda: source.choice(["", " ", "\u00a0\u3000", "\0", "a\0b", "\x1b[31m red"]),
    ]
    lines = [source.choice(kinds)() for _ in range(count)]
    return ["".join(c for c in line if c != "\n" and unicodedata.category(c) != "Cs") for line in lines]


@pytest.mark.filterwarnings("ignore::fencepost.errors.LanguageWarning")
@pytest.mark.parametrize("mode", ["--lines", "--tokenized"])
def test_hostile_lines_are_all_accounted_for(parse: Parse, mode: str) -> None:
    lines = hostile_lines(300)
    data = "".join(f"{line}\n" for line in lines).encode()
    found = objects_by_newline(parse(mode, "--format", "json", stdin=data))
    assert [one["text"] for one in found] == [line.removesuffix("\r").replace("\0", "\ufffd") for line in lines]
    for one, line in zip(found, lines, strict=True):
        assert (one["tree"] is None) == (not one["tokens"] or "error" in one)
        tokens = "".join("".join(token["text"] for token in one["tokens"]).split())
        assert (tokens, "error" in one) == ("", True) if "\0" in line else tokens == "".join(line.split())


def objects_by_newline(output: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in output.removesuffix("\n").split("\n")]


@pytest.mark.filterwarnings("ignore::fencepost.errors.LanguageWarning")
@pytest.mark.parametrize("form", ["brackets", "pretty", "svg", "html"])
def test_hostile_text_can_be_written_in_every_format(parse: Parse, form: str) -> None:
    data = "".join(f"{line}\n" for line in hostile_lines(60) if len(line) < 999).encode()
    written = parse("--format", form, stdin=data)
    assert written
    if form == "svg":
        ElementTree.fromstring(written)


def start(model: str, *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", INTERRUPTIBLE, "parse", "--model", model, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )


def test_trees_appear_while_the_input_is_open_and_an_interruption_keeps_them(model: str) -> None:
    with start(model) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(b"It works. The cat sat.\nNo, wait.\n\nOne more. And")
        process.stdin.flush()
        lines = [process.stdout.readline() for _ in range(3)]
        assert [Tree.from_string(line.decode()).words()[0] for line in lines] == ["It", "The", "No"]
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 130
        assert process.stderr.read() == b"interrupted\n"


def test_trees_given_as_text_are_parsed_with_a_warning(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "trees.txt").write_text("(TOP (NP (NNP Ada)))\n(TOP (NP (NNP Oslo)))\n", "utf-8")
    assert main(["parse", "--model", model, str(tmp_path / "trees.txt"), "--lines"]) == 0
    output, errors = capsys.readouterr()
    assert len(output.splitlines()) == 2
    assert errors.startswith("warning: the input looks like bracketed trees")
    assert "hint: `fencepost treebank words FILE`" in errors
    assert errors.count("warning") == 1


@pytest.mark.parametrize(
    ("arguments", "typed", "told"), [([], True, True), ([], False, False), (["--text", "It works."], True, False)]
)
def test_somebody_who_types_is_told_what_is_waited_for(
    model: str,
    arguments: list[str],
    typed: bool,
    told: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    given = SimpleNamespace(buffer=io.BytesIO(b"It works."), fileno=lambda: -1, isatty=lambda: typed)
    monkeypatch.setattr(sys, "stdin", given)
    assert main(["parse", "--model", model, *arguments]) == 0
    assert ("Ctrl-D" in capsys.readouterr().err) is told


def test_tags_may_come_with_the_words(parse: Parse) -> None:
    given = parse("--tagged", stdin=b"The_DT snake_case_NN sat_VBD ._.\n\nIt_PRP\n").splitlines()
    trees = [Tree.from_string(line) if line else None for line in given]
    assert [tree and tree.tags() for tree in trees] == [["DT", "NN", "VBD", "."], None, ["PRP"]]
    assert trees[0] is not None
    assert trees[0].words() == ["The", "snake_case", "sat", "."]
    (found,) = objects(parse("--tagged", "--format", "json", "--text", "A_DT cat_NN"))
    assert [(token["text"], token["start"], token["end"], token["tag"]) for token in found["tokens"]] == [
        ("A", 0, 1, "DT"),
        ("cat", 5, 8, "NN"),
    ]


@pytest.mark.parametrize("bad", ["cat", "_NN", "cat_"])
def test_a_word_without_a_tag_is_reported_with_its_line(
    bad: str, model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "tagged.txt"
    path.write_text(f"The_DT cat_NN\nThe_DT {bad}\n")
    assert main(["parse", "--model", model, "--tagged", str(path)]) == 0
    printed = capsys.readouterr()
    assert len(printed.out.splitlines()) == 2
    assert f"{path}:2: {bad} has no tag; expected word_TAG" in printed.err


def test_brackets_have_the_tags_of_treebanks(parse: Parse) -> None:
    assert Tree.from_string(parse("--tagged", "--text", "He_PRP (_( )_)")).tags() == ["PRP", "-LRB-", "-RRB-"]


def test_a_model_that_reads_tags_parses_words_with_tags(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trees = toy_trees(12)
    config = tiny_config(max_epochs=1)
    reads_tags = replace(config, lexical=("tags",), scorer=replace(config.scorer, predict_tags=False))
    train(reads_tags, trees, trees, tmp_path / "model")
    assert main(["parse", "--model", str(tmp_path / "model"), "--text", "The cat sat."]) == 2
    assert "hint: --tagged" in capsys.readouterr().err
    assert main(["parse", "--model", str(tmp_path / "model"), "--tagged", "--text", "The_DT cat_NN"]) == 0
    assert Tree.from_string(capsys.readouterr().out).tags() == ["DT", "NN"]
