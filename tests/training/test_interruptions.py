"""Signals that wait until they can be obeyed."""

from __future__ import annotations

import os
import signal

import pytest

from fencepost.training.interruptions import TOGETHER, interruptions


def interrupt(number: signal.Signals = signal.SIGINT) -> None:
    os.kill(os.getpid(), number)


def test_the_first_waits_and_the_next_strikes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = 100.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    with interruptions("waiting") as signals:
        interrupt(signal.SIGTERM)
        assert signals == [signal.SIGTERM]
        assert capsys.readouterr().err == "waiting; interrupt again to stop at once\n"
        now += TOGETHER + 0.1
        with pytest.raises(KeyboardInterrupt):
            interrupt()


def test_one_that_was_sent_twice_counts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.monotonic", lambda: 100.0)
    with interruptions() as signals:
        interrupt(signal.SIGTERM)
        interrupt(signal.SIGTERM)
        assert signals == [signal.SIGTERM]


def test_afterwards_ctrl_c_is_what_it_was() -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background would ignore it
    try:
        with interruptions():
            pass
        with pytest.raises(KeyboardInterrupt):
            interrupt()
    finally:
        signal.signal(signal.SIGINT, before)
