"""Prepares the next batch in another process while a GPU computes with the current one.

A thread would hold up the backward pass, which runs Python in a thread of torch's. On a CPU a step takes seconds, and
preparing a batch milliseconds, so nothing else is started.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import Final

import torch

from fencepost.training.data import FlatBatch, TrainingSet
from fencepost.training.preparing import READY

if sys.platform == "linux":
    import fcntl

CHILD: Final = "import sys; sys.path[:] = {path}; from fencepost.training.preparing import main; main()"
PIPE: Final = 1 << 20  # bytes: most batches fit, so that reading one takes few calls
PATIENCE: Final = 60.0  # seconds for a batch, which takes milliseconds


class BatchProcess:
    """A process that prepares batches, one at a time. It ends with the ``with`` block, or when this process dies."""

    def __init__(self) -> None:
        # Not by multiprocessing, which would run a user's script again if it doesn't begin with `if __name__ == …`.
        self._process = subprocess.Popen(
            [sys.executable, "-c", CHILD.format(path=list(map(str, sys.path)))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # or Ctrl-C would reach it, too
        )
        if sys.platform == "linux" and self._process.stdout is not None:
            with suppress(OSError):  # a machine may allow less
                fcntl.fcntl(self._process.stdout, fcntl.F_SETPIPE_SZ, PIPE)
        self._thread: Thread | None = None
        self._is_ready = Event()
        self._answers: SimpleQueue[FlatBatch | str] = SimpleQueue()

    def __enter__(self) -> BatchProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        if self._thread is not None:
            self._thread.join()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):  # what couldn't be written
                pipe.close()  # type: ignore[union-attr]

    def read(self, data: TrainingSet, batch_tokens: int) -> None:
        """Sends the training set to the process, without waiting until it arrives."""
        self._thread = Thread(target=self._listen, args=(data, batch_tokens), daemon=True, name="fencepost-batches")
        self._thread.start()

    def is_ready(self) -> bool:
        """False as long as asking would mean waiting for it to start."""
        return self._is_ready.is_set()

    def ask(self, indices: Sequence[int]) -> None:
        with suppress(OSError):  # that it has ended is noticed when its answer is read
            self._send(indices)

    def answer(self) -> FlatBatch | str:
        """The batch that the process was asked for, or why it sent none."""
        try:
            return self._answers.get(timeout=PATIENCE)
        except Empty:  # it was stopped, or waits for a disk
            return f"it hasn't answered for {PATIENCE:.0f} seconds"

    def _send(self, message: object) -> None:
        assert self._process.stdin is not None
        pickle.dump(message, self._process.stdin, protocol=5)
        self._process.stdin.flush()

    def _listen(self, data: TrainingSet, batch_tokens: int) -> None:
        assert self._process.stdout is not None
        try:
            self._send((data, batch_tokens))
            while True:
                answer = pickle.load(self._process.stdout)
                if answer is not READY:
                    self._answers.put(answer)
                self._is_ready.set()
        except Exception as error:
            self._answers.put(self._reason(error))
            self._is_ready.set()  # the next answer says why there will be none

    def _reason(self, error: Exception) -> str:
        try:
            return f"it ended with status {self._process.wait(timeout=1)}"
        except subprocess.TimeoutExpired:
            return f"{type(error).__name__}: {error}"


@contextmanager
def batch_process(device: torch.device) -> Iterator[BatchProcess | None]:
    """A process that prepares batches, if the device is a GPU and a process can be started."""
    process = None
    if device.type != "cpu" and sys.executable and not hasattr(sys, "frozen"):  # a frozen program would start itself
        try:
            process = BatchProcess()
        except OSError as error:
            _warn(error)
    with process or nullcontext():
        yield process


class Prefetch:
    """``get(indices)`` returns the batch that ``begin(indices)`` asked another process for, and prepares any other."""

    def __init__(self, data: TrainingSet, batch_tokens: int, process: BatchProcess | None) -> None:
        self._data, self._batch_tokens = data, batch_tokens
        self._process = process
        self._asked: Sequence[int] | None = None
        if process is not None:
            process.read(data, batch_tokens)

    def begin(self, indices: Sequence[int]) -> None:
        if self._process is not None and self._process.is_ready():
            self._process.ask(indices)
            self._asked = indices

    def get(self, indices: Sequence[int]) -> FlatBatch:
        asked, self._asked = self._asked, None
        answer = None if asked is None or self._process is None else self._process.answer()
        if isinstance(answer, FlatBatch) and asked == indices:
            return answer
        batch = self._flat(indices)  # fails as in the other process if the data are to blame
        if isinstance(answer, str):
            self._process = None
            _warn(answer)
        return batch

    def _flat(self, indices: Sequence[int]) -> FlatBatch:
        return self._data.flat(indices, self._batch_tokens)


def _warn(reason: object) -> None:
    warnings.warn(f"no other process prepares batches, so training is slower: {reason}", stacklevel=3)
