"""``fencepost COMMAND``: one module a command. Data goes to stdout, everything else to stderr."""

from __future__ import annotations

import argparse
import difflib
import importlib
import io
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, NoReturn

from fencepost.errors import FencepostError, TrainingError, UsageError, WorkerError

COMMANDS: Final = (
    "parse",
    "train",
    "evaluate",
    "score",
    "treebank",
    "calibrate",
    "export",
    "import-benepar",
    "bench",
    "reproduce",
    "tag",
    "analyze",
)
EXAMPLES: Final = """examples:
  fencepost parse --text "The time for action is now."
  fencepost train paper --train train.txt --dev dev.txt --out model
  fencepost evaluate model test.txt
  fencepost score gold.txt predicted.txt

`fencepost COMMAND --help` has more about each.
"""
EXIT_FAILED, EXIT_USAGE, EXIT_INTERRUPTED, EXIT_SIGNAL = 1, 2, 130, 128


class ArgumentParser(argparse.ArgumentParser):
    """Speaks as the rest of the program does: ``error: …`` and then ``hint: …``."""

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        near = difflib.get_close_matches(str(value), map(str, action.choices or ()), n=1, cutoff=0.5)
        if near and value not in (action.choices or ()):
            is_command = isinstance(action, argparse._SubParsersAction)
            what = "there is no command" if is_command else f"{'/'.join(action.option_strings) or action.dest} can't be"
            raise UsageError(f"{what} {value}", hint=f"did you mean {near[0]}?")
        super()._check_value(action, value)

    def error(self, message: str) -> NoReturn:
        sys.stderr.write(f"error: {message}\nhint: {self._nearest(message) or f'{self.prog} --help'}\n")
        raise SystemExit(EXIT_USAGE)

    def _nearest(self, message: str) -> str | None:
        """The option that may have been meant by one that no command has."""
        commands = [action for action in self._actions if isinstance(action, argparse._SubParsersAction)]
        parsers = [self, *(parser for action in commands for parser in action.choices.values())]
        options = sorted({name for parser in parsers for name in parser._option_string_actions})
        unknown = [word for word in message.split() if word.startswith("--")]
        if not message.startswith("unrecognized") or not unknown or unknown[0].partition("=")[0] in options:
            return None
        near = difflib.get_close_matches(unknown[0].partition("=")[0], options, n=1)
        return f"did you mean {near[0]}?" if near else None


def build_parser() -> ArgumentParser:
    from fencepost import __version__

    parser = ArgumentParser(
        prog="fencepost",
        description="A constituency parser: text in, labelled phrase-structure trees out.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"fencepost {__version__}")
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True)
    for name in COMMANDS:
        importlib.import_module(f"fencepost.cli.{name.replace('-', '_')}").add_command(subparsers)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    _open_closed_streams()
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Trees are UTF-8 wherever they go, and a file name that is not must not end the program.
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        with _keeping_what_was_done():
            parsed = build_parser().parse_args(arguments)
            status: int = parsed.run(parsed)
            sys.stdout.flush()
            return status
    except FencepostError as error:
        status = EXIT_FAILED if isinstance(error, TrainingError | WorkerError) else EXIT_USAGE
        hint = error.hint or (_help(arguments) if status == EXIT_USAGE else None)
        sys.stderr.write(f"error: {error.message}\n" + (f"hint: {hint}\n" if hint else ""))
        return status
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader of our output left; what it did not read is not an error of ours.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_FAILED
    except OSError as error:
        sys.stderr.write(f"error: {error}\n")
        return EXIT_FAILED


@contextmanager
def _keeping_what_was_done() -> Iterator[None]:
    """SIGTERM, which a time limit sends, unwinds the program as Ctrl-C does. Training has a way of its own."""
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, _end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _end(number: int, _: object) -> NoReturn:
    raise SystemExit(EXIT_SIGNAL + number)


def _help(arguments: Sequence[str] | None) -> str:
    """Where one can read how a command is used."""
    command = next((word for word in (sys.argv[1:] if arguments is None else arguments) if word in COMMANDS), None)
    return " ".join(filter(None, ("fencepost", command, "--help")))


def _open_closed_streams() -> None:
    """A shell's ``>&-`` leaves no stream at all; nobody wants to read what goes there."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115


if __name__ == "__main__":
    raise SystemExit(main())
