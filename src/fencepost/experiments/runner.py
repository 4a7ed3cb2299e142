"""Runs the rows of a table on a treebank: trains what is not trained yet, measures, and writes the table."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Final, Literal

from fencepost.config.settings import Config, PlanConfig
from fencepost.config.toml import load_config
from fencepost.errors import FencepostError, MissingExtraError
from fencepost.experiments.data import Data
from fencepost.experiments.measure import device_name, measure
from fencepost.experiments.models import Model, Models, model_key
from fencepost.experiments.report import Outcome, write_table
from fencepost.experiments.results import Result, Results
from fencepost.experiments.tables import Row, Table
from fencepost.features.lexical_kinds import LEXICAL_KINDS, reads
from fencepost.storage.fingerprint import fingerprint
from fencepost.training.tagging import fold_files, jackknife, tag_fold, tag_unseen, unseen_file

SMOKE: Final = (  # 8 layers, as Table 1 names them, but next to nothing in each
    "encoder.d_model=64",
    "encoder.heads=2",
    "encoder.d_k=16",
    "encoder.d_v=16",
    "encoder.d_ff=64",
    "encoder.lstm_layers=1",
    "char_lstm.size=16",
    "char_concat.size=2",
    "char_attention.size=16",
    "char_attention.layers=1",
    "scorer.hidden=32",
    "train.batch_size=16",
    "train.batch_tokens=2000",
    "train.learning_rate=0.002",
    "train.warmup_batches=10",
    "train.checks_per_epoch=1",
    "train.max_epochs=2",
)
SMOKE_SENTENCES: Final = 160
FOLDS: Final = 10
# Settings of these are for the rows that need them.
OWN_SECTIONS: Final = tuple(kind.name for kind in LEXICAL_KINDS.values() if kind.source)
TIMED: Final = "dev_seconds"  # goes with measures that depend on what else the machine does


class NotDoneError(FencepostError):
    """A row without a result, where nothing is to be trained."""


@dataclass(frozen=True)
class Options:
    """How a table is run."""

    out: Path
    device: str = "cpu"
    seeds: tuple[int, ...] = (1,)
    settings: tuple[str, ...] = ()  # key=value, over those of the table and the row
    tags: Literal["gold", "jackknife"] = "gold"  # what rows with tags read
    smoke: bool = False  # tiny models, few sentences
    command: str = ""  # for the record
    part: str = ""  # of the treebanks, in the names of the tables: several processes may share ``out``
    collect: bool = False  # train nothing: only the rows that are done already


class Shelf:
    """The treebank that was read last, as it is and with predicted tags: tables may share it."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.tagger = load_config("tagger", SMOKE if options.smoke else ())
        self.folds = 2 if options.smoke else FOLDS
        self.work = options.out / "tags"
        self._gold: dict[str, Data] = {}
        self._tagged: dict[str, Data] = {}

    def gold(self, name: str, folder: Path) -> Data:
        if name not in self._gold:
            self._gold = {name: Data.load(folder, name, SMOKE_SENTENCES if self.options.smoke else None)}
        return self._gold[name]

    def tagged(self, gold: Data) -> Data:
        if gold.name not in self._tagged:
            device = self.options.device
            train = jackknife(self.tagger, gold.train, self.folds, self.work, device)
            dev, test = (
                tag_unseen(self.tagger, gold.train, trees, self.work, device) for trees in (gold.dev, gold.test)
            )
            self._tagged = {gold.name: replace(gold, train=train, dev=dev, test=test)}
        return self._tagged[gold.name]

    def parts_to_tag(self, gold: Data) -> list[int]:
        """What is left for ``tag_part`` to do."""
        folds = fold_files(self.tagger, gold.train, self.folds, self.work)
        others = [unseen_file(self.tagger, gold.train, trees, self.work) for trees in (gold.dev, gold.test)]
        parts = [[fold] for fold in folds] + [others]
        return [part for part, files in enumerate(parts) if not all(file.is_file() for file in files)]

    def tag_part(self, gold: Data, part: int) -> None:
        """A share of what ``tagged`` needs: a fold of the training trees or, after the last, the other trees."""
        if part < self.folds:
            tag_fold(self.tagger, gold.train, self.folds, part, self.work, self.options.device)
        else:
            for trees in (gold.dev, gold.test):
                tag_unseen(self.tagger, gold.train, trees, self.work, self.options.device)


class Runner:
    """One table on some treebanks."""

    def __init__(
        self, table: Table, treebanks: Sequence[tuple[str, Path]], options: Options, shelf: Shelf | None = None
    ) -> None:
        self.table = table
        self.options = options
        self.treebanks = list(treebanks) if table.languages else list(treebanks[:1])
        self.models = Models(options.out / "models", options.device)
        self.shelf = shelf or Shelf(options)
        self.results = self._read_results()
        for name, _ in self.treebanks:  # a mistake in the settings shows now, not after hours
            for row in table.rows:
                if not row.best_of and not self._missing(row):
                    self.plan(row, name)

    def run(self) -> list[Outcome]:
        """Every row on every treebank; the table is written anew after each."""
        self.results = self._read_results()  # as the tables run before have left them
        outcomes: list[Outcome] = []
        notes = []
        for name, folder in self.treebanks:
            gold = self.shelf.gold(name, folder)
            sizes = len(gold.train), len(gold.dev), len(gold.test)
            if not self.table.languages:  # elsewhere they have a column
                counts = ", ".join(f"{size:,}" for size in sizes)
                notes.append(f"{name}: `{folder}`; {counts} training, development and test trees.")
            for row in self.table.rows:
                outcomes.append(replace(self._outcome(row, gold), sizes=sizes))
                write_table(self.table, outcomes, self.path, [*notes, *self._notes()])
        return outcomes

    def models_needed(self) -> Iterator[tuple[str, Row, str, int]]:
        """Every row that has a model of its own and is not done: that model's key, the row, the treebank, the seed."""
        for name, folder in self.treebanks:
            gold = self.shelf.gold(name, folder)
            for row in self.table.rows:
                for seed in self.options.seeds if not row.best_of and not self._missing(row) else ():
                    try:
                        key, model, _ = self._keys(row, gold, seed)
                    except FencepostError:
                        continue  # ``run`` will meet it again, and report it with the row
                    if self.results.get(key) is None:
                        yield model, row, name, seed

    def do(self, row: Row, name: str, seed: int) -> None:
        """One row, up to its line in the file of results; without that, where times are measured.

        What a better row of several would be asked for is measured, too: it may be this one.
        """
        gold = self.shelf.gold(name, dict(self.treebanks)[name])
        asked = [self.table.measures_of(each) for each in self.table.rows if each == row or row.name in each.best_of]
        for names in asked:
            if TIMED in names:  # alone, not beside others
                self._trained(row, gold, seed)
            else:
                self._measured(row, gold, seed, names)

    def reads_tags(self) -> bool:
        rows = [row for row in self.table.rows if not row.best_of and not self._missing(row)]
        return any(reads(self.config(row, name, seed=1), "tags") for row in rows for name, _ in self.treebanks)

    @property
    def path(self) -> Path:
        """Where the table goes, without an ending."""
        return self.options.out / ".".join(filter(None, (self.table.name, self.options.part)))

    def config(self, row: Row, language: str, seed: int) -> Config:
        return load_config(self.table.config, self._settings(row, language, seed))

    def plan(self, row: Row, language: str) -> PlanConfig:
        """What a row is run under: its own plan, or that of its training."""
        return load_config(self.table.config, [*self._settings(row, language, seed=1), *row.plan]).eval.plan

    def _settings(self, row: Row, name: str, seed: int) -> list[str]:
        language = language_of(name)
        others = [section for section in OWN_SECTIONS if section != _section(row.needs)]
        given = [each for each in self.options.settings if _section(each) not in others]
        return [
            f"language={language}",
            *self.table.settings,
            *(SMOKE if self.options.smoke else ()),
            *self.table.by_language.get(language, ()),
            *row.settings,
            *given,
            f"train.seed={seed}",
        ]

    def _read_results(self) -> Results:
        return Results(self.options.out / "results.jsonl")

    def _missing(self, row: Row) -> bool:
        return bool(row.needs) and not any(each.startswith(f"{row.needs}=") for each in self.options.settings)

    def _outcome(self, row: Row, gold: Data) -> Outcome:
        if self._missing(row):
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
        """The figures of a row, from the file of results if they are there."""
        key, _, data = self._keys(row, gold, seed, names)
        known = self.results.get(key)
        if known is None and self.options.collect:
            raise NotDoneError("not done yet")
        if known is None:
            model = self._trained(row, gold, seed)
            figures = measure(model, self.plan(row, gold.name), data, names, self.options.device)
            known = self._record(key, row, gold.name, seed, figures, model)
            self.results.add(known)
        return replace(known, table=self.table.name, row=row.name, language=gold.name)

    def _keys(self, row: Row, gold: Data, seed: int, names: Sequence[str] = ()) -> tuple[str, str, Data]:
        """What a result is called, what its model is called, and the trees that they read."""
        names = names or self.table.measures_of(row)
        config, plan = self.config(row, gold.name, seed), self.plan(row, gold.name)
        data = self._data(config, gold)
        model = model_key(config, data.training_fingerprint)
        timed = [self.options.device] if TIMED in names else []
        return fingerprint([model, data.fingerprint, repr(plan), *names, *timed]), model, data

    def _trained(self, row: Row, gold: Data, seed: int) -> Model:
        config = self.config(row, gold.name, seed)
        data = self._data(config, gold)
        return self.models.trained(config, data.train, data.dev, data.training_fingerprint)

    def _best(self, row: Row, gold: Data, seed: int) -> Row:
        """Of several rows the one whose model is best on development data, for this seed."""
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
        """The trees that a model reads: with predicted tags if it reads tags and they are asked for."""
        if not reads(config, "tags") or self.options.tags == "gold":
            return gold
        if self.options.collect and not self.shelf.work.is_dir():
            raise NotDoneError(f"not done yet, or done elsewhere: there are no tags in {self.shelf.work}")
        return self.shelf.tagged(gold)

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


def _section(setting: str) -> str:
    return setting.partition(".")[0]


OTHER_TREEBANKS: Final = (
    "Published numbers are of the SPMRL treebanks. One with a name of its own after the language is another treebank, "
    "and has none beside it."
)
TAG_NOTES: Final = {
    "gold": "Rows with tags read the treebank's own tags, which flatters them: the paper reads predicted ones. "
    "`--tags jackknife` does so, too.",
    "jackknife": "Rows with tags read predicted ones: jackknifed for training data, by a tagger trained on all "
    "training data for development and test data.",
}


def language_of(name: str) -> str:
    """The language of a treebank called ``he`` or ``he/htb``."""
    return name.partition("/")[0]


def failed(outcomes: Sequence[Outcome]) -> bool:
    return any(outcome.problem.startswith("failed") for outcome in outcomes)
