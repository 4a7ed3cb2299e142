"""Commands that parse text on the way to something else: several processes give the same output as one."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.cli.main import main

Output = pytest.CaptureFixture[str]
SENTENCES = ["The cat that sat on the mat sleeps.", "It rained, so we left.", "Nobody knows why they did it.", "Go!"]


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Two files of text with a file of trees between them."""
    contents = [
        " ".join(SENTENCES * 4),
        "(TOP (S (NP (NNS Cats)) (VP (VBP sleep))))\n",
        "\n\n".join(SENTENCES[::-1] * 3),
    ]
    paths = [tmp_path / f"{number}.txt" for number in range(3)]
    for path, content in zip(paths, contents, strict=True):
        path.write_text(content, "utf-8")
    return list(map(str, paths))


@pytest.mark.parametrize(
    "command", [["measure", "--json"], ["extract", "--kind", "base"], ["search", "NP=np < NN", "--text", "--json"]]
)
def test_several_processes_give_the_same_output_as_one(
    command: list[str], files: list[str], capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fencepost.parsing.workers.CHUNK", 40)  # tokens, so that there are several chunks
    given = [files[0], files[2]] if command[0] == "search" else files
    outputs = []
    for options in (["--workers", "1"], ["--workers", "2"], ["--workers", "2", "--batch-tokens", "30"]):
        assert main([*command, *given, *options]) == 0
        outputs.append(capsys.readouterr().out)
    assert len(outputs[0].splitlines()) >= len(given)
    assert outputs[1:] == outputs[:1] * 2


@pytest.mark.parametrize("option", ["--workers", "--batch-tokens"])
@pytest.mark.parametrize("command", ["measure", "extract"])
def test_numbers_below_one_are_refused(command: str, option: str, files: list[str], capsys: Output) -> None:
    assert main([command, files[0], option, "0"]) == 2
    assert f"{option} must be at least 1" in capsys.readouterr().err
