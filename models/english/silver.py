"""Raw sentences whose functions two models decide: constituents for the function scorer to learn from.

Treebanks have few sentences about business. Raw text has more. A constituent that a model and a better one, the
teacher, both find comes with the mean of the probabilities that the two give to its functions.
"""

from __future__ import annotations

import gzip
import random
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import torch
from index_text import sentence_of
from vectors import Examples, Halves, VectorReader

from fencepost.backends.onnx import OnnxBackend
from fencepost.backends.torch import TorchBackend
from fencepost.features.batch import Ints
from fencepost.features.batching import pieces
from fencepost.features.constituents import Constituents
from fencepost.features.indexer import Indexer
from fencepost.storage.model_files import ONNX
from fencepost.storage.model_folder import ModelFolder
from fencepost.trees.spans import Span
from fencepost.trees.treebank import Sentence

CHOSEN: Final = {  # the most sentences of each text: about business, and of any kind
    "amalgum": (9_000, 6_000),
    "government": (2_500, 2_000),
    "scotus": (3_000, 1_500),
    "speeches": (4_000, 2_000),
    "books": (4_000, 3_500),
    "common_voice": (500, 1_000),
    "elife": (0, 1_000),
}
SHORTEST, LONGEST = 3, 60  # words
PART: Final = 7_000  # sentences whose constituents are in one file
TOKENS: Final = 4_000  # read at once

BUSINESS_WORDS: Final = re.compile(
    r"\b(company|companies|market|markets|shares?|percent|per cent|billion|million|trade|trading|banks?|stocks?|"
    r"price[sd]?|sales|profits?|investors?|investments?|financial|earnings|contracts?|executives?|chairman|"
    r"president|economy|economic|industry|industries|business|businesses|tax|taxes|debt|interest|workers|employees|"
    r"officials|agency|agreement|quarter|dollars|corporation|firm|firms|loans?|insurance|government|federal|court|"
    r"budget|spokesman|spokeswoman|said)\b",
    re.IGNORECASE,
)
BUSINESS_SIGNS: Final = re.compile("[$%]")


def raw_sentences(texts: Path) -> list[Sentence]:
    """Sentences of open texts, in random order, many of them about business."""
    choice = random.Random("silver")
    lines: list[str] = []
    for name, (about_business, others) in CHOSEN.items():
        with gzip.open(texts / f"{name}.txt.gz", "rt", encoding="utf-8") as file:
            known = [stripped for line in file if (stripped := line.strip())]
        choice.shuffle(known)
        first = [line for line in known if is_about_business(line)][:about_business]
        taken = set(first)
        lines += first + [line for line in known if line not in taken][:others]
    choice.shuffle(lines)
    return [each for each in map(sentence_of, lines) if SHORTEST <= len(each.words) <= LONGEST]


def is_about_business(line: str) -> bool:
    """True if the line has two of the words, or an amount in dollars or percent."""
    words = {word.lower() for word in BUSINESS_WORDS.findall(line)}
    return len(words) > 1 or BUSINESS_SIGNS.search(line) is not None


class Read(NamedTuple):
    """The constituents of the best trees of some sentences."""

    places: Ints  # [C, 4] first and last fencepost, counted through the sentences, label and parent's label
    probabilities: Halves  # [C, functions]


class FunctionLabeller:
    """Finds the trees of sentences with a finished model, and the probabilities of their functions."""

    def __init__(self, folder: ModelFolder, device: str = "cpu", kept: Path | None = None) -> None:
        """``kept`` is a folder for constituents that another run needs again."""
        functions = folder.vocabularies.functions
        assert functions is not None
        self.labels, self.functions, self._kept = folder.vocabularies.labels, functions.symbols, kept
        self._indexer = Indexer(folder.config, folder.vocabularies)
        self._backend = OnnxBackend.load(folder) if folder.has(ONNX) else TorchBackend.load(folder, device)

    def read(self, sentences: Sequence[Sentence], name: str) -> Read:
        """``name`` is that of the file in which the constituents are kept."""
        path = None if self._kept is None else self._kept / f"{name}.npz"
        if path is not None and path.exists():
            with np.load(path) as kept:
                return Read(kept["places"], kept["probabilities"])
        found = self._read(sentences)
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            unfinished = path.with_name(f"unfinished.{path.name}")
            np.savez(unfinished, places=found.places, probabilities=found.probabilities)
            unfinished.replace(path)
        return found

    def _read(self, sentences: Sequence[Sentence]) -> Read:
        lengths = np.array([len(sentence.words) for sentence in sentences])
        first = np.cumsum(lengths + 1) - lengths - 1
        places: list[Ints] = [np.empty((0, 4), np.int64)] * len(sentences)
        probabilities: list[Halves] = [np.empty((0, 0), np.float16)] * len(sentences)
        for group in pieces(lengths.tolist(), TOKENS):
            batch = self._indexer.batch([sentences[place] for place in group])
            parsed = self._backend.launch(batch, functions=True)()
            columns = ([tree.starts.tolist(), tree.ends.tolist(), tree.labels.tolist()] for tree in parsed.trees)
            spans = [
                [Span(start, end, self.labels.chains[label]) for start, end, label in zip(*rows, strict=True)]
                for rows in columns
            ]
            own = Constituents.of(spans, self.labels)
            assert parsed.functions is not None
            found = parsed.functions(own).astype(np.float16)
            bounds = np.searchsorted(own.sentences, np.arange(len(group) + 1))
            for row, place in enumerate(group):
                part = slice(bounds[row], bounds[row + 1])
                posts = own.starts[part] + first[place], own.ends[part] + first[place]
                places[place] = np.stack([*posts, own.labels[part], own.parents[part]], axis=1)
                probabilities[place] = found[part]
        return Read(np.concatenate(places), np.concatenate(probabilities))


def silver_examples(
    reader: VectorReader, model: FunctionLabeller, teacher: FunctionLabeller, sentences: Sequence[Sentence]
) -> list[Examples]:
    """The constituents that both models find, in parts. Labels, parents and vectors are those of the model."""
    if (model.labels.symbols, model.functions) != (teacher.labels.symbols, teacher.functions):
        raise SystemExit("the teacher has other labels or functions than the model")
    parts = [sentences[first : first + PART] for first in range(0, len(sentences), PART)]
    return [_examples(reader, model, teacher, part, f"silver.{number}") for number, part in enumerate(parts)]


def _examples(
    reader: VectorReader, model: FunctionLabeller, teacher: FunctionLabeller, part: Sequence[Sentence], name: str
) -> Examples:
    own, better = model.read(part, f"{name}.model"), teacher.read(part, f"{name}.teacher")
    rows, teachers = shared(own.places, better.places)
    mean = 0.5 * better.probabilities[teachers].astype(np.float32) + 0.5 * own.probabilities[rows].astype(np.float32)
    vectors, words = reader.vectors([sentence.words for sentence in part], name)
    starts, ends, labels, parents = (torch.from_numpy(column) for column in own.places[rows].T.copy())
    functions = torch.from_numpy(mean / mean.sum(axis=1, keepdims=True))
    return Examples(vectors, words, starts, ends, labels, parents, functions)


def shared(ours: Ints, theirs: Ints) -> tuple[Ints, Ints]:
    """The rows of constituents with the same fenceposts and label in both lists, whatever their parents are."""
    rows: dict[tuple[int, ...], list[int]] = {}
    for row, (start, end, label, _) in enumerate(theirs.tolist()):
        rows.setdefault((start, end, label), []).append(row)
    pairs = []
    for row, (start, end, label, _) in enumerate(ours.tolist()):
        if same := rows.get((start, end, label)):
            pairs.append((row, same.pop(0)))
    own, other = np.array(pairs, np.int64).reshape(-1, 2).T
    return own, other
