"""Warns once if a parser's sentences aren't in the language of its model."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Iterator
from functools import cached_property
from threading import Lock
from typing import Final

from fencepost.errors import LanguageWarning
from fencepost.text.other_language import LanguageWatch, OtherLanguage
from fencepost.trees.treebank import Sentence

HINT: Final = "use a model for the language of the text (`fencepost models` lists the installed ones)"


def notice(found: OtherLanguage, known: str | None, model: str | None) -> str:
    """The message. ``known``: the language of the model, whose name is ``model``."""
    text = "part of the text" if found.is_part else "the text"
    return f"{text} looks like {found.name}; {f'the model {model}' if model else 'the model'} knows {known}"


class LanguageNotice:
    """Looks at the sentences of a parser. It warns once, whatever the number of calls and threads."""

    def __init__(self, language: str, model: str | None) -> None:
        self._language, self._model = language, model
        self._lock = Lock()
        self._has_warned = False

    @cached_property
    def _watch(self) -> LanguageWatch:
        """Made with the first sentence: its words take milliseconds to read, and worker processes never need them."""
        return LanguageWatch(self._language)

    @property
    def knows_language(self) -> bool:
        """False if we have no list of words for the model's language: then nothing can be noticed."""
        return self._watch.name is not None

    def watched(self, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        """The sentences of one input, to its end."""
        for sentence in sentences:
            self.look(sentence)
            yield sentence
        self.finish()

    def look(self, sentence: Sentence) -> None:
        if found := self._watch.look(sentence.words):
            self._warn(found)

    def finish(self) -> None:
        """The input ends, so this is the last chance to warn about it."""
        if found := self._watch.finish():
            self._warn(found)

    def _warn(self, found: OtherLanguage) -> None:
        with self._lock:
            if self._has_warned:
                return
            self._has_warned = True
        message = f"{notice(found, self._watch.name, self._model)}\nhint: {HINT}"
        warnings.warn(message, LanguageWarning, stacklevel=_callers_level())


def _callers_level() -> int:
    """The ``stacklevel`` of the code that called fencepost, seen from the function that calls this one."""
    level, frame = 1, sys._getframe(1)
    while (outer := frame.f_back) is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "fencepost":
        level, frame = level + 1, outer
    return level
