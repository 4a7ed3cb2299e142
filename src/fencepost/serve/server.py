"""Runs the server: one process, or several that share a socket."""

from __future__ import annotations

import logging
import os
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Final

import uvicorn
from starlette.types import ASGIApp
from uvicorn.config import STARTUP_FAILURE
from uvicorn.supervisors import Multiprocess

from fencepost.errors import FencepostError, UsageError, WorkerError
from fencepost.serve.app import build_app
from fencepost.serve.models import names_of
from fencepost.serve.protocol import Protocol
from fencepost.serve.settings import KEEP_ALIVE, Settings
from fencepost.storage.model_folder import ModelFolder

BACKLOG: Final = 512  # connections that wait to be accepted
LAST_ANSWERS: Final = 30  # seconds for requests under way when the server is told to stop


def run(settings: Settings, announce: Callable[[str], None]) -> None:
    """Serves until it is told to stop, then finishes the requests under way. ``announce`` gets the server's address."""
    for model in names_of(settings.models).values():
        ModelFolder.open(model)  # an unknown or damaged model is an error before anything starts
    with tempfile.TemporaryDirectory(prefix="fencepost-") as folder, _listen(settings) as listener:
        settings = replace(settings, metrics_folder=folder)
        address = _address(settings.host, listener.getsockname()[1])
        if settings.workers == 1:
            set_up_process()
            server = _Server(_config(build_app(settings), settings))
            announce(address)
            server.run(sockets=[listener])
        else:
            announce(address)
            config = _config(partial(worker_app, settings, os.getpid()), settings, factory=True)
            supervisor = _Supervisor(config, sockets=[listener])
            supervisor.run()
            if any(each.exitcode == STARTUP_FAILURE for each in supervisor.processes):
                raise WorkerError("a process of the server couldn't start", hint="its message is above")


def worker_app(settings: Settings, parent: int) -> ASGIApp:
    """The application of one of several processes."""
    set_up_process()
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    try:
        return build_app(settings)
    except FencepostError as error:
        sys.stderr.write(f"error: {error}\n")
        raise SystemExit(STARTUP_FAILURE) from None


class _Server(uvicorn.Server):
    def handle_exit(self, sig: int, frame: Any) -> None:
        super().handle_exit(sig, frame)
        if sig == signal.SIGTERM:
            self._captured_signals.remove(sig)  # a server that is told to stop has done its job: exit status 0


class _Supervisor(Multiprocess):
    def terminate_all(self) -> None:
        super().terminate_all()
        for each in self.sockets:
            each.close()  # a connection made from now on would wait for nothing


def _config(app: Any, settings: Settings, *, factory: bool = False) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        factory=factory,
        http=Protocol,
        ws="none",
        workers=settings.workers,
        log_config=None,
        access_log=False,  # ours is in ``guard``: uvicorn's shows queries
        server_header=False,
        proxy_headers=False,
        limit_concurrency=settings.max_connections,
        backlog=BACKLOG,
        timeout_keep_alive=int(KEEP_ALIVE),
        timeout_graceful_shutdown=LAST_ANSWERS,
        timeout_worker_healthcheck=30,
    )


def _listen(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listener = socket.socket(family)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((settings.host, settings.port))
    except OSError as error:
        listener.close()
        reason = error.strerror or error
        raise UsageError(
            f"can't listen on {settings.host}:{settings.port}: {reason}", hint="choose another --host or --port"
        ) from error
    listener.listen(BACKLOG)
    listener.set_inheritable(True)
    return listener


def _address(host: str, port: int) -> str:
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def set_up_process() -> None:
    """Sets up logging: one line per event on stderr, and only problems of uvicorn. Lets threads take turns more often.

    The model's thread needs Python's lock hundreds of times for each batch, and must not wait long for it.
    """
    sys.setswitchinterval(0.001)
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%Y-%m-%d %H:%M:%S"))
    for name, level in (("fencepost", logging.INFO), ("uvicorn", logging.WARNING)):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(level)
        logger.propagate = False


def _end_with(parent: int) -> None:
    """Ends this process when its parent has been killed."""
    while os.getppid() == parent:
        time.sleep(1)
    os.kill(os.getpid(), signal.SIGTERM)
