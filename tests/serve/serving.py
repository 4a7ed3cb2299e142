"""Servers for tests: in a thread of this process, or as the command that people start."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from fencepost.parsing.load import load
from fencepost.parsing.parser import Parser
from fencepost.serve import server as serving
from fencepost.serve.app import build_app
from fencepost.serve.batching import Batcher
from fencepost.serve.models import Models
from fencepost.serve.settings import Settings


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode("utf-8")

    def json(self) -> Any:
        return json.loads(self.body)

    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.text.splitlines()]


@dataclass
class Client:
    url: str

    @property
    def address(self) -> tuple[str, int]:
        parts = urlsplit(self.url)
        assert parts.hostname
        assert parts.port
        return parts.hostname, parts.port

    def ask(self, method: str, path: str, body: bytes | str | None = None, **headers: str) -> Answer:
        connection = http.client.HTTPConnection(*self.address, timeout=60)
        data = body.encode("utf-8") if isinstance(body, str) else body
        connection.request(method, path, data, {name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, content)

    def get(self, path: str, **headers: str) -> Answer:
        return self.ask("GET", path, **headers)

    def parse(self, **fields: Any) -> Answer:
        return self.ask("POST", "/v1/parse", json.dumps(fields))

    def connect(self) -> socket.socket:
        return socket.create_connection(self.address, timeout=30)


PARSER: list[Parser] = []


def shared_parser() -> Parser:
    """The English model, loaded once."""
    if not PARSER:
        PARSER.append(load())
    return PARSER[0]


@contextmanager
def in_thread(folder: Path, parsers: dict[str, Any] | None = None, **options: Any) -> Iterator[Client]:
    """A server in a thread of this process."""
    settings = replace(Settings(metrics_folder=str(folder), port=0), **options)
    models = {"en": shared_parser()} if parsers is None else parsers

    def load_models(settings: Settings, report: Any) -> Models:
        return Models({name: Batcher(parser, settings, report) for name, parser in models.items()})

    listener = serving._listen(settings)
    server = serving._Server(serving._config(build_app(settings, load_models), settings))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        yield Client(f"http://127.0.0.1:{listener.getsockname()[1]}")
    finally:
        server.should_exit = True
        thread.join(30)
        assert not thread.is_alive()


class Process(Client):
    """``fencepost serve`` as a process."""

    def __init__(self, *options: str, **environment: str) -> None:
        command = [sys.executable, "-m", "fencepost", "serve", "--port", "0", *options]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**os.environ, **environment})
        self.log: list[str] = []
        assert self.process.stderr is not None
        first = self.process.stderr.readline()
        assert first.startswith("fencepost is at "), first + self.process.stderr.read()
        super().__init__(first.split()[-1])
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        self.log += self.process.stderr

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Tells the server to stop, and returns its exit status."""
        self.process.send_signal(number)
        status = self.process.wait(60)
        self._reader.join(10)
        return status

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self._reader.join(10)
        assert self.process.stderr is not None
        self.process.stderr.close()


def wait_for(condition: Any, seconds: float = 20.0) -> None:
    """Waits until ``condition()`` is true."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited for too long"
        time.sleep(0.02)


class SlowParser:
    """A stand-in for a parser: it takes a while, and fails on the word "boom"."""

    def __init__(self, real: Parser, seconds: float = 0.0, batches: int | None = None) -> None:
        """Each batch takes ``seconds`` more; after ``batches`` it waits until ``go`` is set."""
        self._real, self.seconds, self._most = real, seconds, batches
        self.batches: list[list[tuple[str, ...]]] = []
        self.entered = threading.Event()
        self.go = threading.Event()  # if it isn't set, the parser waits
        self.go.set()
        self.config, self.vocabularies = real.config, real.vocabularies
        self.text_language = real.text_language

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def do(self, job: Any, sentences: list[Any]) -> Any:
        self.entered.set()
        self.go.wait(30)
        self.batches.append([sentence.words for sentence in sentences])
        if len(self.batches) == self._most:
            self.go.clear()
        time.sleep(self.seconds)
        if any("boom" in sentence.words for sentence in sentences):
            raise ValueError("boom with a secret")
        return self._real.do(job, sentences)
