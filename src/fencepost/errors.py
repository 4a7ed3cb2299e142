"""The errors that fencepost raises. A message says what is wrong and where; its ``hint`` says what to do."""

from __future__ import annotations

import re
from collections.abc import Sequence
from numbers import Integral
from typing import Final

COPY_AGAIN: Final = "copy the whole model folder again"


class FencepostError(Exception):
    """The parent of every error that fencepost raises on purpose. ``hint`` says what to do, if there is more to say.

    >>> from fencepost import Pattern
    >>> try:
    ...     Pattern("NP < (PP")
    ... except FencepostError as error:
    ...     print(error.hint)
    close it with )
    """

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message}\nhint: {self.hint}"

    def __reduce__(self) -> tuple[object, ...]:
        # Worker processes send errors back by pickle, which would drop a keyword-only argument.
        return (_rebuild, (type(self), self.args, self.__dict__))


def _rebuild(kind: type[FencepostError], args: tuple[str], state: dict[str, object]) -> FencepostError:
    error = kind.__new__(kind, *args)
    Exception.__init__(error, *args)
    error.__dict__.update(state)
    return error


class LanguageWarning(UserWarning):
    """The text isn't in the model's language, or there are no rules for splitting text of that language."""


class UsageError(FencepostError):
    """A command or a call with arguments that make no sense."""


def require_choice(name: str, value: object, choices: Sequence[str]) -> None:
    """Raises UsageError unless ``value`` is one of ``choices``."""
    if value not in choices:
        raise UsageError(f"{name} can't be {value!r}", hint=f"use one of {', '.join(choices)}")


def require_whole_number(name: str, value: object, least: int, most: int | None = None) -> None:
    """Raises UsageError unless ``value`` is a whole number from ``least`` to ``most``."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise UsageError(f"{name} must be a whole number, got {value!r:.50}")
    number = int(value)
    if number < least:
        raise UsageError(f"{name} must be at least {least}, got {number}")
    if most is not None and number > most:
        raise UsageError(f"{name} must be at most {most:,}, got {number:,}")


def require_device(name: str) -> None:
    """Raises UsageError unless ``name`` is the name of a device that models run on."""
    if not isinstance(name, str) or not re.fullmatch("cpu|cuda(:[0-9]+)?", name):
        raise UsageError(f"device can't be {name!r}", hint="use cpu, cuda, or a GPU by its number, such as cuda:1")


def require_precision(precision: str, device: str) -> None:
    """Raises UsageError unless models can parse on this device in this precision."""
    require_choice("precision", precision, ("fp32", "bf16"))
    if precision == "bf16" and device == "cpu":
        raise UsageError("bf16 is a precision for GPUs", hint="use device cuda, or leave precision out")


class ConfigError(FencepostError):
    """A configuration with an unknown key, a wrong type or values that contradict each other."""


class ModelError(FencepostError):
    """A model folder that is missing, damaged, or from another version."""


class MissingExtraError(FencepostError):
    """An optional dependency that this call needs is not installed."""

    def __init__(self, package: str, extra: str, what: str) -> None:
        install = f'pip install ".[{extra}]" in a checkout, or "fencepost[{extra}]"'
        super().__init__(f"{what} needs {package}, which is not installed", hint=install)


class TrainingError(FencepostError):
    """Training that can't continue: NaN, out of memory, no training data."""


class TerminatedError(KeyboardInterrupt):
    """SIGTERM, which time limits send, has stopped a run that has saved its work. Ctrl-C is a KeyboardInterrupt."""


class WorkerError(FencepostError):
    """A worker process failed."""


class PatternError(FencepostError):
    """A search pattern that can't be read. ``column`` counts characters of ``pattern`` from 1."""

    def __init__(self, message: str, pattern: str, column: int, *, hint: str | None = None) -> None:
        before = pattern[: column - 1]
        # Escaping keeps the caret below its character, and a line break from moving it.
        shown = [part if part.isprintable() else ascii(part)[1:-1] for part in (before, pattern[column - 1 :])]
        super().__init__(f"column {column}: {message}\n  {''.join(shown)}\n  {' ' * len(shown[0])}^", hint=hint)
        self.problem = message
        self.pattern = pattern
        self.column = column


class InputError(FencepostError):
    """Input that can't be used, with its file and line where they are known."""

    def __init__(
        self,
        message: str,
        *,
        source: str | None = None,
        line: int | None = None,
        excerpt: str | None = None,
        hint: str | None = None,
    ) -> None:
        location = "" if source is None else f"{source}: " if line is None else f"{source}:{line}: "
        quoted = "" if excerpt is None else f": {excerpt}"
        super().__init__(f"{location}{message}{quoted}", hint=hint)
        self.problem = message
        self.source = source
        self.line = line
        self.excerpt = excerpt


class TreeError(InputError):
    """A tree that breaks a rule of the format."""


class UnbalancedError(TreeError):
    """A bracket is never closed, or one closes that was never opened."""


class EmptyNodeError(TreeError):
    """A pair of brackets with nothing in it, or a label with no child and no word."""


class UntaggedLeafError(TreeError):
    """A word that is not the only child of a part-of-speech tag."""


class MissingLabelError(TreeError):
    """A node without a label that is not the root of a tree."""


class ExtraTextError(TreeError):
    """Text outside any bracket."""


class EncodingError(InputError):
    """A file that is not UTF-8, or is not text at all."""


class MismatchError(InputError):
    """Two files, or two columns, that should match but don't."""


class OutputError(FencepostError):
    """Output that can't be written: a full disk, or a folder that is gone."""
