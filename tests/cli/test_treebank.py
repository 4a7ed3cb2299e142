from __future__ import annotations

import gc
import gzip
import io
import json
import os
import signal
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest

from fencepost.cli.main import main
from fencepost.cli.treebank import _trees
from fencepost.trees.treebank import Treebank

CAT = "(TOP (S (NP (DT The) (NN cat)) (VP (VBD sat))))"
RAW = "( (S (NP-SBJ (DT The) (NN cat))\n     (VP (VBD sat) (NP (-NONE- *)))) )\n"
FENCEPOST = [sys.executable, "-m", "fencepost"]
INTERRUPTIBLE = """\
import signal, sys
from fencepost.cli.main import main
signal.signal(signal.SIGINT, signal.default_int_handler)  # which a job in the background would have to ignore
sys.exit(main())
"""


@pytest.fixture
def cats(tmp_path: Path) -> Path:
    path = tmp_path / "cats.txt"
    path.write_text(f"{CAT}\n" * 10)
    return path


def test_stats_prints_a_table_with_a_row_for_each_argument(cats: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["treebank", "stats", str(cats), f"{cats.parent}/*.txt"]) == 0
    header, *rows = capsys.readouterr().out.splitlines()
    assert header.split()[:2] == ["sentences", "tokens"]
    assert [row.split()[0] for row in rows] == [str(cats), f"{cats.parent}/*.txt", "total"]
    assert [row.split()[1:3] for row in rows] == [["10", "30"], ["10", "30"], ["20", "60"]]


def test_stats_of_a_file_given_twice_has_two_rows(cats: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["treebank", "stats", str(cats), str(cats)]) == 0
    _, *rows = capsys.readouterr().out.splitlines()
    assert [row.split()[:2] for row in rows] == [[str(cats), "10"], [str(cats), "10"], ["total", "20"]]


def test_stats_of_one_file_has_no_total(cats: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["treebank", "stats", str(cats)])
    assert "total" not in capsys.readouterr().out


def test_stats_json_has_figures_and_counts(cats: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["treebank", "stats", "--json", str(cats)]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["total"] == answer["files"][str(cats)]
    assert answer["total"]["repeated"] == 9
    assert answer["total"]["label_counts"] == {"S": 10, "NP": 10, "VP": 10}
    assert answer["total"]["tag_counts"]["DT"] == 10


def test_normalize_prints_one_plain_tree_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "raw.mrg").write_text(RAW * 2)
    assert main(["treebank", "normalize", str(tmp_path / "raw.mrg")]) == 0
    captured = capsys.readouterr()
    assert captured.out == f"{CAT}\n{CAT}\n"
    assert captured.err == ""


def test_normalize_options_reach_the_trees(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "raw.mrg").write_text("( (TITLE (NP-SBJ-1 (NP-SBJ-1 (NN cat) (-NONE- *)) (SU /))))")
    main(["treebank", "normalize", str(tmp_path / "raw.mrg"), "--unwrap", "TITLE", "--drop", "CODE,SU"])
    main(["treebank", "normalize", str(tmp_path / "raw.mrg"), "--keep-functions", "--drop=SU"])
    options = ["--keep-traces", "--keep-functions", "--keep-indices", "--keep-repeats", "--drop="]
    main(["treebank", "normalize", str(tmp_path / "raw.mrg"), *options])
    assert capsys.readouterr().out.splitlines() == [
        "(TOP (NP (NN cat)))",
        "(TOP (TITLE (NP-SBJ (NN cat))))",
        "(TOP (TITLE (NP-SBJ-1 (NP-SBJ-1 (NN cat) (-NONE- *)) (SU /))))",
    ]


def test_normalize_says_how_many_trees_had_nothing_left(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "raw.mrg").write_text("( (CODE <TURN>))\n" + RAW)
    assert main(["treebank", "normalize", str(tmp_path / "raw.mrg")]) == 0
    captured = capsys.readouterr()
    assert captured.out == f"{CAT}\n"
    assert "note: trees skipped because no words were left: 1\n" in captured.err


def test_normalize_takes_an_inner_node_without_a_label(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "raw.mrg").write_text("( (S (NP (DT The) (NN cat)) ( (VP (VBD sat)))))")
    assert main(["treebank", "normalize", str(tmp_path / "raw.mrg")]) == 0
    assert capsys.readouterr().out == f"{CAT}\n"


def test_output_may_be_the_input_and_may_be_gzipped(tmp_path: Path) -> None:
    (tmp_path / "bank.txt").write_text(RAW)
    assert main(["treebank", "normalize", str(tmp_path / "bank.txt"), "--output", str(tmp_path / "bank.txt")]) == 0
    assert (tmp_path / "bank.txt").read_text() == f"{CAT}\n"
    assert main(["treebank", "words", str(tmp_path / "bank.txt"), "--output", str(tmp_path / "words.gz")]) == 0
    assert gzip.decompress((tmp_path / "words.gz").read_bytes()) == b"The cat sat\n"


def test_what_an_interrupted_run_left_in_a_folder_is_not_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.mrg").write_text(RAW)
    (tmp_path / "out.txt.partial").write_text(f"{CAT}\n(TOP (S")
    assert main(["treebank", "words", str(tmp_path)]) == 0
    assert capsys.readouterr().out.splitlines() == ["The cat sat"]  # and no traces


def test_a_file_that_appears_in_the_folder_later_such_as_the_output_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(CAT)
    trees = _trees([str(tmp_path)], "reading")
    (tmp_path / "b.txt").write_text(CAT)
    assert len(list(trees)) == 1


def test_an_error_half_way_leaves_the_old_output_and_what_was_done_beside_it(cats: Path, tmp_path: Path) -> None:
    (tmp_path / "out.txt").write_text("old")
    (tmp_path / "bad.mrg").write_text(f"{CAT}\n(S (NN")
    assert main(["treebank", "normalize", str(tmp_path / "bad.mrg"), "--output", str(tmp_path / "out.txt")]) == 2
    assert (tmp_path / "out.txt").read_text() == "old"
    assert (tmp_path / "out.txt.partial").read_text() == f"{CAT}\n"


def test_words_are_real_text_or_escaped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.txt").write_text("(NP (-LRB- -LRB-) (NN é) (-RRB- -RRB-))", "utf-8")
    main(["treebank", "words", str(tmp_path / "a.txt")])
    main(["treebank", "words", "--escaped", str(tmp_path / "a.txt")])
    assert capsys.readouterr().out == "( é )\n-LRB- é -RRB-\n"


@pytest.mark.parametrize("data", [f"{CAT}\n".encode(), gzip.compress(f"{CAT}\n".encode())], ids=["plain", "gzip"])
def test_a_dash_is_standard_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], data: bytes
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert main(["treebank", "words", "-"]) == 0
    assert capsys.readouterr().out == "The cat sat\n"


def test_split_writes_three_files_the_same_way_each_time(tmp_path: Path) -> None:
    original = tmp_path / "all.txt"
    original.write_text("".join(f"(TOP (NN w{number}))\n" for number in range(20)))
    for out in ("one", "two"):
        assert main(["treebank", "split", str(original), "--out", str(tmp_path / out), "--ratio", "8:1:1"]) == 0
    parts = [(tmp_path / "one" / f"{name}.txt").read_text() for name in ("train", "dev", "test")]
    assert [part.count("\n") for part in parts] == [16, 2, 2]
    assert sorted("".join(parts).splitlines()) == sorted(original.read_text().splitlines())
    assert parts == [(tmp_path / "two" / f"{name}.txt").read_text() for name in ("train", "dev", "test")]


def test_split_by_file_keeps_files_whole(tmp_path: Path) -> None:
    for name in "abcd":
        (tmp_path / f"{name}.mrg").write_text(f"(TOP (NN {name}))\n" * 5)
    arguments = ["--by", "file", "--ratio", "2:1:1", "--out", str(tmp_path / "out")]
    assert main(["treebank", "split", str(tmp_path / "*.mrg"), *arguments]) == 0
    banks = [Treebank.load(tmp_path / "out" / f"{name}.txt") for name in ("train", "dev", "test")]
    assert [len(set(bank)) for bank in banks] == [2, 1, 1]
    assert [len(bank) for bank in banks] == [10, 5, 5]


@pytest.mark.parametrize("command", ["", "stats", "normalize", "split", "words"])
def test_help_has_examples(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["treebank", *command.split(), "--help"])
    assert caught.value.code == 0
    assert f"fencepost treebank {command}" in capsys.readouterr().out.partition("examples:")[2]


@pytest.mark.parametrize("command", ["normalize", "words"])
def test_memory_does_not_grow_with_the_file(tmp_path: Path, command: str) -> None:
    def peak(copies: int) -> int:
        with gzip.open(tmp_path / "big.gz", "wt", compresslevel=1) as file:
            file.write(RAW * copies)
        gc.collect()
        tracemalloc.start()
        assert main(["treebank", command, str(tmp_path / "big.gz"), "--output", str(tmp_path / "out.txt")]) == 0
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    # The least of two: imports, the reader's cache and the interpreter's own tables grow once in a while.
    short, long = (min(peak(copies) for _ in range(2)) for copies in (200, 2000))
    assert long < short + 80_000  # the text of the longer file alone is 160 kB


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interruption_keeps_what_was_written(number: signal.Signals, status: int, tmp_path: Path) -> None:
    """The reader waits on a pipe that stays open, so the program is interrupted half way for certain."""
    out = tmp_path / "out.txt"
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTIBLE, "treebank", "words", "-", "--output", str(out)],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(f"{CAT}\n".encode() * 5000)
        process.stdin.flush()
        process.send_signal(number)
        assert process.wait(20) == status
        message = process.stderr.read().decode()
    assert f"the output so far is in {out}.partial\n" in message
    assert message.endswith("interrupted\n") == (number == signal.SIGINT)
    assert "Traceback" not in message
    assert not out.exists()
    assert (tmp_path / "out.txt.partial").read_text().startswith("The cat sat\n")


def test_a_reader_that_leaves_early_causes_no_message(cats: Path) -> None:
    cats.write_text(f"{CAT}\n" * 20000)
    with subprocess.Popen(
        [*FENCEPOST, "treebank", "words", str(cats)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == b"The cat sat\n"
        process.stdout.close()
        assert process.stderr.read() == b""


def test_a_reader_that_left_before_the_first_line_causes_no_message(cats: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    result = subprocess.run([*FENCEPOST, "treebank", "stats", str(cats)], stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    assert (result.returncode, result.stderr) == (1, b"")


def test_a_file_name_that_is_not_utf_8_ends_no_command(tmp_path: Path) -> None:
    name = os.fsencode(tmp_path) + b"/caf\xe9.txt"
    with open(name, "w") as file:
        file.write(CAT)
    result = subprocess.run([*map(os.fsencode, FENCEPOST), b"treebank", b"stats", name], capture_output=True)
    assert (result.returncode, result.stderr) == (0, b"")


def test_trees_are_utf_8_whatever_the_locale(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("(NP (NN 猫))\n", "utf-8")
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    command = [*FENCEPOST, "treebank", "words", str(tmp_path / "a.txt")]
    assert subprocess.run(command, env=environment, capture_output=True, check=True).stdout == "猫\n".encode()


def test_words_that_normalisation_drops_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "raw.txt").write_text("(S (CODE <P_1>) (NP (NN cat) (ID x,1)) (NP (-NONE- *)))\n")
    assert main(["treebank", "normalize", str(tmp_path / "raw.txt")]) == 0
    output = capsys.readouterr()
    assert output.out == "(TOP (S (NP (NN cat))))\n"
    assert "words dropped under CODE, ID, META, -DFL-: 2;" in output.err


def test_nothing_is_said_where_only_traces_go(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "raw.txt").write_text("(S (NP (-NONE- *)) (VP (VB go)))\n")
    main(["treebank", "normalize", str(tmp_path / "raw.txt")])
    assert capsys.readouterr().err == ""
