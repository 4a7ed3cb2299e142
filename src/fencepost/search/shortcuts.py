"""Expressions that Tregex takes for lists of labels. Some of them mean something else as expressions.

Tregex compares labels as text where it can: ``/^NP|VP/`` finds labels that begin with NP or with VP, ``/^.$/`` finds
the label ``.``, and a group of such an expression is the whole label. It doesn't with more than eight alternatives,
nor inside chains such as ``<+(/^NP|VP/)``.
"""

from __future__ import annotations

import re
from typing import Final

_ONE_CHARACTER: Final = re.compile(r"\^(.)\$|\^\[(.)\]\$")
_WHOLE_LABELS: Final = re.compile(r"\^\(\?(i?):((?:[-a-zA-Z|]|\\\$)+)\)\$")
_BEGINNINGS: Final = re.compile(r"\^([-a-zA-Z|]+)|\^\(\?:([-a-zA-Z|]+)\)")
_MOST_ALTERNATIVES: Final = 8


def as_tregex_reads(source: str) -> str:
    """An expression that finds what Tregex finds with this one.

    >>> as_tregex_reads("^NP|VP"), as_tregex_reads("^NP$")
    ('^(?:NP|VP)(?s:.*)', '^NP$')
    """
    if found := _ONE_CHARACTER.fullmatch(source):
        return rf"^\x{{{ord(found[1] or found[2]):x}}}$"
    if found := _WHOLE_LABELS.fullmatch(source):
        return _any_of(found[2], f"^(?{found[1]}:%s)$", source)
    if found := _BEGINNINGS.fullmatch(source):
        return _any_of(found[1] or found[2], "^(?:%s)(?s:.*)", source)
    return source


def _any_of(labels: str, form: str, source: str) -> str:
    alternatives = labels.rstrip("|")  # Java's split drops what is empty at the end
    if not alternatives:
        return "(?!)"
    return source if alternatives.count("|") >= _MOST_ALTERNATIVES else form % alternatives
