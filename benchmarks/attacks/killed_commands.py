"""kill -9 at random moments of ``fencepost export``, ``corpus`` and ``serve``: what they leave behind is complete, or
the same command finishes it.

Exports and corpora run in forks of a process that has imported everything, so that most kills hit the work itself.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Mapping
from http.client import HTTPException
from pathlib import Path
from typing import Final

from benchmarks.attacks.harness import Generator
from benchmarks.attacks.text import write_random

COMMANDS: Final = ("export", "corpus")


class KilledCommands:
    """Each case kills an export or a run over a corpus one to three times, and then lets it finish."""

    name = "kills of export and corpus"
    last_input = None
    limit = 120

    def prepare(self, folder: Path) -> None:
        import torch

        from fencepost.cli.main import main
        from fencepost.export.random_model import write_random_model

        torch.set_num_threads(1)  # a fork has no other threads
        self.folder, self.main = folder, main
        write_random_model("small", folder / "model", exported=False)
        write_random(folder / "tiny")
        documents = [{"id": f"{number}", "text": f"Document {number} is short. It ends."} for number in range(400)]
        (folder / "in.jsonl").write_text("".join(json.dumps(document) + "\n" for document in documents))
        self.expected: dict[str, Mapping[str, bytes]] = {}
        self.seconds: dict[str, float] = {}
        for name in COMMANDS:
            out = folder / f"expected {name}"
            began = time.monotonic()
            assert _killed_after(self._work(name, out), float("inf")) == 0, name
            self.seconds[name] = time.monotonic() - began
            self.expected[name] = contents(out)

    def case(self, generator: Generator) -> str:
        name = COMMANDS[generator.number % len(COMMANDS)]
        out, kills = self.folder / f"run {generator.number}", 0
        for _ in range(generator.randint(1, 3)):
            status = _killed_after(self._work(name, out), generator.uniform(0, 1.2 * self.seconds[name]))
            if status != -signal.SIGKILL:
                assert status == 0, status
                break
            kills += 1
            if name == "export" and self._is_complete(out):
                break  # it was killed after its work: an export doesn't replace a model
        else:
            assert _killed_after(self._work(name, out), float("inf")) == 0, name
        found, expected = contents(out), self.expected[name]
        different = sorted(path for path in {*found, *expected} if found.get(path) != expected.get(path))
        assert not different, f"{name}: {different} differ after {kills} kills"
        shutil.rmtree(out)
        return f"{kills} kills, {name}"

    def replay(self, content: bytes) -> str:
        raise NotImplementedError

    def _work(self, name: str, out: Path) -> Callable[[], int]:
        if name == "export":
            return lambda: self.main(["export", str(self.folder / "model"), str(out), "--precision", "int8"])
        options = ["--model", str(self.folder / "tiny"), "--workers", "1", "--part-bytes", "2000"]
        return lambda: self.main(["corpus", str(self.folder / "in.jsonl"), "--out", str(out), *options])

    def _is_complete(self, out: Path) -> bool:
        """True if a killed export left a model that loads. Half a model must be refused."""
        from fencepost.errors import FencepostError
        from fencepost.parsing.load import load

        try:
            load(out)
        except FencepostError:
            return False
        return True


class KilledServers:
    """Each case kills a server under load: no process outlives it, and the next one answers at the same address."""

    name = "kills of serve"
    last_input = None
    limit = 120

    def prepare(self, folder: Path) -> None:
        write_random(folder / "tiny")
        self.model = folder / "tiny"
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]

    def case(self, generator: Generator) -> str:
        command = [sys.executable, "-m", "fencepost", "serve", "--model", str(self.model), "--port", str(self.port)]
        options = ["--workers", "2"] if generator.number % 2 else []
        server = subprocess.Popen([*command, *options, "--no-access-log"], stderr=subprocess.PIPE, text=True)
        assert server.stderr is not None
        first = server.stderr.readline()
        assert first.startswith("fencepost is at "), first
        while not _answer(self.port):
            time.sleep(0.02)
        family = _descendants(server.pid)
        wrong: list[object] = []
        stop = threading.Event()
        clients = [threading.Thread(target=_send, args=(self.port, stop, wrong)) for _ in range(4)]
        for client in clients:
            client.start()
        time.sleep(generator.uniform(0, 1.5))
        server.kill()
        server.wait()
        stop.set()
        for client in clients:
            client.join()
        deadline = time.monotonic() + 20
        while any(map(_is_running, family)):
            assert time.monotonic() < deadline, "a process outlives its server"
            time.sleep(0.02)
        said = server.stderr.read()
        server.stderr.close()
        assert "Traceback" not in said, said
        assert not wrong, wrong
        return f"1 kills, serve {' '.join(options)}".strip()

    def replay(self, content: bytes) -> str:
        raise NotImplementedError


def contents(folder: Path) -> dict[str, bytes]:
    """The files of a folder, except hidden ones such as locks."""
    files = [path for path in folder.iterdir() if not path.name.startswith(".")]
    return {path.name: path.read_bytes() for path in files}


def _killed_after(work: Callable[[], int], seconds: float) -> int:
    """The exit status of a fork that does the work, or -9 if it was killed."""
    child = os.fork()
    if child == 0:
        status = 99
        try:
            signal.alarm(0)
            ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # it ends with the process that started it
            sys.stdout = sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115  # the fork ends at once
            status = work()
        finally:
            os._exit(status)
    deadline = time.monotonic() + seconds
    ended = 0
    while not ended and time.monotonic() < deadline:
        ended, waited = os.waitpid(child, os.WNOHANG)
        time.sleep(0.001)
    if not ended:
        os.kill(child, signal.SIGKILL)
        _, waited = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(waited)


def _answer(port: int) -> object:
    """The answer of a server, or None if there is none."""
    asked = urllib.request.Request(f"http://127.0.0.1:{port}/v1/parse", json.dumps({"text": "It works."}).encode())
    try:
        with urllib.request.urlopen(asked, timeout=10) as answer:
            return json.load(answer)
    except (OSError, HTTPException):  # the connection broke, perhaps in the middle of an answer
        return None


def _send(port: int, stop: threading.Event, wrong: list[object]) -> None:
    while not stop.is_set():
        answer = _answer(port)
        if answer is not None and not (isinstance(answer, dict) and len(answer["sentences"]) == 1):
            wrong.append(answer)


def _descendants(parent: int) -> list[int]:
    listed = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    return [each for child in map(int, listed) for each in (child, *_descendants(child))]


def _is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text("utf-8").rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
