"""``fencepost COMMAND``: one module per command. Data goes to stdout, everything else to stderr."""

from __future__ import annotations

import argparse
import difflib
import importlib
import io
import os
import re
import signal
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, NoReturn

from fencepost.cli.terminal import shown_on_terminals
from fencepost.errors import (
    ConfigError,
    FencepostError,
    InputError,
    LanguageWarning,
    ModelError,
    OutputError,
    TerminatedError,
    TrainingError,
    UsageError,
    WorkerError,
)
from fencepost.progress import clear_line

COMMANDS: Final = (
    "parse",
    "corpus",
    "serve",
    "train",
    "evaluate",
    "score",
    "treebank",
    "search",
    "extract",
    "measure",
    "calibrate",
    "models",
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

Run `fencepost COMMAND --help` for the options of a command.
"""
_TAG_WITH_DASHES: Final = re.compile("-[A-Z]+-")
EXIT_FAILED, EXIT_USAGE, EXIT_INTERRUPTED, EXIT_SIGNAL = 1, 2, 130, 128


class ArgumentParser(argparse.ArgumentParser):
    """Reports errors like the rest of the program: ``error: …``, then ``hint: …``."""

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        near = difflib.get_close_matches(str(value), map(str, action.choices or ()), n=1, cutoff=0.5)
        if near and value not in (action.choices or ()):
            is_command = isinstance(action, argparse._SubParsersAction)
            what = "unknown command" if is_command else f"{'/'.join(action.option_strings) or action.dest} can't be"
            raise UsageError(f"{what} {value}", hint=f"did you mean {near[0]}?")
        super()._check_value(action, value)

    def _get_value(self, action: argparse.Action, arg_string: str) -> Any:
        """The value of an option; argparse's own message for a wrong one names a Python type."""
        kind = {int: "a whole number", float: "a number"}.get(action.type)  # type: ignore[call-overload]
        try:
            return super()._get_value(action, arg_string)
        except argparse.ArgumentError:
            if kind is None:
                raise
            option = "/".join(action.option_strings) or action.dest
            about = f"{option} {action.metavar or action.dest.upper()}: {action.help}"
            raise UsageError(f"{option} must be {kind}, got {arg_string}", hint=about) from None

    def _parse_optional(self, arg_string: str) -> Any:
        """A pattern may begin with a tag such as -NONE- or -LRB-, which isn't an option."""
        return None if _TAG_WITH_DASHES.match(arg_string) else super()._parse_optional(arg_string)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Takes files on both sides of an option, as in ``search NP --count trees.txt``: argparse alone doesn't."""
        found, extras = super().parse_known_args(args, namespace)
        lists = [action.dest for action in self._get_positional_actions() if action.nargs in ("*", "+")]
        if lists and not any(extra.startswith("-") and extra != "-" for extra in extras):
            setattr(found, lists[-1], [*getattr(found, lists[-1]), *extras])
            return found, []
        return found, extras

    def error(self, message: str) -> NoReturn:
        sys.stderr.write(f"error: {message}\nhint: {self._nearest(message) or f'{self.prog} --help'}\n")
        raise SystemExit(EXIT_USAGE)

    def _nearest(self, message: str) -> str | None:
        """Suggests an option in place of an unknown one."""
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
        # Output is UTF-8 everywhere, and a file name that isn't must not end the program.
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    with shown_on_terminals(), _plain_warnings():
        return _main(arguments)


@contextmanager
def _plain_warnings() -> Iterator[None]:
    """Shows our own warnings without the line of code that Python adds."""
    shown = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *rest: Any) -> None:
        if issubclass(category, LanguageWarning):
            clear_line()
            sys.stderr.write(f"warning: {message}\n")
        else:
            shown(message, category, *rest)

    warnings.showwarning = show  # type: ignore[assignment]
    try:
        yield
    finally:
        warnings.showwarning = shown


def _main(arguments: Sequence[str] | None) -> int:
    try:
        with _sigterm_as_exception():
            given = sys.argv[1:] if arguments is None else list(arguments)
            parsed = build_parser().parse_args(given, argparse.Namespace(command_line=given))
            status: int = parsed.run(parsed)
            sys.stdout.flush()
            return status
    except FencepostError as error:
        status = EXIT_FAILED if isinstance(error, TrainingError | WorkerError | OutputError) else EXIT_USAGE
        hint = error.hint or (_help(arguments) if status == EXIT_USAGE else None)
        sys.stderr.write(f"error: {_in_lines(error)}\n" + (f"hint: {_in_one_line(hint)}\n" if hint else ""))
        return status
    except LanguageWarning as warning:  # with `python -W error`
        sys.stderr.write(f"error: {warning}\n")
        return EXIT_USAGE
    except TerminatedError:
        return EXIT_SIGNAL + signal.SIGTERM
    except KeyboardInterrupt as interruption:
        sys.stderr.write("interrupted\n" + "".join(f"hint: {hint}\n" for hint in interruption.args))
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The program that reads our output has closed the pipe, as `head` does. That isn't worth a message.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_FAILED
    except OSError as error:
        sys.stderr.write(f"error: {error}\n")
        return EXIT_FAILED


@contextmanager
def _sigterm_as_exception() -> Iterator[None]:
    """Makes SIGTERM, which time limits send, unwind the program as Ctrl-C does. Training handles signals itself."""
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, _exit)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _exit(number: int, _: object) -> NoReturn:
    raise SystemExit(EXIT_SIGNAL + number)


def _in_lines(error: FencepostError) -> str:
    """The message. A line end in the name of a file could make a stranger's text look like a message of ours."""
    one_line = isinstance(error, ConfigError | InputError | ModelError | UsageError)
    return _in_one_line(error.message) if one_line else error.message


def _in_one_line(text: str) -> str:
    return text.replace("\n", "\\n")


def _help(arguments: Sequence[str] | None) -> str:
    """The command that prints the help for these arguments."""
    command = next((word for word in (sys.argv[1:] if arguments is None else arguments) if word in COMMANDS), None)
    return " ".join(filter(None, ("fencepost", command, "--help")))


def _open_closed_streams() -> None:
    """Replaces streams that the shell has closed (``>&-``) by the null device."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115


if __name__ == "__main__":
    raise SystemExit(main())
