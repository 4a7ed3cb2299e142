"""The configuration of a row, from the table, the language, the row and the user. Later settings win."""

from __future__ import annotations

from typing import Final

from fencepost.config.settings import Config, PlanConfig
from fencepost.config.toml import load_config
from fencepost.experiments.options import SMOKE, Options
from fencepost.experiments.tables import Row, Table
from fencepost.features.lexical_kinds import LEXICAL_KINDS

# Settings of these sections apply only to the rows that need them.
OWN_SECTIONS: Final = tuple(kind.name for kind in LEXICAL_KINDS.values() if kind.source)


class RowConfigs:
    """Configurations for the rows of one table."""

    def __init__(self, table: Table, options: Options) -> None:
        self.table, self.options = table, options

    def config(self, row: Row, treebank: str, seed: int) -> Config:
        return load_config(self.table.config, self._settings(row, treebank, seed))

    def plan(self, row: Row, treebank: str) -> PlanConfig:
        """The attention plan at test time: the row's own, or that of its training."""
        return load_config(self.table.config, [*self._settings(row, treebank, seed=1), *row.plan]).eval.plan

    def _settings(self, row: Row, treebank: str, seed: int) -> list[str]:
        language = language_of(treebank)
        others = [section for section in OWN_SECTIONS if section != _section(row.needs)]
        user_settings = [each for each in self.options.settings if _section(each) not in others]
        return [
            f"language={language}",
            *self.table.settings,
            *(SMOKE if self.options.smoke else ()),
            *self.table.by_language.get(language, ()),
            *row.settings,
            *user_settings,
            f"train.seed={seed}",
        ]

    def lacks_setting(self, row: Row) -> bool:
        """True if the row needs a setting that the user hasn't given, such as the path of an encoder."""
        return bool(row.needs) and not any(each.startswith(f"{row.needs}=") for each in self.options.settings)


def language_of(name: str) -> str:
    """The language of a treebank called ``he`` or ``he/htb``."""
    return name.partition("/")[0]


def _section(setting: str) -> str:
    return setting.partition(".")[0]
