from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from fencepost.cli.main import main
from fencepost.export.onnx import export_onnx
from fencepost.parsing.load import load
from fencepost.parsing.timing import Speed, bench_sentences, parsing_speed
from fencepost.storage.find_model import find_model
from tests.backends.test_onnx import write_folder
from tests.model.model_samples import small_config


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bench")
    export_onnx(write_folder(folder / "model", small_config()), folder / "exported")
    return folder / "exported"


def test_figures_of_a_model_are_positive_and_fit_each_other(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--model", str(model), "--seconds", "0.2", "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert (figures["model"], figures["backend"], figures["device"]) == (str(model), "onnx", "cpu")
    assert figures["words_per_second"] / figures["sentences_per_second"] == pytest.approx(
        figures["words"] / figures["sentences"]
    )
    assert 0 < figures["cold_start_cpu_seconds"] < 60


def test_without_a_name_it_measures_the_model_that_ships_whatever_folder_lies_here(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "en").symlink_to(model)
    monkeypatch.chdir(tmp_path)
    measured: list[object] = []

    def first_tree(folder: Path, device: str, precision: str) -> Speed:
        measured.append(folder)
        return Speed(1, 3, 1.0, 1.0)

    monkeypatch.setattr("fencepost.parsing.timing.cold_start", first_tree)
    for given in ([], ["--model", "en"]):
        assert main(["bench", *given, "--seconds", "0.1"]) == 0
        assert capsys.readouterr().out.startswith("en with onnx on cpu")
    assert measured == [find_model(), Path("en")]


def test_the_threads_are_those_of_what_runs_the_model(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        assert main(["bench", "--model", str(model), "--seconds", "0.1"]) == 0
        assert load(model.parent / "model").threads == 2
    finally:
        torch.set_num_threads(before)
    assert "with onnx on cpu, one process, 1 thread\n" in capsys.readouterr().out


def test_without_a_model_random_weights_are_measured(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--random", "small", "--seconds", "0.2"]) == 0
    assert capsys.readouterr().out.startswith("random weights, small with onnx on cpu, one process")


def test_a_model_that_is_not_there_is_an_error_that_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--model", "nowhere"]) == 2
    assert "error: no model at nowhere" in capsys.readouterr().err


def test_no_time_is_an_error(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--model", str(model), "--seconds", "0"]) == 2
    assert "error: can't parse for 0 seconds" in capsys.readouterr().err


def test_measuring_takes_about_the_time_that_was_asked_for(model: Path) -> None:
    speed = parsing_speed(load(model), bench_sentences(), 1.0)
    assert 0 < speed.seconds < 1.0
    assert speed.sentences % len(bench_sentences()) == 0


def test_built_in_sentences_are_many_and_of_many_lengths() -> None:
    lengths = [len(sentence) for sentence in bench_sentences()]
    assert len(lengths) > 50
    assert min(lengths) < 5
    assert max(lengths) > 60
