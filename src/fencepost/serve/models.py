"""The models of a server, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from fencepost.errors import UsageError
from fencepost.parsing.load import load
from fencepost.serve.batching import Batcher
from fencepost.serve.failures import InvalidError
from fencepost.serve.settings import Settings
from fencepost.storage.find_model import DEFAULT_MODEL
from fencepost.text.languages import base_language


def names_of(models: tuple[str | None, ...]) -> dict[str, str | None]:
    """The names by which clients ask for models: a folder's is its last part."""
    names: dict[str, str | None] = {}
    for model in models:
        name = DEFAULT_MODEL if model is None else Path(model).name
        if name in names:
            raise UsageError(f"two models are called {name}", hint="rename one of the folders")
        names[name] = model
    return names


class Models:
    """Loads models and runs each in a thread of its own. The first one is the default."""

    def __init__(self, batchers: Mapping[str, Batcher]) -> None:
        self._batchers = dict(batchers)

    @classmethod
    def load(cls, settings: Settings, report: Callable[[BaseException], None]) -> Models:
        parsers = {
            name: load(model, device=settings.device, precision=settings.precision)
            for name, model in names_of(settings.models).items()
        }
        return cls({name: Batcher(parser, settings, report) for name, parser in parsers.items()})

    def find(self, name: str | None, *, functions: bool = False) -> tuple[str, Batcher]:
        """The model that a request asks for. Raises InvalidError if it is missing or can't do the task."""
        name = next(iter(self._batchers)) if name is None else name
        batcher = self._batchers.get(name)
        if batcher is None:
            raise InvalidError(f"no model is called {name[:50]!r}", hint=f"this server has {', '.join(self._batchers)}")
        if functions and batcher.parser.vocabularies.functions is None:
            raise InvalidError(f"the model {name} doesn't predict functions", hint="leave out functions")
        return name, batcher

    def find_language(self, language: str | None) -> Batcher:
        """The first model of a language, by its code; of all, by default. Raises InvalidError if there is none."""
        if language is None:
            return self.find(None)[1]
        known = {base_language(each.parser.text_language): each for each in reversed(self._batchers.values())}
        batcher = known.get(base_language(language))
        if batcher is None:
            hint = f"it has models of {', '.join(sorted(known))}"
            raise InvalidError(f"this server has no model of the language {language[:50]!r}", hint=hint)
        return batcher

    def describe(self) -> list[dict[str, Any]]:
        return [
            {
                "name": name,
                "language": batcher.parser.text_language,
                "functions": batcher.parser.vocabularies.functions is not None,
            }
            for name, batcher in self._batchers.items()
        ]

    def batchers(self) -> Mapping[str, Batcher]:
        return self._batchers

    @property
    def are_ready(self) -> bool:
        return all(batcher.is_ready for batcher in self._batchers.values())

    def close(self) -> None:
        for batcher in self._batchers.values():
            batcher.close()
