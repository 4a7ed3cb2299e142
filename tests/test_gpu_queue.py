"""benchmarks/gpu_queue.py runs commands in order of priority, several at a time, and continues where it stopped."""

from __future__ import annotations

import importlib.util
import os
import shlex
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from fencepost.cli.main import build_parser
from tests.extras import ROOT

QUEUES = sorted((ROOT / "benchmarks" / "queues").glob("*.toml"))
SETTINGS = {"data": "DATA", "treebanks": "DIR", "device": "cuda", "precision": "bf16", "out": "OUT", "encoder": "DIR"}
ROWS = """\
import pathlib, signal, sys, time
folder, name, until = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]  # seconds, or the name of another
with (folder / "log").open("a") as log:
    log.write(f"{name} ")
signal.signal(signal.SIGTERM, lambda *_: sys.exit(130))
time.sleep(float(until) if until.isdigit() else 0)
while not until.isdigit() and until not in (folder / "log").read_text().split():
    time.sleep(0.05)
sys.exit(name == "broken")
"""
TRAINS_AND_EXPORTS = """\
import pathlib, signal, sys, time
what, model, *rest = sys.argv[1:]
path = pathlib.Path(model) / "weights"
if what == "export":
    out = pathlib.Path(rest[0])
    out.mkdir(parents=True)
    (out / "weights").write_text(path.read_text())
    sys.exit()
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
path.parent.mkdir(exist_ok=True)
path.write_text(rest[0])
time.sleep(float(rest[1]))
"""


@pytest.fixture(scope="module")
def gpu_queue() -> ModuleType:
    spec = importlib.util.spec_from_file_location("gpu_queue", ROOT / "benchmarks" / "gpu_queue.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["gpu_queue"] = module  # dataclasses look there
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program that stands in for fencepost: notes its name in a log, and sleeps or waits for another."""
    package = tmp_path / "package" / "fencepost"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "__main__.py").write_text(ROWS)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "package"))
    return tmp_path


def stop_after(queue: Any, path: Path) -> None:
    """Stops a queue as soon as one of its commands has written a file."""
    deadline = time.monotonic() + 20
    while not (path.exists() and path.read_text()) and time.monotonic() < deadline:
        time.sleep(0.05)
    queue.stop()


def started(folder: Path) -> list[str]:
    return (folder / "log").read_text().split()


def test_finished_commands_are_not_repeated(gpu_queue: ModuleType, program: Path) -> None:
    commands = [gpu_queue.Command(name, (f"{program} {name} 0",)) for name in ("one", "broken", "two")]
    assert not gpu_queue.Queue(commands, program / "out", 1).run(60)
    assert started(program) == ["one", "broken", "two"]
    assert not gpu_queue.Queue(commands, program / "out", 1).run(60)
    assert started(program) == ["one", "broken", "two", "broken"]


def test_lines_of_a_command_run_one_after_the_other_until_one_fails(gpu_queue: ModuleType, program: Path) -> None:
    lines = tuple(f"{program} {name} 0" for name in ("one", "broken", "two"))
    assert not gpu_queue.Queue([gpu_queue.Command("all", lines)], program / "out", 4).run(60)
    assert started(program) == ["one", "broken"]


def test_a_command_waits_for_as_many_slots_as_it_needs(gpu_queue: ModuleType, program: Path) -> None:
    commands = [
        gpu_queue.Command("narrow", (f"{program} narrow 1",)),
        gpu_queue.Command("wide", (f"{program} wide 0", f"{program} after-wide 0"), slots=2),
        gpu_queue.Command("next", (f"{program} next 0",)),
    ]
    assert gpu_queue.Queue(commands, program / "out", 2).run(60)
    assert started(program)[0] == "narrow"
    assert not (program / "out" / "logs" / "missing.txt").exists()
    assert started(program)[1] == "wide"  # not next, although there was room for it


def test_a_command_waits_for_the_one_that_trains_the_same_models_and_others_pass_it(
    gpu_queue: ModuleType, program: Path
) -> None:
    commands = [
        gpu_queue.Command("first", (f"{program} first after-other", "never 0 0")),  # it fails at the end
        gpu_queue.Command("seeds", (f"{program} seeds 0",), slots=2, after="first"),
        gpu_queue.Command("other", (f"{program} other 0", f"{program} after-other 0")),
    ]
    queue = gpu_queue.Queue(commands, program / "out", 2)
    queue.run(60)
    assert sorted(started(program)[:3]) == ["after-other", "first", "other"]  # the first one waits for after-other
    assert started(program)[3:] == ["seeds"]
    assert gpu_queue.Queue(commands[1:2], program / "alone", 2).run(60)


def test_when_the_time_is_up_commands_stop_and_later_continue(gpu_queue: ModuleType, program: Path) -> None:
    commands = [gpu_queue.Command(name, (f"{program} {name} 30", "never 0 0")) for name in ("one", "two")]
    began = time.monotonic()
    queue = gpu_queue.Queue(commands, program / "out", 1)
    assert not queue.run(3)
    assert time.monotonic() - began < 20
    assert started(program) == ["one"]
    assert not (program / "out" / "done" / "one").exists()


def test_models_are_exported_when_the_time_is_up_and_again_when_they_are_finished(
    gpu_queue: ModuleType, program: Path
) -> None:
    (program / "package" / "fencepost" / "__main__.py").write_text(TRAINS_AND_EXPORTS)
    model, export = program / "out" / "one", program / "out" / "exports" / "one"
    exports = (str(model), str(export))
    never = gpu_queue.Command("never", ("train x",), export=(str(program / "never"), str(export)))
    commands = [gpu_queue.Command("one", (f"train {model} early 30", "never"), export=exports), never]
    queue = gpu_queue.Queue(commands, program / "out", 1)
    threading.Thread(target=stop_after, args=(queue, model / "weights")).start()
    assert not queue.run(60)
    assert (export / "weights").read_text() == "early"
    assert not (program / "out" / "done" / "one").exists()
    commands = [gpu_queue.Command("one", (f"train {model} late 0",), export=exports)]
    assert gpu_queue.Queue(commands, program / "out", 1).run(60)
    assert (export / "weights").read_text() == "late"
    assert [path.name for path in export.parent.iterdir()] == ["one"]
    assert (program / "out" / "done" / "one").exists()


def test_a_command_whose_export_fails_is_not_done(gpu_queue: ModuleType, program: Path) -> None:
    (program / "package" / "fencepost" / "__main__.py").write_text(TRAINS_AND_EXPORTS)
    model = program / "one"
    model.mkdir()
    command = gpu_queue.Command("one", (), export=(str(model), str(program / "export")))
    assert not gpu_queue.Queue([command], program / "out", 1).run(60)
    assert not (program / "out" / "done" / "one").exists()


def test_commands_that_do_not_stop_after_ctrl_c_are_killed(
    gpu_queue: ModuleType, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpu_queue, "PATIENCE", 0.5)
    stubborn = "import pathlib, signal, sys, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    stubborn += "pathlib.Path(sys.argv[1]).write_text('begun')\ntime.sleep(60)\n"
    (program / "package" / "fencepost" / "__main__.py").write_text(stubborn)
    queue = gpu_queue.Queue([gpu_queue.Command("one", (f"{program}/log",))], program / "out", 1)
    threading.Thread(target=stop_after, args=(queue, program / "log")).start()
    began = time.monotonic()
    assert not queue.run(600)
    assert time.monotonic() - began < 40


def test_a_signal_stops_the_commands(gpu_queue: ModuleType, program: Path) -> None:
    queue = gpu_queue.Queue([gpu_queue.Command("one", (f"{program} one 30",))], program / "out", 1)
    threading.Thread(target=stop_after, args=(queue, program / "log")).start()
    began = time.monotonic()
    assert not queue.run(60)
    assert time.monotonic() - began < 20


def test_the_environment_of_a_command_is_its_own(
    gpu_queue: ModuleType, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    main = program / "package" / "fencepost" / "__main__.py"
    main.write_text("import os; print(os.environ['OMP_NUM_THREADS'], os.environ.get('PRIORITY'))")
    monkeypatch.setattr(os, "environ", {**os.environ, "OMP_NUM_THREADS": "1"})
    (program / "low.toml").write_text(
        "[environment]\nPRIORITY = '1'\n[parts]\nx = '{y}'\n[[commands]]\nname = 'low'\nrun = ['{x} {y}']\n"
    )
    commands = [*gpu_queue.read_queue(program / "low.toml", {"y": "z"}), gpu_queue.Command("high", ("x",))]
    assert commands[0].run == ("z z",)
    assert gpu_queue.Queue(commands, program / "out", 2).run(60)
    logs = program / "out" / "logs"
    assert (logs / "low.txt").read_text() == "1 1\n"
    assert (logs / "high.txt").read_text() == "1 None\n"


@pytest.mark.parametrize("path", QUEUES, ids=lambda path: path.stem)
def test_every_queue_has_command_lines_that_fencepost_accepts(gpu_queue: ModuleType, path: Path) -> None:
    commands = gpu_queue.read_queue(path, SETTINGS)
    assert max(Counter(command.name for command in commands).values()) == 1
    parser = build_parser()
    for line in [line for command in commands for line in command.run]:
        arguments = parser.parse_args(shlex.split(line))
        if line.startswith("train "):
            assert (ROOT / arguments.config).is_file()
    for command in commands:
        assert command.after in [None, *(each.name for each in commands[: commands.index(command)])]
        if command.export is not None:
            assert f"--out {command.export[0]} " in command.run[-1]
            assert command.export[1] == f"OUT/exports/{command.name}"
