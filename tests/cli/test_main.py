from __future__ import annotations

import importlib
import shlex
import subprocess
import sys
import types
from pathlib import Path

import pytest

import fencepost
from fencepost.cli import main as program
from fencepost.cli.train import CONFIGURATIONS
from fencepost.config.toml import config_names
from fencepost.errors import InputError, TrainingError


def run_with(monkeypatch: pytest.MonkeyPatch, error: BaseException | None) -> int:
    """The exit status of a command that ends with an error, or well."""

    def run(_: object) -> int:
        if error:
            raise error
        return 0

    def add_command(commands: object) -> None:
        commands.add_parser("try").set_defaults(run=run)  # type: ignore[attr-defined]

    module = types.SimpleNamespace(add_command=add_command)
    monkeypatch.setattr(importlib, "import_module", lambda _: module)
    monkeypatch.setattr(program, "COMMANDS", ("try",))
    return program.main(["try"])


@pytest.mark.parametrize(
    ("error", "status", "message"),
    [
        (None, 0, ""),
        (InputError("no trees", source="a.txt", line=3), 2, "error: a.txt:3: no trees\nhint: fencepost try --help\n"),
        (InputError("no trees", hint="look"), 2, "error: no trees\nhint: look\n"),
        (TrainingError("the loss is NaN"), 1, "error: the loss is NaN\n"),
        (OSError(28, "No space left on device"), 1, "error: [Errno 28] No space left on device\n"),
        (KeyboardInterrupt(), 130, "interrupted\n"),
    ],
)
def test_what_happened_is_told_by_status_and_message(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: BaseException | None,
    status: int,
    message: str,
) -> None:
    assert run_with(monkeypatch, error) == status
    assert capsys.readouterr() == ("", message)


@pytest.mark.parametrize("arguments", [[], ["nonsense"], ["treebank"], ["treebank", "stats"], ["--nonsense"]])
def test_a_command_line_without_sense_exits_with_2_and_a_hint(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        program.main(arguments)
    assert caught.value.code == 2
    message = capsys.readouterr().err
    assert message.startswith("error: ")
    assert "\nhint: fencepost" in message


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        ("prase book.txt", "parse"),
        ("treebank stat train.txt", "stats"),
        ("parse --format jsonl", "json"),
        ("train smal --train a --dev a --out b", "small"),
        ("train small --train a --dev a --out b --set trian.batch_size=3", "train"),
        ("train small --train a --dev a --out b --set train.batchsize=3", "train.batch_size"),
        ("train small --train a --dev a --out b --set batch_size=3", "train.batch_size"),
    ],
)
def test_what_is_written_wrongly_is_answered_by_the_nearest_that_is_known(
    arguments: str, meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert program.main(arguments.split()) == 2
    assert capsys.readouterr().err.endswith(f"\nhint: did you mean {meant}?\n")


def test_an_option_that_is_written_wrongly_is_answered_so_too(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        program.main(["parse", "--fromat=json", "book.txt"])
    assert capsys.readouterr().err.endswith("\nhint: did you mean --format?\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["parse", "--kbest", "abc"],
            "error: --kbest must be a whole number, got abc\n"
            "hint: --kbest K: give the K best trees of each sentence (1 to 10,000)\n",
        ),
        (
            ["serve", "--timeout", "soon"],
            "error: --timeout must be a number, got soon\n"
            "hint: --timeout SECONDS: give up on a request after this time (default: 60)\n",
        ),
    ],
)
def test_a_word_in_place_of_a_number_is_answered_by_what_the_option_takes(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert program.main(arguments) == 2
    assert capsys.readouterr().err == message


def test_a_folder_without_files_is_an_error_that_says_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / ".hidden.txt").write_text("It works.", "utf-8")
    assert program.main(["parse", str(tmp_path)]) == 2
    assert capsys.readouterr().err == (
        f"error: {tmp_path}: the folder has no files\n"
        "hint: give a file, or a folder with files; those whose names begin with a dot are left out\n"
    )


def test_an_option_of_another_command_is_not_proposed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        program.main(["evaluate", "en", "trees.txt", "--kbest", "5"])
    assert "did you mean" not in capsys.readouterr().err


def test_a_sentence_in_place_of_a_file_is_answered_by_the_option_for_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert program.main(["parse", "The cat sat."]) == 2
    assert "hint: --text " in capsys.readouterr().err


def test_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        program.main(["--version"])
    assert caught.value.code == 0
    assert capsys.readouterr().out == f"fencepost {fencepost.__version__}\n"


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        program.main(["--help"])
    shown = capsys.readouterr().out
    assert all(command in shown for command in program.COMMANDS)


@pytest.mark.parametrize("closing", [">&-", "2>&-", "<&-", ">&- 2>&- <&-"])
def test_closed_streams_are_no_error(tmp_path: Path, closing: str) -> None:
    (tmp_path / "cat.txt").write_text("(NP (NN cat))\n")
    command = f"{shlex.quote(sys.executable)} -m fencepost treebank words cat.txt {closing}"
    result = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True)
    assert (result.returncode, result.stderr) == (0, b"")


def test_the_program_runs_as_a_module() -> None:
    result = subprocess.run([sys.executable, "-m", "fencepost", "--version"], capture_output=True, check=True)
    assert result.stdout.decode().startswith("fencepost ")


@pytest.mark.parametrize("command", ["train", pytest.param("reproduce", marks=pytest.mark.extras), "analyze"])
def test_a_folder_that_cannot_be_is_refused_at_once(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    trees = tmp_path / "trees.txt"
    trees.write_text("(TOP (S (X a)))\n")
    for part in ("train", "dev", "test"):
        (tmp_path / f"{part}.txt").write_text("(TOP (S (X a)))\n")
    arguments = {
        "train": ["train", "small", "--train", str(trees), "--dev", str(trees)],
        "reproduce": ["reproduce", "table6", "--treebank", str(tmp_path)],
        "analyze": ["analyze", "en", str(trees)],
    }
    assert program.main([*arguments[command], "--out", str(tmp_path / "file")]) == 2
    assert "can't create the folder" in capsys.readouterr().err


def test_an_error_without_a_hint_of_its_own_leads_to_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert program.main(["score", "no-such-file", "another"]) == 2
    assert capsys.readouterr().err.endswith("\nhint: fencepost score --help\n")


def test_training_trees_may_be_given_one_after_the_other() -> None:
    line = ["train", "small", "--train", "a", "b", "--train", "c", "--dev", "d", "--dev", "e", "--out", "model"]
    given = program.build_parser().parse_args(line)
    assert (given.train, given.dev) == (["a", "b", "c"], ["d", "e"])


def test_help_names_every_configuration() -> None:
    assert CONFIGURATIONS.split(", ") == config_names()


def test_training_that_could_not_begin_leaves_no_folder(tmp_path: Path) -> None:
    (tmp_path / "trees.txt").write_text("(TOP (S (X a)))\n")
    trees, out = str(tmp_path / "trees.txt"), tmp_path / "models" / "model"
    assert program.main(["train", "small", "--train", trees, "--dev", f"{trees}.gz", "--out", str(out)]) == 2
    assert not out.parent.exists()
    out.mkdir(parents=True)
    assert program.main(["train", "small", "--train", trees, "--dev", f"{trees}.gz", "--out", str(out)]) == 2
    assert out.exists()


def test_an_analysis_that_could_not_begin_leaves_no_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "trees.txt").write_text("(TOP (S (X a)))\n")
    out = tmp_path / "reports" / "report"
    assert program.main(["analyze", "no-model", str(tmp_path / "trees.txt"), "--out", str(out)]) == 2
    assert "no model at no-model" in capsys.readouterr().err
    assert not out.parent.exists()


def test_training_on_traces_is_warned_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "train.mrg").write_text("(TOP (S (NP (-NONE- *)) (VP (VB go))))\n" * 3)
    (tmp_path / "dev.mrg").write_text("(TOP (S (NP (-NONE- *)) (VP (VB go))))\n")
    trees = ["--train", str(tmp_path / "train.mrg"), "--dev", str(tmp_path / "dev.mrg")]
    # A model that is not there ends the command before any training.
    start = ["--start-from", str(tmp_path / "none")]
    assert program.main(["train", "small", *trees, "--out", str(tmp_path / "model"), *start]) == 2
    assert capsys.readouterr().err.startswith("warning: 4 words are traces (-NONE-)\nhint: ")


@pytest.mark.parametrize(
    "command",
    [
        "parse --text Hi. --output",
        "evaluate en trees.txt --output",
        "tag en trees.txt --output",
        "tag --jackknife 2 trees.txt --output",
        "treebank words trees.txt --output",
        "treebank normalize trees.txt --output",
    ],
)
@pytest.mark.parametrize(("name", "message"), [("", "has an empty name"), ("loop", "a link that points to itself")])
def test_an_output_that_cannot_be_is_refused_before_anything_is_done(
    command: str,
    name: str,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "trees.txt").write_text("(TOP (S (X a)))\n" * 4)
    (tmp_path / "loop").symlink_to("loop")
    assert program.main([*command.split(), name]) == 2
    shown = capsys.readouterr()
    assert (shown.out, shown.err.startswith("error: "), message in shown.err) == ("", True, True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["loop", "trees.txt"]
