"""Every figure that the C programs evalb and evalb_spmrl printed, to the last digit."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.evaluation import report
from fencepost.evaluation.params import load_params
from fencepost.evaluation.score import Score, compare

pytestmark = pytest.mark.golden

FILES = {
    "sample": ("sample.gld", "sample.tst"),
    "bug": ("bug.gld", "bug.tst"),
    "wsj-sample": ("gold.txt", "predicted.txt"),
}
EVALB = [(folder, params) for folder in FILES for params in ("COLLINS", "new", "nk")]
SPMRL = [("wsj-sample", params) for params in ("spmrl", "spmrl_hebrew")]


def our_output(folder: Path, params_path: Path) -> str:
    gold, predicted = FILES[folder.name]
    params = load_params(params_path)
    comparisons = compare(folder / gold, folder / predicted, params)
    errors = "".join(f"{line}\n" for line in report.problems(comparisons))
    return errors + report.per_sentence(comparisons) + report.summary(Score.over(comparisons, params.cutoff))


@pytest.mark.parametrize(("folder", "params"), EVALB + SPMRL)
def test_output_is_that_of_the_c_program(shared: Path, folder: str, params: str) -> None:
    evalb = shared / "reference" / "evalb"
    expected = (evalb / folder / f"{params}.rsl").read_text("utf-8")
    assert our_output(evalb / folder, evalb / f"{params}.prm") == expected


@pytest.mark.parametrize(
    ("folder", "params", "result"),
    [("sample", "sample/sample.prm", "sample.rsl"), ("bug", "new.prm", "bug.rsl-new")],
)
def test_distributed_results_of_other_versions_agree_where_sentences_are_valid(
    shared: Path, folder: str, params: str, result: str
) -> None:
    evalb = shared / "reference" / "evalb"
    ours = our_output(evalb / folder, evalb / params)
    theirs = (evalb / folder / result).read_text("utf-8")
    assert valid_rows(ours) == valid_rows(theirs)
    assert set(summary_lines(theirs)) <= set(summary_lines(ours))


def valid_rows(output: str) -> list[list[str]]:
    rows = [line.split() for line in output.splitlines()]
    return [row for row in rows if len(row) == 12 and row[0].isdigit() and row[2] == "0"]


def summary_lines(output: str) -> list[str]:
    return [line for line in output.splitlines() if " = " in line]


@pytest.mark.parametrize(("name", "file"), [("collins", "COLLINS.prm"), ("spmrl", "spmrl.prm")])
def test_built_in_parameters_are_those_of_the_file(shared: Path, name: str, file: str) -> None:
    assert load_params(name) == load_params(shared / "reference" / "evalb" / file)
