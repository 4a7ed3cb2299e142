from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from fencepost.cli.main import main
from fencepost.measures import l2sca
from fencepost.measures.names import DESCRIPTIONS

RAIN = "(TOP (S (NP (PRP She)) (VP (VBD left) (SBAR (IN because) (S (NP (PRP it)) (VP (VBD rained))))) (. .)))\n"
CATS = "(ROOT (S (NP (NNS Cats) (CC and) (NNS dogs)) (VP (VBP sleep))))\n"
Output = pytest.CaptureFixture[str]


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    (tmp_path / "rain").write_text(RAIN, "utf-8")
    (tmp_path / "cats").write_text(CATS + RAIN, "utf-8")
    return [str(tmp_path / "rain"), str(tmp_path / "cats")]


def test_csv_has_one_line_per_file_with_l2scas_columns_first(files: list[str], capsys: Output) -> None:
    assert main(["measure", *files, "--csv"]) == 0
    header, *_ = output = capsys.readouterr().out.splitlines()
    assert header.startswith("Filename," + ",".join([*l2sca.COUNTS, *l2sca.INDICES]) + ",yngve_mean,")
    rain, cats = csv.DictReader(output)
    assert (rain["Filename"], rain["W"], rain["MLC"], rain["nodes_SBAR"]) == (files[0], "5", "2.5", "1")
    assert (cats["S"], cats["CP"], cats["T"], cats["C/S"]) == ("2", "1", "2", "1.5")
    assert (rain["confidence_all"], rain["confidence_C/T"]) == ("", "")


def test_a_file_that_is_named_twice_counts_once(files: list[str], capsys: Output) -> None:
    main(["measure", files[0], files[1], files[0], "--csv"])
    rain, cats = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert (rain["Filename"], rain["W"], cats["Filename"]) == (files[0], "5", files[1])


def test_labels_that_a_file_lacks_are_zero(tmp_path: Path, capsys: Output) -> None:
    (tmp_path / "one").write_text("(TOP (NP (NN Silence)))", "utf-8")
    (tmp_path / "two").write_text("(TOP (FRAG (NN Silence)))", "utf-8")
    main(["measure", str(tmp_path), "--csv"])
    one, two = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert (one["nodes_NP"], one["nodes_FRAG"], two["nodes_NP"], two["nodes_FRAG"]) == ("1", "0", "0", "1")


def test_json_has_one_object_per_line(files: list[str], capsys: Output) -> None:
    main(["measure", *files, "--json"])
    rain, cats = map(json.loads, capsys.readouterr().out.splitlines())
    assert rain["labels"] == {"NP": 2, "S": 2, "VP": 2, "SBAR": 1}
    assert rain["confidence"]["all"] is None
    assert cats["Filename"] == files[1]
    assert [name for name in rain if name not in {"Filename", "labels", "confidence"}] == list(DESCRIPTIONS)


def test_the_table_explains_every_figure(files: list[str], capsys: Output) -> None:
    main(["measure", *files])
    out = capsys.readouterr().out
    assert out.count("mean length of T-unit") == 2
    assert all(meaning in out for meaning in DESCRIPTIONS.values())
    assert "confidence" not in out


def test_text_is_parsed_and_confidence_stands_beside_the_figures(capsys: Output) -> None:
    main(["measure", "--text", "She left because it rained."])
    lines = capsys.readouterr().out.splitlines()
    (clauses,) = (line for line in lines if line.startswith("  C "))
    name, value, confidence, *_ = clauses.split()
    assert (name, value) == ("C", "2")
    assert 0.5 < float(confidence) <= 1
    main(["measure", "--text", "She left because it rained.", "--json"])
    sure = json.loads(capsys.readouterr().out)["confidence"]
    assert set(sure) == {"all", *l2sca.PATTERNS, *l2sca.INDICES}
    assert sure["C/T"] == min(sure["C"], sure["T"])
    assert sure["CP"] is None
    assert sure["MLS"] == sure["all"]


def test_doubtful_figures_are_marked(monkeypatch: pytest.MonkeyPatch, capsys: Output) -> None:
    monkeypatch.setattr("fencepost.cli.measure._LOW", 1.1)
    main(["measure", "--text", "Cats sleep."])
    assert "clauses (low confidence)\n" in capsys.readouterr().out


def test_an_empty_file_has_a_row_of_zeros(tmp_path: Path, capsys: Output) -> None:
    (tmp_path / "empty").write_text("", "utf-8")
    main(["measure", str(tmp_path / "empty"), "--json"])
    row = json.loads(capsys.readouterr().out)
    assert (row["W"], row["MLS"], row["yngve_mean"], row["labels"]) == (0, 0.0, None, {})


def test_csv_and_json_exclude_each_other(files: list[str], capsys: Output) -> None:
    with pytest.raises(SystemExit):
        main(["measure", *files, "--csv", "--json"])
    assert "not allowed with" in capsys.readouterr().err
