"""Every figure that the C programs evalb and evalb_spmrl printed, to the last digit."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.cli.main import main
from fencepost.evaluation import report
from fencepost.evaluation.params import load_params
from fencepost.evaluation.score import Score, compare

OURS = Path(__file__).resolve().parents[1] / "golden"  # trees of our own; see its README.md
FILES = {
    "sample": ("sample.gld", "sample.tst"),
    "bug": ("bug.gld", "bug.tst"),
    "wsj-sample": ("gold.txt", "predicted.txt"),
}
EVALB = [(folder, params) for folder in FILES for params in ("COLLINS", "new", "nk")]
SPMRL = [("wsj-sample", params) for params in ("spmrl", "spmrl_hebrew")]


def our_output(folder: Path, params_path: str | Path, files: tuple[str, str] = ("gold.txt", "predicted.txt")) -> str:
    gold, predicted = files
    params = load_params(params_path)
    comparisons = compare(folder / gold, folder / predicted, params)
    errors = "".join(f"{line}\n" for line in report.problems(comparisons))
    return errors + report.per_sentence(comparisons) + report.summary(Score.over(comparisons, params.cutoff))


PARAMS = sorted(path.stem for path in OURS.glob("*.prm"))


def test_there_are_parameters_to_score_our_trees_with() -> None:
    assert len(PARAMS) >= 5


@pytest.mark.parametrize("params", PARAMS)
def test_output_on_our_trees_is_that_of_the_c_program(params: str) -> None:
    assert our_output(OURS, OURS / f"{params}.prm") == (OURS / f"{params}.rsl").read_text("utf-8")


def test_the_built_in_parameters_give_what_the_c_program_gave_with_its_file() -> None:
    assert our_output(OURS, "collins") == (OURS / "collins.rsl").read_text("utf-8")


@pytest.mark.parametrize("params", ["collins", *(f"{OURS / name}.prm" for name in PARAMS)])
def test_the_command_prints_the_table_and_summary_of_the_c_program(
    params: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["score", f"{OURS}/gold.txt", f"{OURS}/predicted.txt", "--params", params, "--per-sentence"]) == 0
    expected = (OURS / f"{Path(params).stem}.rsl").read_text("utf-8")
    assert capsys.readouterr().out == expected[expected.index("  Sent.") :]


@pytest.mark.golden
@pytest.mark.parametrize(("folder", "params"), EVALB + SPMRL)
def test_output_is_that_of_the_c_program(shared: Path, folder: str, params: str) -> None:
    evalb = shared / "reference" / "evalb"
    expected = (evalb / folder / f"{params}.rsl").read_text("utf-8")
    assert our_output(evalb / folder, evalb / f"{params}.prm", FILES[folder]) == expected


@pytest.mark.golden
@pytest.mark.parametrize(
    ("folder", "params", "result"),
    [("sample", "sample/sample.prm", "sample.rsl"), ("bug", "new.prm", "bug.rsl-new")],
)
def test_distributed_results_of_other_versions_agree_where_sentences_are_valid(
    shared: Path, folder: str, params: str, result: str
) -> None:
    evalb = shared / "reference" / "evalb"
    ours = our_output(evalb / folder, evalb / params, FILES[folder])
    theirs = (evalb / folder / result).read_text("utf-8")
    assert valid_rows(ours) == valid_rows(theirs)
    assert set(summary_lines(theirs)) <= set(summary_lines(ours))


def valid_rows(output: str) -> list[list[str]]:
    rows = [line.split() for line in output.splitlines()]
    return [row for row in rows if len(row) == 12 and row[0].isdigit() and row[2] == "0"]


def summary_lines(output: str) -> list[str]:
    return [line for line in output.splitlines() if " = " in line]


@pytest.mark.golden
@pytest.mark.parametrize(("name", "file"), [("collins", "COLLINS.prm"), ("spmrl", "spmrl.prm")])
def test_built_in_parameters_are_those_of_the_file(shared: Path, name: str, file: str) -> None:
    assert load_params(name) == load_params(shared / "reference" / "evalb" / file)
