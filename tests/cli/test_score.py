from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from fencepost.cli import main as program

GOLD = "(S (NP (D the) (N cat)) (VP (V sat)) (. .))"
PREDICTED = "(S (NP (D the)) (VP (N cat) (V sat)) (. .))"

Command = Callable[..., int]
Output = pytest.CaptureFixture[str]


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    monkeypatch.setattr(program, "COMMANDS", ("score",))

    def run(gold: str, predicted: str, *options: str) -> int:
        (tmp_path / "gold").write_text(gold)
        (tmp_path / "predicted").write_text(predicted)
        return program.main(["score", str(tmp_path / "gold"), str(tmp_path / "predicted"), *options])

    return run


def test_text_is_evalbs_summary(command: Command, capsys: Output) -> None:
    assert command(GOLD, PREDICTED) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("=== Summary ===\n\n-- All --\nNumber of sentence        =      1\n")
    assert captured.err == ""


def test_json_is_valid_and_alone_on_stdout(command: Command, capsys: Output) -> None:
    assert command(f"{GOLD}\n{GOLD}\n", f"{GOLD}\n\n", "--json") == 0
    figures = json.loads(capsys.readouterr().out)
    assert (figures["sentences"], figures["f1"], figures["skipped"]) == (2, 100, 1)


def test_json_has_breakdowns_and_sentences_when_asked(command: Command, capsys: Output) -> None:
    command(GOLD, PREDICTED, "--json", "--by", "label,length", "--per-sentence")
    figures = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in figures["by_label"]] == ["NP", "S", "VP"]
    assert [row["name"] for row in figures["by_length"]] == ["1", "2", "3"]
    assert figures["per_sentence"][0]["matched_brackets"] == 1


def test_per_sentence_prints_a_row_before_the_summary(command: Command, capsys: Output) -> None:
    command(GOLD, PREDICTED, "--per-sentence")
    assert "   1    4    0   33.33  33.33     1      3    3      1      3     3   100.00\n=" in capsys.readouterr().out


def test_by_prints_a_table_after_the_summary(command: Command, capsys: Output) -> None:
    command(GOLD, PREDICTED, "--by", "label,sentence")
    out = capsys.readouterr().out
    assert out.index("Tagging accuracy") < out.index("\nlabel ") < out.index("\nsentence ")


def test_params_choose_what_is_deleted(command: Command, capsys: Output) -> None:
    command(GOLD, PREDICTED, "--params", "none", "--per-sentence")
    assert capsys.readouterr().out.splitlines()[3].split()[9] == "4"


def test_errors_are_reported_on_stderr_with_exit_code_0(command: Command, capsys: Output) -> None:
    assert command(f"{GOLD}\n{GOLD}\n", f"{GOLD}\n(S (N dog))\n") == 0
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "2 : Length unmatch (3|1)"
    assert lines[1].startswith("warning: sentences left out of the totals: 1 of 2 (errors: 1, skipped: 0); F1 if")


def test_tags_that_delete_other_words_are_pointed_out(command: Command, capsys: Output) -> None:
    command(GOLD, PREDICTED.replace("(. .)", "(N .)"))
    assert "hint: in 1 of them the words agree" in capsys.readouterr().err


def test_a_missing_parse_is_reported_with_its_number(command: Command, capsys: Output) -> None:
    command(f"{GOLD}\n{GOLD}\n", f"{GOLD}\n\n")
    assert capsys.readouterr().err.splitlines()[0] == "2 : Nothing predicted"


def test_many_errors_are_not_all_listed(command: Command, capsys: Output) -> None:
    command("(S (N a))\n" * 15, "(S (N b))\n" * 15)
    lines = capsys.readouterr().err.splitlines()
    assert (lines[9], lines[10]) == ("10 : Words unmatch (a|b)", "… and 5 more")


def test_predicted_trees_come_from_standard_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    monkeypatch.setattr(program, "COMMANDS", ("score",))
    (tmp_path / "gold").write_text(GOLD)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(GOLD.encode())))
    assert program.main(["score", str(tmp_path / "gold"), "-"]) == 0
    assert "Bracketing FMeasure       = 100.00" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("gold", "predicted", "options", "message"),
    [
        (GOLD, f"{GOLD}\n{GOLD}", (), "has 1 sentences but"),
        (GOLD, "(S (N a)", (), "predicted:1: a bracket is never closed"),
        (GOLD, "", (), "there are no trees"),
        (GOLD, GOLD, ("--params", "colins"), "no parameters or file called colins"),
        (GOLD, GOLD, ("--by", "colour"), "can't break down by colour"),
    ],
)
def test_unusable_input_is_explained_with_exit_code_2(
    command: Command, capsys: Output, gold: str, predicted: str, options: tuple[str, ...], message: str
) -> None:
    assert command(gold, predicted, *options) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("error: ")
    assert message in captured.err
    assert captured.out == ""


def test_standard_input_can_not_be_both_sides(command: Command, capsys: Output) -> None:
    assert program.main(["score", "-", "-"]) == 2
    assert "only one of GOLD and PREDICTED" in capsys.readouterr().err


def test_help_has_examples(command: Command, capsys: Output) -> None:
    with pytest.raises(SystemExit):
        program.main(["score", "--help"])
    assert "fencepost score gold.txt predicted.txt --params spmrl --json" in capsys.readouterr().out
