"""Runs the rows of a table on treebanks: trains missing models, measures them, and writes the table."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Final

from fencepost.config.settings import Config
from fencepost.errors import FencepostError, MissingExtraError
from fencepost.experiments.data import Data
from fencepost.experiments.measure import device_name, measure
from fencepost.experiments.models import Model, Models, model_key
from fencepost.experiments.options import Options
from fencepost.experiments.report import Outcome, write_table
from fencepost.experiments.results import Result, Results
from fencepost.experiments.row_config import RowConfigs
from fencepost.experiments.tables import Row, Table
from fencepost.experiments.treebanks import TreebankCache
from fencepost.features.lexical_kinds import reads
from fencepost.storage.fingerprint import fingerprint

TIMED: Final = "dev_seconds"  # tables with this measure are timed, which needs an otherwise idle machine


class NotDoneError(FencepostError):
    """A row has no result, and ``--collect`` forbids training."""


class Runner:
    """Runs one table on some treebanks."""

    def __init__(
        self, table: Table, treebanks: Sequence[tuple[str, Path]], options: Options, cache: TreebankCache | None = None
    ) -> None:
        self.table = table
        self.options = options
        self.configs = RowConfigs(table, options)
        self.treebanks = list(treebanks) if table.languages else list(treebanks[:1])
        self.models = Models(options.out / "models", options.device)
        self.cache = cache or TreebankCache(options)
        self.results = self._read_results()
        for name, _ in self.treebanks:  # report mistakes in the settings now, not after hours
            for row in table.rows:
                if not row.best_of and not self.configs.lacks_setting(row):
                    self.configs.plan(row, name)

    def run(self) -> list[Outcome]:
        """Runs every row on every treebank. The table is rewritten after each."""
        self.results = self._read_results()  # tables that ran before may have added some
        outcomes: list[Outcome] = []
        notes = []
        for name, folder in self.treebanks:
            gold = self.cache.gold(name, folder)
            sizes = len(gold.train), len(gold.dev), len(gold.test)
            if not self.table.languages:  # other tables have a column for sizes
                counts = ", ".join(f"{size:,}" for size in sizes)
                notes.append(f"{name}: `{folder}`; {counts} training, development and test trees.")
            for row in self.table.rows:
                outcomes.append(replace(self._outcome(row, gold), sizes=sizes))
                write_table(self.table, outcomes, self.path, [*notes, *self._notes()])
        return outcomes

    def models_needed(self) -> Iterator[tuple[str, Row, str, int]]:
        """Unfinished rows with a model of their own: the model's key, the row, the treebank, the seed."""
        for name, folder in self.treebanks:
            gold = self.cache.gold(name, folder)
            for row in self.table.rows:
                for seed in self.options.seeds if not row.best_of and not self.configs.lacks_setting(row) else ():
                    try:
                        key, model, _ = self._keys(row, gold, seed)
                    except FencepostError:
                        continue  # ``run`` will meet the same error, and report it with the row
                    if self.results.get(key) is None:
                        yield model, row, name, seed

    def do(self, row: Row, name: str, seed: int) -> None:
        """Trains the model of a row, and stores its results unless they are timed.

        If another row takes the best of several rows, its measures are taken here as well: this row may be the best.
        """
        gold = self.cache.gold(name, dict(self.treebanks)[name])
        asked = [self.table.measures_of(each) for each in self.table.rows if each == row or row.name in each.best_of]
        for names in asked:
            if TIMED in names:  # timed later, when nothing else runs
                self._trained(row, gold, seed)
            else:
                self._measured(row, gold, seed, names)

    def reads_tags(self) -> bool:
        rows = [row for row in self.table.rows if not row.best_of and not self.configs.lacks_setting(row)]
        return any(reads(self.configs.config(row, name, seed=1), "tags") for row in rows for name, _ in self.treebanks)

    @property
    def path(self) -> Path:
        """The path of the table without its suffix."""
        return self.options.out / ".".join(filter(None, (self.table.name, self.options.part)))

    def _read_results(self) -> Results:
        return Results(self.options.out / "results.jsonl")

    def _outcome(self, row: Row, gold: Data) -> Outcome:
        if self.configs.lacks_setting(row):
            return Outcome(row, gold.name, problem=f"skipped: needs `--set {row.needs}=…`")
        results: list[Result] = []
        for seed in self.options.seeds:
            sys.stderr.write(f"{self.table.name}, {row.name}, {gold.name}, seed {seed}\n")
            try:
                results.append(self._result(row, gold, seed))
            except MissingExtraError as error:
                return Outcome(row, gold.name, problem=f"skipped: {error.message}; {error.hint}")
            except NotDoneError as error:
                return Outcome(row, gold.name, tuple(results), error.message)
            except FencepostError as error:
                sys.stderr.write(f"failed: {error.message}\n")
                return Outcome(row, gold.name, tuple(results), f"failed with seed {seed}: {error.message}")
        return Outcome(row, gold.name, tuple(results))

    def _result(self, row: Row, gold: Data, seed: int) -> Result:
        names = self.table.measures_of(row)
        return self._measured(self._best(row, gold, seed) if row.best_of else row, gold, seed, names)

    def _measured(self, row: Row, gold: Data, seed: int, names: Sequence[str]) -> Result:
        """The figures of a row, from the stored results if possible."""
        key, _, data = self._keys(row, gold, seed, names)
        result = self.results.get(key)
        if result is None and self.options.collect:
            raise NotDoneError("not done yet")
        if result is None:
            model = self._trained(row, gold, seed)
            figures = measure(model, self.configs.plan(row, gold.name), data, names, self.options.device)
            result = self._record(key, row, gold.name, seed, figures, model)
            self.results.add(result)
        return replace(result, table=self.table.name, row=row.name, language=gold.name)

    def _keys(self, row: Row, gold: Data, seed: int, names: Sequence[str] = ()) -> tuple[str, str, Data]:
        """The keys of a result and of its model, and the trees that they are about."""
        names = names or self.table.measures_of(row)
        config, plan = self.configs.config(row, gold.name, seed), self.configs.plan(row, gold.name)
        data = self._data(config, gold)
        model = model_key(config, data.training_fingerprint)
        timed = [self.options.device] if TIMED in names else []
        return fingerprint([model, data.fingerprint, repr(plan), *names, *timed]), model, data

    def _trained(self, row: Row, gold: Data, seed: int) -> Model:
        config = self.configs.config(row, gold.name, seed)
        data = self._data(config, gold)
        return self.models.trained(config, data.train, data.dev, data.training_fingerprint)

    def _best(self, row: Row, gold: Data, seed: int) -> Row:
        """The row of ``row.best_of`` whose model is best on development data, for this seed."""
        rows = [self.table.row(name) for name in row.best_of]
        return max(rows, key=lambda each: self._result(each, gold, seed).figures["dev_f1"])

    def _record(self, key: str, row: Row, language: str, seed: int, figures: dict[str, float], model: Model) -> Result:
        return Result(
            key=key,
            table=self.table.name,
            row=row.name,
            language=language,
            seed=seed,
            figures=figures,
            model=model.path.name,
            train_seconds=model.seconds,
            epochs=model.epochs,
            device=device_name(self.options.device),
            date=date.today().isoformat(),
        )

    def _data(self, config: Config, gold: Data) -> Data:
        """The trees that a model reads: with predicted tags if it reads tags and --tags asks for that."""
        if not reads(config, "tags") or self.options.tags == "gold":
            return gold
        if self.options.collect and not self.cache.work.is_dir():
            raise NotDoneError(f"not done yet, or done elsewhere: there are no tags in {self.cache.work}")
        return self.cache.tagged(gold)

    def _notes(self) -> list[str]:
        options = self.options
        notes = [f"{'Collected' if options.collect else 'Run'} by `{options.command}`."] if options.command else []
        if options.smoke:
            notes.append("**A smoke test: tiny models and few sentences. The figures mean nothing.**")
        if self.reads_tags():
            notes.append(TAG_NOTES[options.tags])
        if self.table.languages and any("/" in name for name, _ in self.treebanks):
            notes.append(OTHER_TREEBANKS)
        return notes


OTHER_TREEBANKS: Final = (
    "Published numbers are for the SPMRL treebanks. A treebank called LANGUAGE/NAME is another one and has no "
    "published number."
)
TAG_NOTES: Final = {
    "gold": "Rows with tags read the treebank's own tags, which flatters them: the paper uses predicted ones, "
    "as `--tags jackknife` does.",
    "jackknife": "Rows with tags read predicted ones: jackknifed for training data, by a tagger trained on all "
    "training data for development and test data.",
}


def failed(outcomes: Sequence[Outcome]) -> bool:
    return any(outcome.problem.startswith("failed") for outcome in outcomes)
