"""Warns if documents aren't in the model's language: at once if most aren't, and with all counts at the end."""

from __future__ import annotations

import warnings

from fencepost.corpus.part_maker import Part
from fencepost.errors import LanguageWarning
from fencepost.parsing.language_notice import HINT
from fencepost.text.other_language import LanguageWatch


class LanguageReport:
    """The warnings of one run. ``model`` is its model's name, ``language`` the code of its language."""

    def __init__(self, model: str, language: str) -> None:
        self._known = f"the model {model} knows {LanguageWatch(language).name}"
        self._has_warned = False

    def look(self, part: Part) -> None:
        """Warns once, as soon as most documents of a part are in another language: the run may take hours."""
        found = part.other_languages
        if self._has_warned or 2 * sum(found.values()) <= part.documents:
            return
        self._has_warned = True
        most = max(found, key=lambda name: found[name])
        warnings.warn(f"most documents look like {most}; {self._known}\nhint: {HINT}", LanguageWarning, stacklevel=3)

    def sum_up(self, found: dict[str, int], documents: int) -> None:
        if found:
            count = sum(found.values())
            have = "has" if count == 1 else "have"
            by_language = ", ".join(f"{name} {number:,}" for name, number in found.items())
            message = (
                f"{count:,} of {documents:,} documents {have} text in another language ({by_language}); {self._known}"
            )
            warnings.warn(message, LanguageWarning, stacklevel=3)
