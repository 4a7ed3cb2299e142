"""The long attacks of ``benchmarks/attacks`` work, and find nothing in their first cases."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks.attacks import guided, harness, report
from benchmarks.attacks.brackets import Brackets
from benchmarks.attacks.crafted import Crafted
from benchmarks.attacks.disks import Disks
from benchmarks.attacks.folders import Folders
from benchmarks.attacks.harness import Attack, Generator, Outcome
from benchmarks.attacks.killed_commands import KilledCommands, KilledServers
from benchmarks.attacks.kills import Kills, count_kills
from benchmarks.attacks.patterns import Patterns
from benchmarks.attacks.splitting import Splitting
from benchmarks.attacks.text import Text
from benchmarks.attacks.watch import Watch

from fencepost.errors import ModelError
from fencepost.parsing import load as loading

SECONDS = 60
ATTACKS: dict[str, tuple[Attack, int]] = {
    "brackets": (Brackets(), 300),
    "patterns": (Patterns(), 100),
    "splitting": (Splitting(size=5_000, every=50), 420),
    "text through Python": (Text("en", "api"), 20),
    "texts together": (Text("en", "pipe"), 1),
    "text through the command": (Text("en", "command"), 10),
}
WITH_EXTRAS: dict[str, tuple[Attack, int]] = {
    "text through spaCy": (Text("en", "spacy"), 10),
    "folders": (Folders(), 20),
    "crafted folders": (Crafted(), 14),
    "disks": (Disks(), 6),
}


def outcomes(attack: Attack, cases: int, folder: Path) -> list[str]:
    attack.prepare(folder)
    return [attack.case(Generator(7, number)) for number in range(cases)]


@pytest.mark.parametrize("name", ATTACKS)
def test_the_first_cases_find_nothing(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "load", loading.load)  # the attack replaces it, for the time of this test
    assert all(outcomes(*ATTACKS[name], tmp_path))


@pytest.mark.extras
@pytest.mark.parametrize("name", WITH_EXTRAS)
def test_the_first_cases_with_extras_find_nothing(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "load", loading.load)  # the attack replaces it, for the time of this test
    assert all(outcomes(*WITH_EXTRAS[name], tmp_path))


class Broken:
    """An attack that finds something: every third case fails, and one ends the process."""

    name = "broken"
    last_input = b"input"

    def prepare(self, folder: Path) -> None:
        self.folder = folder

    def case(self, generator: Generator) -> str:
        if generator.number == 7:
            os._exit(5)
        if generator.number % 3 == 2:
            (self.folder.parent / f"{self.folder.name}-outside").write_text("x")
            (self.folder.parent / f"{self.folder.name}-outside").unlink()
            raise ValueError("found")
        return "fine"

    def replay(self, content: bytes) -> str:
        return "replayed"


def test_what_an_attack_finds_is_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In two processes, of which one dies and goes on after the case that killed it."""
    try:
        outcome = harness.fuzz(Broken(), 10, 1, processes=2, state=tmp_path)
        kept = {path.name for path in harness.CORPUS.glob("broken-*")}
    finally:
        for path in harness.CORPUS.glob("broken-*"):
            path.unlink()
    assert (outcome.cases, outcome.failures, outcome.written_outside) == (10, 4, 6)
    assert outcome.outcomes["failure"] == 3
    assert outcome.outcomes["fine"] + outcome.outcomes["not reported"] == 6
    assert kept == {"broken-1-2", "broken-1-5", "broken-1-8"}
    said = capsys.readouterr().err
    assert "ValueError: found" in said
    assert "case 7: the process died: 5" in said


def test_an_attack_that_was_stopped_goes_on(tmp_path: Path) -> None:
    stopped = harness.fuzz(Brackets(), 1000, 1, processes=2, seconds=0.01, state=tmp_path)
    assert stopped.cases < 1000
    assert harness.fuzz(Brackets(), 1000, 1, seconds=0, state=tmp_path).cases == stopped.cases
    assert harness.fuzz(Brackets(), 1000, 1, state=tmp_path).cases == 1000
    (part, *_) = json.loads((tmp_path / "brackets-1-1000.json").read_text())
    assert (part["first"], part["end"], part["next"]) == (0, 500, 500)  # it still has two parts


def test_writing_outside_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "link").symlink_to(tmp_path / "x")
    watch = Watch(tmp_path / "inside")
    with watch:
        watch.note("open", (str(tmp_path / "inside" / "x"), "w", 0o101))
        watch.note("open", (str(tmp_path / "x"), "r", 0))
        watch.note("open", (5, "wb", 0o101))
        watch.note("os.symlink", ("/anywhere", str(tmp_path / "inside" / "other"), -1))
        watch.note("os.remove", (str(tmp_path / "inside" / "link"), -1))
        assert watch.take() == 0
        watch.note("open", (str(tmp_path / "x"), None, 0o101))
        watch.note("open", (str(tmp_path / "inside" / "link"), None, 0o101))
        watch.note("open", (str(tmp_path / "inside-too"), None, 0o101))
        watch.note("os.rename", (str(tmp_path / "inside" / "x"), str(tmp_path / "x"), -1, -1))
        watch.note("os.remove", (str(tmp_path / "inside" / ".." / "x"), -1))
    assert watch.take() == 5


def test_kills_are_counted_and_runs_compared() -> None:
    outcome = Outcome("kills", "", 1, "", 3, outcomes={"2 kills, plain": 2, "0 kills, lstm": 1, "failure": 1})
    count_kills(outcome)
    assert outcome.cases == 4
    assert outcome.outcomes["runs of 'plain' that ended as without kills"] == 2


@pytest.mark.extras
def test_a_run_that_ends_differently_is_found(tmp_path: Path) -> None:
    attack = Kills("cpu")
    attack.prepare(tmp_path)
    assert attack.case(Generator(1, 0)).endswith(" kills, plain")
    attack.expected["plain"] = replace(attack.expected["plain"], model=b"other")
    with pytest.raises(AssertionError, match="the model differs"):
        attack.case(Generator(1, 6))


@pytest.mark.extras
def test_a_killed_command_that_ends_differently_is_found(tmp_path: Path) -> None:
    attack = KilledCommands()
    attack.prepare(tmp_path)
    assert attack.case(Generator(1, 0)).endswith(" kills, export")
    assert attack.case(Generator(1, 1)).endswith(" kills, corpus")
    attack.expected["export"] = {**attack.expected["export"], "model.onnx": b"other"}
    with pytest.raises(AssertionError, match=r"\['model.onnx'\] differ"):
        attack.case(Generator(1, 2))


@pytest.mark.extras
def test_a_killed_server_leaves_no_process_behind(tmp_path: Path) -> None:
    attack = KilledServers()
    attack.prepare(tmp_path)
    assert [attack.case(Generator(1, number)) for number in range(2)] == [
        "1 kills, serve",
        "1 kills, serve --workers 2",
    ]


def test_the_table_has_the_latest_run_of_each_attack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{report.BEGIN}old\n{report.END}after\n")
    monkeypatch.setattr(report, "PAGE", page)
    monkeypatch.setattr(report, "RESULTS", tmp_path / "results.jsonl")
    runs = [Outcome("text", "python x", 1, "2026-11-16", cases) for cases in (5, 7)]
    (tmp_path / "results.jsonl").write_text("".join(json.dumps(vars(run)) + "\n" for run in runs))
    report.write()
    text = page.read_text()
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "| text | 7 | 12 | 0 | 0 |" in text
    assert "| text | 5 |" not in text


@pytest.mark.extras
@pytest.mark.parametrize("target", guided.TARGETS)
def test_guided_attacks_begin_with_inputs_that_are_read(target: str, tmp_path: Path) -> None:
    check = guided.TARGETS[target](tmp_path)
    for seed in guided.seeds(target):
        if target == "checkpoints":  # it has no vocabulary
            with pytest.raises(ModelError, match="not a benepar model: KeyError"):
                check(seed)
        else:
            check(seed)


def test_guided_attacks_change_one_value_of_json() -> None:
    content = b'{"a": [1, {"b": "c"}], "d": null}'
    changed = [guided.changed_json(content, seed) for seed in range(300)]
    assert changed == [guided.changed_json(content, seed) for seed in range(300)]
    tables = [json.loads(each) for each in changed if each is not None]
    assert len(tables) == 300
    assert {"d": None} in tables
    assert {"a": [1, 1, {"b": "c"}], "d": None} in tables
    assert guided.changed_json(b"[", 1) is guided.changed_json(b"3", 1) is None


def test_what_libfuzzer_says_is_counted() -> None:
    outcome = Outcome("guided, graphs", "", 1, "2026-11-19")
    messages = "#2 INITED cov: 1100 ft: 2\n#9 NEW cov: 1234 ft: 3\nstat::number_of_executed_units: 77\n"
    guided.read_counts(outcome, messages + "stat::slowest_unit_time_sec: 2\nstat::peak_rss_mb: 59\n")
    assert (outcome.cases, outcome.slowest_seconds, outcome.peak_mb) == (77, 2, 59)
    assert outcome.note == "1,100 branches reached by the first inputs, 1,234 at the end"
