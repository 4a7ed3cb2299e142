"""What a run is made from: configuration, vocabularies and trees. It can be resumed only if they are the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from fencepost.config.settings import Config
from fencepost.config.toml import config_to_toml, without_later
from fencepost.errors import UsageError
from fencepost.features.vocabularies import Vocabularies
from fencepost.storage.fingerprint import fingerprint
from fencepost.storage.model_folder import ModelFolder
from fencepost.trees.tree import Tree

MAY_CHANGE: Final = ("max_epochs", "max_minutes", "checkpoint_minutes")


@dataclass(frozen=True)
class Provenance:
    """Vocabularies as JSON, the configuration as TOML, and fingerprints of the trees, which old runs didn't store."""

    vocabularies: str
    config: str
    fingerprints: Mapping[str, str]

    @classmethod
    def of(cls, config: Config, vocabularies: Vocabularies, train: Sequence[Tree], dev: Sequence[Tree]) -> Provenance:
        fingerprints = {"training set": fingerprint(map(str, train)), "development set": fingerprint(map(str, dev))}
        return cls(_symbols(vocabularies), config_to_toml(config), fingerprints)

    @classmethod
    def of_model(cls, folder: ModelFolder, fingerprints: Mapping[str, str], *, temperature: float) -> Provenance:
        """What a model was made from. Its temperature is replaced: the model may have been calibrated since."""
        config = replace(folder.config, eval=replace(folder.config.eval, temperature=temperature))
        return cls(_symbols(folder.vocabularies), config_to_toml(config), fingerprints)

    def require(self, now: Provenance, source: Path) -> None:
        """Raises UsageError if anything but a time limit has changed since the run that wrote ``source``."""
        comparisons: list[tuple[str, Any, Any]] = [
            ("training set", self.vocabularies, now.vocabularies),
            ("config", _fixed_lines(self.config), _fixed_lines(now.config)),
            *((name, self.fingerprints[name], now.fingerprints[name]) for name in self.fingerprints),
        ]
        for name, before, after in comparisons:
            if before != after:
                changed = f": now {_new_line(before, after)}" if name == "config" else ""
                raise UsageError(
                    f"{source} was made with a different {name}{changed}",
                    hint="resume with the same configuration, data (in the same order) and --start-from, "
                    "or train into another folder",
                )


def _symbols(vocabularies: Vocabularies) -> str:
    """Without the possible tags, which old runs didn't store."""
    return replace(vocabularies, possible_tags=None).to_json()


def _new_line(before: Sequence[str], after: Sequence[str]) -> str:
    """The first setting that the new configuration has and the old one doesn't, or the other way round."""
    new = [line for line in after if line not in before]
    return new[0] if new else f"without {next(line for line in before if line not in after)}"


def _fixed_lines(config: str) -> list[str]:
    """The settings that must stay the same. Settings that old runs didn't have are left out if at their defaults."""
    return [line for line in without_later(config).splitlines() if not line.startswith(MAY_CHANGE)]
