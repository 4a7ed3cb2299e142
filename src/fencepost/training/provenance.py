"""What a training run is made of: it can only go on with the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from fencepost.config.toml import without_later
from fencepost.errors import UsageError
from fencepost.storage.fingerprint import fingerprint
from fencepost.trees.tree import Tree

MAY_CHANGE: Final = ("max_epochs", "max_minutes", "checkpoint_minutes")


def tree_fingerprints(train: Sequence[Tree], dev: Sequence[Tree]) -> dict[str, str]:
    return {"training set": fingerprint(map(str, train)), "development set": fingerprint(map(str, dev))}


@dataclass(frozen=True)
class Provenance:
    """Vocabularies as JSON, the configuration as TOML, and digests of the trees, which older runs did not note."""

    vocabularies: str
    config: str
    digests: Mapping[str, str]

    def require(self, now: Provenance, source: Path) -> None:
        """Refuses to go on with what ``source`` holds where anything but a limit of time is another now."""
        was_and_is: list[tuple[str, object, object]] = [
            ("training set", self.vocabularies, now.vocabularies),
            ("config", _lines(self.config), _lines(now.config)),
            *((what, self.digests[what], now.digests[what]) for what in self.digests),
        ]
        for what, before, after in was_and_is:
            if before != after:
                raise UsageError(
                    f"{source} was made with another {what}",
                    hint="resume with the same configuration, data (in the same order) and --start-from, "
                    "or train into another folder",
                )


def _lines(config: str) -> list[str]:
    return [line for line in without_later(config).splitlines() if not line.startswith(MAY_CHANGE)]
