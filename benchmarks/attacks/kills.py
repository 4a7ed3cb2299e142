"""kill -9 at random moments of training, until it has finished: the same model and log as without.

A process that has imported torch forks one child after another, so that little time is lost between two kills.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import signal
import sys
import time
import traceback
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.attacks.harness import Generator, Outcome

CONFIGS: Final[dict[str, dict[str, Any]]] = {
    "plain": {"train": {"max_epochs": 6, "checks_per_epoch": 2}},
    "average": {"train": {"max_epochs": 6, "checks_per_epoch": 1, "average": 0.9}},
    "crf, tags": {"train": {"max_epochs": 5, "checks_per_epoch": 2, "loss": "crf"}, "lexical": ["words", "char_lstm"]},
    "functions": {"train": {"max_epochs": 5, "checks_per_epoch": 2}, "scorer": {"functions": True}},
    "halving": {"train": {"max_epochs": 12, "checks_per_epoch": 2, "patience_epochs": 0.5, "max_halvings": 2}},
    "lstm": {"train": {"max_epochs": 5, "checks_per_epoch": 2}, "encoder": {"kind": "lstm"}},
}


class Kills:
    """Each case is a run that is killed two to four times, and compared with one that wasn't."""

    last_input = None
    limit = 600

    def __init__(self, device: str) -> None:
        self.name = f"kills of training on {device}"
        self.device = device

    def prepare(self, folder: Path) -> None:
        import fencepost.training.run  # in this process, so that children need not import torch

        del fencepost
        self.folder = folder
        self.expected: dict[str, Expected] = {}

    def case(self, generator: Generator) -> str:
        name = list(CONFIGS)[generator.number % len(CONFIGS)]
        if name not in self.expected:
            self.expected[name] = self._uninterrupted(name)
        expected, out = self.expected[name], self.folder / f"run {generator.number}"
        planned = generator.randint(2, 4)
        moments = [expected.start + 1.6 * (expected.seconds - expected.start) / planned] * planned
        kills = 0
        for longest in moments:
            killed = self._one_life(out, name, generator.uniform(0, longest))
            kills += killed
            if not killed:
                break
        else:
            assert not self._one_life(out, name, float("inf"))
        log, model = result(out)
        assert log == expected.log, f"{name}: the log differs after {kills} kills:\n{log}\n{expected.log}"
        assert model == expected.model, f"{name}: the log is the same, the model differs after {kills} kills"
        shutil.rmtree(out)
        return f"{kills} kills, {name}"

    def replay(self, content: bytes) -> str:
        raise NotImplementedError

    def _uninterrupted(self, name: str) -> Expected:
        out = self.folder / f"expected {name}"
        began = time.monotonic()
        child = start(out, name, self.device)
        while not (out / "log.jsonl").exists():
            assert not os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT), problems(out)
            time.sleep(0.002)
        begun = time.monotonic() - began
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 0, problems(out)
        return Expected(*result(out), begun, time.monotonic() - began)

    def _one_life(self, out: Path, name: str, seconds: float) -> bool:
        """Starts or resumes a run, and kills it after this time. Returns False if it ended by itself."""
        child = start(out, name, self.device)
        deadline = time.monotonic() + seconds
        ended = 0
        while not ended and time.monotonic() < deadline:
            ended, status = os.waitpid(child, os.WNOHANG)
            time.sleep(0.002)
        if not ended:
            os.kill(child, signal.SIGKILL)
            _, status = os.waitpid(child, 0)
            if os.waitstatus_to_exitcode(status) == -signal.SIGKILL:
                return True
        assert os.waitstatus_to_exitcode(status) == 0, problems(out)
        return False


@dataclass(frozen=True)
class Expected:
    """How a run without kills ended, when its log began, and how long it took."""

    log: object
    model: bytes
    start: float
    seconds: float


def count_kills(outcome: Outcome) -> None:
    """Changes the outcomes of runs into a number of kills."""
    runs = {name: count for name, count in outcome.outcomes.items() if " kills, " in name}
    outcome.cases = sum(int(name.split()[0]) * count for name, count in runs.items())
    ended: Counter[str] = Counter()
    for name, count in runs.items():
        ended[f"runs of {name.partition(', ')[2]!r} that ended as without kills"] += count
    outcome.outcomes = dict(ended)


def problems(out: Path) -> str:
    path = Path(f"{out}.problem")
    return path.read_text() if path.exists() else f"{out.name} ended with an error"


def start(out: Path, name: str, device: str) -> int:
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # it ends with the process that started it
        with Path(os.devnull).open("w") as null:
            sys.stderr = null
            try:
                _train(out, name, device)
                status = 0
            except BaseException:
                Path(f"{out}.problem").write_text(traceback.format_exc())
    finally:
        os._exit(status)


def _train(out: Path, name: str, device: str) -> None:
    from tests.samples import TREES

    from fencepost.config.toml import config_from_table
    from fencepost.training.train import train
    from fencepost.trees.tree import Tree

    settings = CONFIGS[name]
    base: dict[str, Any] = {
        "lexical": ["char_lstm"],
        "char_lstm": {"size": 8},
        "encoder": {"layers": 2, "d_model": 32, "heads": 2, "d_k": 8, "d_v": 8, "d_ff": 32},
        "scorer": {"hidden": 16, "predict_tags": True, "tag_hidden": 16},
        "train": {"batch_size": 4, "warmup_batches": 5, "learning_rate": 0.01, "checkpoint_minutes": 0.0005},
    }
    deterministic = {"train": {"deterministic": True}}
    table = {part: base.get(part) for part in {*base, *settings}}
    for more in (settings, deterministic):
        for part, value in more.items():
            table[part] = {**(table[part] or {}), **value} if isinstance(value, dict) else value
    trees = list(TREES)
    if settings.get("scorer", {}).get("functions"):
        trees = [Tree.from_string(str(tree).replace("(NP ", "(NP-SBJ ", 1)) for tree in trees]
    train(config_from_table(table), trees[:9], trees, out, resume=out.exists(), device=device)


def result(out: Path) -> tuple[object, bytes]:
    """The log without times, and the bytes of the model."""
    clocked = ("seconds", "sentences_per_second")
    lines = [json.loads(line) for line in (out / "log.jsonl").read_text().splitlines()]
    log = [{key: value for key, value in line.items() if key not in clocked} for line in lines]
    return log, (out / "model.safetensors").read_bytes()
