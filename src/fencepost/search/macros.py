"""Macros: texts that patterns use as abbreviations, from a file as Tregex reads it."""

from __future__ import annotations

from pathlib import Path

from fencepost.errors import InputError
from fencepost.storage.text_reader import read_lines


def read_macros(path: str | Path) -> dict[str, str]:
    """Macros from lines with a text, a tab and its replacement. Empty lines and lines that begin with # are skipped."""
    macros: dict[str, str] = {}
    for line, number in read_lines(path):
        text = line.strip("\r\n")
        if not text.strip() or text.startswith("#"):
            continue
        original, tab, replacement = text.partition("\t")
        if not (original and tab and replacement):
            raise InputError("a macro is a name, a tab and its replacement", source=str(path), line=number)
        macros[original] = replacement
    return macros
