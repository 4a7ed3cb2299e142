"""The settings of a server: what it serves, where, and how much it accepts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from fencepost.parsing.parser import Precision

MOST_TREES: Final = 100  # of a sentence, by ``kbest``
MOST_ANALYZED: Final = 400  # words of a sentence for probabilities and k best trees: beyond, it takes seconds
SLOWEST_REQUEST: Final = 10.0  # seconds for the headers of a request to arrive, and again for its body
KEEP_ALIVE: Final = 30.0  # seconds that a connection may be idle between requests


@dataclass(frozen=True)
class Settings:
    models: tuple[str | None, ...] = (None,)  # names or folders; None is the model inside the package
    device: str = "cpu"
    precision: Precision = "fp32"
    host: str = "127.0.0.1"
    port: int = 8000
    workers: int = 1  # processes
    max_body: int = 1_000_000  # bytes of a request
    max_words: int = 1_000  # of a sentence
    max_requests: int = 256  # that wait for the model, in each process
    max_connections: int = 800  # in each process
    timeout: float = 60.0  # seconds for an answer, or between two sentences of a stream
    gather: float = 0.002  # seconds that an idle model waits for more sentences to parse together
    token: str | None = None  # that clients must send
    cors: tuple[str, ...] = ()  # origins whose pages may call this server
    access_log: bool = True
    metrics_folder: str = ""  # one file per process; set by ``server.run``
