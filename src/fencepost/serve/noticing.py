"""Notices if the text of a request isn't in the model's language, while its sentences are read."""

from __future__ import annotations

from collections.abc import Iterator

from fencepost.parsing.language_notice import notice
from fencepost.serve.batching import Placed
from fencepost.text.other_language import LanguageWatch, OtherLanguage


class Noticing:
    """Passes the sentences of a request on. ``warnings`` is complete before the last sentence is parsed."""

    def __init__(self, sentences: Iterator[Placed], language: str, model: str) -> None:
        self.warnings: list[str] = []
        self._sentences, self._model = sentences, model
        self._watch = LanguageWatch(language)

    def sentences(self) -> Iterator[Placed]:
        for placed in self._sentences:
            self._note(self._watch.look([token.form for token in placed.sentence.tokens]))
            yield placed
        self._note(self._watch.finish())

    def take_warnings(self) -> list[str]:
        """The warnings that haven't been taken yet."""
        taken, self.warnings = self.warnings, []
        return taken

    def _note(self, found: OtherLanguage | None) -> None:
        if found is not None:
            self.warnings.append(notice(found, self._watch.name, self._model))
