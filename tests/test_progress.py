from __future__ import annotations

import io
import types

import pytest

from fencepost.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    stream = Terminal()
    monkeypatch.setattr("fencepost.progress.sys", types.SimpleNamespace(stderr=stream))
    monkeypatch.setattr("fencepost.progress._REDRAW_SECONDS", 0.0)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "60")
    return stream


def test_nothing_is_written_where_stderr_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress("reading") as bar:
        bar.advance(1000)
    assert capsys.readouterr() == ("", "")


def test_a_hidden_bar_and_a_dumb_terminal_stay_silent(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    with Progress("reading", hidden=True) as bar:
        bar.advance()
    monkeypatch.setenv("TERM", "dumb")
    with Progress("reading") as bar:
        bar.advance()
    assert terminal.getvalue() == ""


def test_a_count_is_shown_and_taken_away_at_the_end(terminal: Terminal) -> None:
    with Progress("reading", unit="trees") as bar:
        bar.advance(1234)
    assert "\rreading: 1,234 trees" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r\x1b[K")
    assert "\n" not in terminal.getvalue()


def test_the_line_is_taken_away_after_an_error_too(terminal: Terminal) -> None:
    with pytest.raises(ValueError, match="stop"), Progress("reading"):
        raise ValueError("stop")
    assert terminal.getvalue().endswith("\r\x1b[K")


def test_a_total_gives_a_bar_a_rate_and_the_time_left() -> None:
    bar = Progress("parsing", total=400)
    bar.count = 100
    assert bar.line(50.0) == "parsing [=====               ] 100/400 sentences, 2.0/s, 2:30 left"
    bar.count = 1
    assert bar.line(20.0).endswith("2:13:00 left")


def test_a_rate_has_a_decimal_only_while_it_is_small() -> None:
    bar = Progress("parsing", unit="documents")
    rates = {0: "0/s", 3: "0.3/s", 96: "9.6/s", 104: "10/s", 54_321: "5,432/s"}
    for bar.count, rate in rates.items():
        assert bar.line(10.0).endswith(f" documents, {rate}")


def test_a_line_can_be_drawn_before_anything_is_done(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fencepost.progress._REDRAW_SECONDS", 60.0)
    with Progress("parsing", 7, "documents") as bar:
        bar.note = "0 errors"
        bar.begin()
        assert "0/7 documents, 0/s, 0 errors" in terminal.getvalue()


def test_a_line_is_not_drawn_early_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress("parsing", 7) as bar:
        bar.begin()
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("count", [0, 400, 500])
def test_no_time_is_left_before_the_start_or_after_the_end(count: int) -> None:
    bar = Progress("parsing", total=400)
    bar.count = count
    assert "left" not in bar.line(1.0)
    assert bar.line(0.0)


def test_a_line_never_fills_the_last_column(terminal: Terminal) -> None:
    with Progress("a very long description of what is going on here", total=10) as bar:
        bar.advance(5)
    assert "a very long" in terminal.getvalue()
    assert all(len(line.removesuffix("\x1b[K")) < 60 for line in terminal.getvalue().split("\r"))
