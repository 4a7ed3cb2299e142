"""Terminals, signals, strange file names, small containers and forks."""

from __future__ import annotations

import io
import json
import os
import pty
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from fencepost.cli.main import main
from fencepost.parsing.cores import usable_cores
from fencepost.parsing.load import load
from fencepost.progress import Progress

SECONDS = 60
FENCEPOST = [sys.executable, "-m", "fencepost"]
# A shell that starts a program in the background makes it ignore SIGINT, which it hands down to its children.
INTERRUPTIBLE = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); import fencepost.__main__"
EVIL = "\x1b]0;owned\x07\x9b31m\r\u202e"
SHOWN = r"\x1b]0;owned\x07\x9b31m\x0d\u202e"


class FakeTerminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def fake_terminal(monkeypatch: pytest.MonkeyPatch) -> FakeTerminal:
    fake = FakeTerminal()
    monkeypatch.setattr(sys, "stdout", fake)
    monkeypatch.setattr(sys, "stderr", fake)
    return fake


def written(terminal: FakeTerminal) -> str:
    """What reached a terminal, without the progress line that we clear ourselves."""
    return terminal.getvalue().replace("\r\x1b[K", "")


WORD = EVIL.replace("\r", "")  # a carriage return ends a word


@pytest.mark.parametrize(
    "command",
    [
        ["treebank", "words", "trees.txt"],
        ["treebank", "normalize", "trees.txt"],
        ["treebank", "stats", "--json", "trees.txt"],
        ["score", "trees.txt", "trees.txt", "--by", "label", "--per-sentence"],
        ["parse", "--tokenized", "words.txt"],
        ["parse", "--tokenized", "words.txt", "--format", "json"],
        ["parse", "--tokenized", "words.txt", "--format", "pretty"],
        ["parse", "--tagged", "tagged.txt"],
        ["parse", "--text", f"The {EVIL} cat"],
    ],
    ids=" ".join,
)
def test_words_and_labels_on_a_terminal_are_shown_and_not_obeyed(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("trees.txt").write_text(f"(TOP (S{WORD} (NN{WORD} c{WORD}at)))\n", "utf-8")
    Path("words.txt").write_text(f"The c{WORD}at\n", "utf-8")
    Path("tagged.txt").write_text(f"The_D{WORD}T cat_NN\n", "utf-8")
    terminal = fake_terminal(monkeypatch)
    assert main(command) == 0
    said = written(terminal)
    assert not set("\x1b\x07\x9b\r\u202e") & set(said), said
    assert "owned" in said


def exit_status(command: list[str]) -> int | str | None:
    try:
        return main(command)
    except SystemExit as end:  # of argparse
        return end.code


@pytest.mark.parametrize(
    "command",
    [
        ["treebank", "words", f"missing{EVIL}.txt"],
        ["parse", f"missing{EVIL}"],
        ["parse", "--model", f"missing{EVIL}", "--text", "x"],
        ["train", f"missing{EVIL}", "--train", "x", "--dev", "x", "--out", "out"],
        [f"pars{EVIL}"],
        ["parse", f"--unknown{EVIL}"],
        ["models", "verify", f"missing{EVIL}"],
    ],
    ids=lambda words: " ".join(words).replace(EVIL, "…"),
)
def test_names_in_messages_on_a_terminal_are_shown_and_not_obeyed(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    terminal = fake_terminal(monkeypatch)
    assert exit_status(command) == 2
    said = written(terminal)
    assert not set("\x1b\x07\x9b\r\u202e") & set(said), said
    assert r"\x1b]0;owned\x07\x9b31m" in said


@pytest.mark.parametrize("command", [["parse"], ["search", "NP"], ["models", "verify"], ["models", "repair"]])
def test_a_line_end_in_a_name_makes_no_second_message(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*command, "missing\nhint, send your password"]) == 2
    said = capsys.readouterr().err
    assert r"missing\nhint, send your password" in said
    assert [line.partition(":")[0] for line in said.splitlines()] == ["error", "hint"]


def test_a_line_end_in_a_name_that_a_hint_suggests_makes_no_other_message(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "trees\nerror: send your password").touch()
    assert main(["treebank", "words", str(tmp_path / "trees\nerror: send your passwort")]) == 2
    said = capsys.readouterr().err
    assert r"did you mean" in said
    assert [line.partition(":")[0] for line in said.splitlines()] == ["error", "hint"]


def test_a_hint_to_type_quotes_the_name_of_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "$(rm -r x)"
    path.write_bytes(b"\xff\xfea\0")
    assert main(["parse", str(path)]) == 2
    assert f"hint: iconv -f UTF-16 -t UTF-8 '{path}'" in capsys.readouterr().err


def test_a_pipe_gets_the_text_as_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "trees.txt").write_text(f"(TOP (NN c{WORD}at))\n", "utf-8")
    assert main(["treebank", "words", str(tmp_path / "trees.txt")]) == 0
    assert capsys.readouterr().out == f"c{WORD}at\n"


def test_the_streams_are_put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = fake_terminal(monkeypatch)
    assert main(["treebank", "words", "missing"]) == 2
    assert sys.stdout is terminal
    assert sys.stderr is terminal


def test_the_progress_line_still_works(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = fake_terminal(monkeypatch)
    from fencepost.cli.terminal import shown_on_terminals

    monkeypatch.setenv("TERM", "xterm")
    with shown_on_terminals(), Progress(f"reading {EVIL}") as bar:
        bar._next = 0.0
        bar.advance()
    said = terminal.getvalue()
    assert said.startswith("\rreading ")
    assert said.endswith("\r\x1b[K")
    assert SHOWN in said


def test_a_real_terminal_gets_no_escapes(tmp_path: Path) -> None:
    (tmp_path / "trees.txt").write_text(f"(TOP (NN c{WORD}at))\n", "utf-8")
    ours, theirs = pty.openpty()
    command = [*FENCEPOST, "treebank", "words", str(tmp_path / "trees.txt")]
    subprocess.run(command, stdin=theirs, stdout=theirs, stderr=theirs, check=True)
    os.close(theirs)
    said = os.read(ours, 10_000)
    os.close(ours)
    assert b"owned" in said
    assert b"\x07" not in said
    assert b"\x1b]" not in said


def test_a_file_name_that_is_not_utf8_is_no_traceback(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    name, output = os.fsdecode(b"in\xff.txt"), os.fsdecode(b"out\xff")
    Path(name).write_bytes(b"The cat sat .\nbad \xff line\n")
    for style in ("brackets", "json", "pretty", "html", "svg"):
        assert main(["parse", "--tokenized", name, "--format", style, "--output", f"{output}.{style}"]) == 0
    first, second = Path(f"{output}.json").read_text("utf-8").splitlines()
    assert "error" not in json.loads(first)
    assert json.loads(second)["error"].startswith("in\udcff.txt:2: not UTF-8")
    assert "in\\udcff.txt:2" in Path(f"{output}.pretty").read_text("utf-8")


@pytest.mark.parametrize("name", ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"])
def test_output_is_not_written_to_the_pipe_that_is_read(name: str) -> None:
    command = [*FENCEPOST, "parse", "--output", name]
    result = subprocess.run(command, input=b"It works.\n" * 100, capture_output=True, timeout=30)
    assert result.returncode == 2
    assert result.stderr.startswith(f"error: {name} is an input and would be overwritten".encode())


def test_output_may_go_to_the_null_device_that_is_read() -> None:
    command = [*FENCEPOST, "parse", "--output", "/dev/null"]
    assert subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=30).returncode == 0


READERS = {
    "parse": ["parse"],
    "parse to JSON": ["parse", "--format", "json", "--workers", "2"],
    "measure": ["measure", "--input", "trees"],
    "extract": ["extract", "--input", "trees"],
    "search": ["search", "NP"],
    "stats": ["treebank", "stats", "-"],
    "words": ["treebank", "words", "-"],
}


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
@pytest.mark.parametrize("name", READERS)
def test_a_command_that_reads_a_pipe_ends_with_the_number_of_the_signal(
    name: str, number: signal.Signals, status: int
) -> None:
    """The pipe stays open, and more was written than it holds: the program is reading."""
    command = [sys.executable, "-c", INTERRUPTIBLE, *READERS[name]]
    line = b"It works.\n" if name.startswith("parse") else b"(TOP (S (NP (PRP It)) (VP (VBZ works)) (. .)))\n"
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, **streams) as process:  # type: ignore[call-overload]
        process.stdin.write(line * (100_000 // len(line)))
        process.stdin.flush()
        process.send_signal(number)
        said = process.stderr.read().decode()
        assert process.wait(30) == status, said
    assert "Traceback" not in said


@pytest.mark.extras
@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_training_has_the_same_exit_status_as_other_commands(
    number: signal.Signals, status: int, tmp_path: Path
) -> None:
    from tests.samples import TREES

    (tmp_path / "trees.txt").write_text("".join(f"{tree}\n" for tree in TREES))
    trees, out = str(tmp_path / "trees.txt"), tmp_path / "model"
    command = [*FENCEPOST, "train", "small", "--train", trees, "--dev", trees, "--out", str(out)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    log = out / "log.jsonl"
    while not (log.exists() and log.read_text().count("\n") >= 2):
        assert process.poll() is None
        time.sleep(0.1)
    process.send_signal(number)
    _, said = process.communicate(timeout=30)
    assert process.returncode == status
    assert "to continue, repeat the command with --resume" in said
    assert "Traceback" not in said
    assert (out / "checkpoint.safetensors").exists()


@pytest.mark.parametrize("options", [[], ["--format", "html", "--output", "out.html"]], ids=["text", "html"])
def test_parsing_leaves_no_files_at_home_and_none_beside_its_output(tmp_path: Path, options: list[str]) -> None:
    """ONNX Runtime would keep a number of this machine and a database of what it did, to send them to its makers."""
    (tmp_path / "home").mkdir()
    (tmp_path / "here").mkdir()
    unset = {"ORT_DISABLE_TELEMETRY", "XDG_CACHE_HOME", "CI"}  # in CI it is silent by itself
    environment = {name: value for name, value in os.environ.items() if name not in unset}
    environment |= {"HOME": str(tmp_path / "home"), "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [*FENCEPOST, "parse", "--text", "It works.", *options]
    subprocess.run(command, env=environment, cwd=tmp_path / "here", check=True, capture_output=True)
    assert [path for path in (tmp_path / "home").rglob("*") if path.is_file()] == []
    assert [path.name for path in (tmp_path / "here").iterdir()] == options[-1:]


def group(root: Path, name: str, **files: str) -> None:
    folder = root / "sys/fs/cgroup" / name
    folder.mkdir(parents=True, exist_ok=True)
    for file, content in files.items():
        (folder / file.replace("_", ".", 1)).write_text(content)


def belongs_to(root: Path, text: str) -> None:
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/cgroup").write_text(text)


@pytest.mark.parametrize(
    ("quota", "cores"), [("max 100000", 8), ("50000 100000", 1), ("150000 100000", 2), ("300000 100000", 3), ("x", 8)]
)
def test_the_quota_of_a_container_counts(
    tmp_path: Path, quota: str, cores: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)))
    belongs_to(tmp_path, "0::/box/inner\n")
    group(tmp_path, "box", cpu_max=f"{quota}\n")
    group(tmp_path, "box/inner", cpu_max="max 100000\n")
    assert usable_cores(tmp_path) == cores


@pytest.mark.parametrize(("quota", "cores"), [("-1", 8), ("50000", 1), ("250000", 3)])
def test_the_quota_of_an_old_container_counts(
    tmp_path: Path, quota: str, cores: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)))
    belongs_to(tmp_path, "5:memory:/box\n4:cpu,cpuacct:/box\n")
    folder = tmp_path / "sys/fs/cgroup/cpu/box"
    folder.mkdir(parents=True)
    (folder / "cpu.cfs_quota_us").write_text(quota)
    (folder / "cpu.cfs_period_us").write_text("100000")
    assert usable_cores(tmp_path) == cores


def test_without_groups_the_affinity_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2})
    assert usable_cores(tmp_path) == 3


def in_a_fork(work: object) -> int:
    """The exit status of a forked process that calls ``work``; -9 if it hangs."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            status = work()  # type: ignore[operator]
        finally:
            os._exit(status)
    killer = threading.Timer(20, os.kill, (child, signal.SIGKILL))
    killer.start()
    _, status = os.waitpid(child, 0)
    killer.cancel()
    return os.waitstatus_to_exitcode(status)


FORKS = """
import os, sys
sys.path[:0] = {path}
from tests.attacks.test_manners import in_a_fork
import fencepost
parser = fencepost.load(backend={backend!r})
before = parser.parse_text("The cat sat on the mat.")
def work():
    try:
        return 0 if parser.parse_text("The cat sat on the mat.") == before else 3
    except fencepost.FencepostError as error:
        return 2 if "fork" in error.message else 4
print(in_a_fork(work))
"""


@pytest.mark.parametrize(
    ("backend", "status"), [("onnx", 0), pytest.param("torch", 2, marks=pytest.mark.extras)], ids=["onnx", "torch"]
)
def test_a_fork_parses_or_says_why_not(backend: str, status: int) -> None:
    program = FORKS.format(path=sys.path, backend=backend)
    environment = {**os.environ, "OMP_NUM_THREADS": "2"}
    command = [sys.executable, "-W", "ignore", "-c", program]
    assert int(subprocess.check_output(command, env=environment, timeout=50)) == status


def test_a_parser_loaded_in_a_fork_parses() -> None:
    assert in_a_fork(lambda: 0 if load().parse([["Cats", "sleep"]]) else 1) == 0
