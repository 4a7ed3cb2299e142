"""evalb's parameters, from a .prm file or built in: which labels and words are ignored, and which count as equal."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from fencepost.errors import InputError, UsageError
from fencepost.storage.text_reader import SourceLine, read_lines
from fencepost.trees.brackets import ROOT_SYMBOLS, excerpt_of
from fencepost.trees.tree import unescape


@dataclass(frozen=True)
class ScoreParams:
    """The parameters of an evaluation. Labels and words that count as equal are mapped to one name."""

    deleted: frozenset[str] = frozenset()  # a tag is deleted with its word, a phrase label alone
    deleted_for_length: frozenset[str] = frozenset()  # tags of words that don't make a sentence longer
    quotes: frozenset[str] = frozenset()  # tags of quotation marks, which taggers confuse
    equal_labels: Mapping[str, str] = field(default_factory=dict)
    equal_words: Mapping[str, str] = field(default_factory=dict)
    labeled: bool = True
    cutoff: int = 40  # sentences up to this length also get a total of their own


def load_params(params: str | Path | ScoreParams) -> ScoreParams:
    """The parameters called ``collins``, ``spmrl`` or ``none``, or those in a .prm file."""
    if isinstance(params, ScoreParams):
        return params
    if str(params) in BUILT_IN:
        return BUILT_IN[str(params)]
    if not os.path.exists(params) or os.path.isdir(params):
        raise _missing(params)
    return parse_params(read_lines(params), str(params))


def params_of_model(params: str) -> ScoreParams:
    """``load_params`` for a name in a model's configuration, which may come from a stranger: a pipe isn't read."""
    if params not in BUILT_IN and not os.path.isfile(params):
        raise _missing(params)
    return load_params(params)


def _missing(params: str | Path) -> UsageError:
    return UsageError(f"no parameters or file called {params}", hint=f"use {', '.join(BUILT_IN)}, or a .prm file")


def parse_params(lines: Iterable[SourceLine], source: str = "<text>") -> ScoreParams:
    """Reads a .prm file: one ``KEY value`` per line; lines that start with ``#`` are comments."""
    entries: dict[str, list[list[str]]] = {key: [] for key in _VALUES}
    for text, number in lines:
        fields = text.split()
        if not fields or text.startswith("#"):
            continue
        key, *values = fields
        problem = _problem(key, values)
        if problem:
            raise InputError(problem, source=source, line=number, excerpt=excerpt_of(text), hint=_hint(key))
        entries[key].append(values)
    return ScoreParams(
        deleted=_names(entries["DELETE_LABEL"]),
        deleted_for_length=_names(entries["DELETE_LABEL_FOR_LENGTH"]),
        quotes=_names(entries["QUOTE_LABEL"]),
        equal_labels=_classes(entries["EQ_LABEL"]),
        equal_words=_classes([unescape(word) for word in pair] for pair in entries["EQ_WORD"]),
        labeled=_number(entries["LABELED"], 1) != 0,
        cutoff=_number(entries["CUTOFF_LEN"], 40),
    )


_VALUES: Final = {  # the number of values of each key
    "DEBUG": 1,
    "MAX_ERROR": 1,
    "CUTOFF_LEN": 1,
    "LABELED": 1,
    "DISC_ONLY": 1,
    "DELETE_LABEL": 1,
    "DELETE_LABEL_FOR_LENGTH": 1,
    "QUOTE_LABEL": 1,
    "EQ_LABEL": 2,
    "EQ_WORD": 2,
}
_NUMBERS: Final = ("DEBUG", "MAX_ERROR", "CUTOFF_LEN", "LABELED", "DISC_ONLY")


def _problem(key: str, values: list[str]) -> str | None:
    if key not in _VALUES:
        return f"unknown parameter {excerpt_of(key)}"
    if len(values) != _VALUES[key]:
        return f"{key} takes {_VALUES[key]} value{'s' * (_VALUES[key] > 1)}, got {len(values)}"
    if key in _NUMBERS and not (values[0].isascii() and values[0].isdigit()):
        return f"{key} takes a number"
    if key == "DISC_ONLY" and int(values[0]):
        return "DISC_ONLY would leave nothing to score: bracketed trees have no discontinuous phrases"
    return None


def _hint(key: str) -> str | None:
    if key in _VALUES:
        return None
    nearest = difflib.get_close_matches(key.upper(), _VALUES, 1)
    return f"did you mean {nearest[0]}?" if nearest else f"known: {', '.join(_VALUES)}"


def _names(entries: list[list[str]]) -> frozenset[str]:
    return frozenset(name for (name,) in entries)


def _number(entries: list[list[str]], default: int) -> int:
    return int(entries[-1][0]) if entries else default


def _classes(pairs: Iterable[Iterable[str]]) -> dict[str, str]:
    """Maps each name to the name of its class, which lists all equal names: ``{"PRT": "ADVP|PRT", …}``."""
    classes: dict[str, list[str]] = {}
    for first, second in pairs:
        merged = classes.get(first, [first])
        merged += [name for name in classes.get(second, [second]) if name not in merged]
        for name in merged:
            classes[name] = merged
    return {name: "|".join(members) for name, members in classes.items()}


BUILT_IN: Final = {
    "collins": ScoreParams(
        deleted=frozenset({"TOP", "-NONE-", ",", ":", "``", "''", "."}),
        deleted_for_length=frozenset({"-NONE-"}),
        equal_labels=_classes([("ADVP", "PRT")]),
    ),
    "spmrl": ScoreParams(
        deleted=ROOT_SYMBOLS | {"-NONE-"},
        deleted_for_length=frozenset({"-NONE-"}),
        cutoff=70,
    ),
    "none": ScoreParams(deleted=ROOT_SYMBOLS),
}
