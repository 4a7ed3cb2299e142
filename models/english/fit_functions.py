"""Trains the function scorer of a finished model again, and leaves the rest of the model as it is.

    python models/english/fit_functions.py --model MODEL --data DATA --out FOLDER
        [--share masc=3 gum=1 craft=1 business=2] [--steps 3000] [--first 9000] [--vectors VECTORS] [--seed 1]
        [--device cpu] [--teacher TEACHER --texts TEXTS [--raw 28000] [--hidden 320]]

MODEL is a folder that training or `fencepost export` wrote. FOLDER gets a copy of it, in which only the function scorer
is new: functions.onnx in an export, otherwise the weights in model.safetensors. If the model has a pre-trained encoder,
the new scorer also reads the vectors of first and last words (``scorer.function_words``). DATA comes from `prepare.py
--functions`.

The model reads the first 9,000 training sentences of each treebank once, and the scorer learns from its vectors of the
gold constituents, so this takes minutes on a CPU. With --vectors, the vectors are kept in that folder, and another run
with the same model and sentences doesn't read them again.

The scorer also learns from 1,600 sentences of our own about business (business.py), with the vectors of MASC's.

With --teacher, it also learns from raw sentences of the folder TEXTS (silver.py). Each of their constituents has the
mean of the probabilities that TEACHER and the scorer of MODEL give to its functions. So run this first without
--teacher, and then on the result.

GUM and CRAFT have conventions of their own that functions.py can't express. So each treebank has a vector that is added
in training, and the finished scorer keeps that of the treebank that follows Penn's conventions.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import torch
from business import business_sentences
from corpora import TRAINED_ON
from gold import named_numbers
from prepare import PENN, versions
from safetensors.torch import load_file
from silver import FunctionLabeller, raw_sentences, silver_examples
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from vectors import Examples, VectorReader

from fencepost.backends.torch import vocab_sizes
from fencepost.evaluation.functions import FunctionCounts, marked_phrases
from fencepost.export.parser import functions_graph
from fencepost.features.batch import Ints
from fencepost.features.pretrained_files import ENCODER, TOKENIZER
from fencepost.model.loss import function_loss
from fencepost.model.scorer import FunctionScorer
from fencepost.storage.model_files import (
    CARD,
    CHECKSUMS,
    CONFIG,
    FUNCTIONS,
    ONNX,
    VOCABULARIES,
    WEIGHTS,
    listed_files,
)
from fencepost.storage.model_folder import ModelFolder
from fencepost.storage.model_writer import making_model, write_model
from fencepost.training.weights import read_check, read_fingerprints, save_weights
from fencepost.trees.tree import Tree
from fencepost.trees.treebank import Treebank

BUSINESS: Final = "business"  # sentences of our own
WRITTEN: Final = 1_600
SHARES: Final = {"gum": 1.0, "masc": 3.0, "craft": 1.0, BUSINESS: 2.0}
FIRST: Final = 9_000
STEPS: Final = 3_000
RAW: Final = 28_000  # sentences with a teacher's functions
BATCH: Final = 640  # constituents
SILVER: Final = 640  # constituents of raw sentences, in addition
RATE: Final = 2e-3
WARMUP: Final = 100
DECAY: Final = 0.01
SMOOTHING: Final = 0.05  # the share of the loss that asks for all functions alike, where the treebank allows just one
AVERAGE: Final = 0.998  # weight of the old average of the weights in the new one, in the second half of the steps
DROPOUT: Final = 0.2  # of the hidden layer; half of it for the vectors
DROPOUT_WITH_TEXT: Final = 0.1  # if there are raw sentences as well
FACTORS: Final = tuple(percent / 100 for percent in range(50, 251, 5))  # tried for the scores of a finished scorer
REPORTED: Final = 500  # steps between two lines of output
REWRITTEN: Final = (CONFIG, VOCABULARIES, CARD, CHECKSUMS, TOKENIZER, ENCODER)  # by ``write_model`` itself

SCORER: Final = "function_scorer."  # how the names of its weights begin


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--model", type=Path, required=True)
    options.add_argument("--data", type=Path, required=True)
    options.add_argument("--out", type=Path, required=True)
    options.add_argument("--share", nargs="*", default=[], metavar="TREEBANK=SHARE")
    options.add_argument("--steps", type=int, default=STEPS)
    options.add_argument("--first", type=int, default=FIRST, help="only the first N sentences of each treebank")
    options.add_argument("--vectors", type=Path, help="keep the model's vectors in this folder")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--device", default="cpu", help="of a model that isn't an export")
    options.add_argument("--teacher", type=Path, help="a better model, to learn from raw sentences")
    options.add_argument("--texts", type=Path, help="folder of raw sentences, for --teacher")
    options.add_argument("--raw", type=int, default=RAW, help="only the first N raw sentences")
    options.add_argument("--hidden", type=int, help="size of the hidden layer, if not that of MODEL")
    arguments = options.parse_args()
    if (arguments.teacher is None) != (arguments.texts is None):
        raise SystemExit("--teacher and --texts go together")
    folder = ModelFolder.open(arguments.model)
    for path in filter(None, (arguments.model, arguments.teacher)):
        if ModelFolder.open(path).vocabularies.functions is None:
            raise SystemExit(f"{path} doesn't predict functions")
    with making_model(arguments.out):
        reader = VectorReader(folder, arguments.device, arguments.vectors)
        examples = training_examples(reader, arguments.data, arguments.first)
        for name, part in examples.items():
            print(f"{name}: {len(part):,} constituents", flush=True)
        silver: Sequence[Examples] = ()
        if arguments.teacher is not None:
            sentences = raw_sentences(arguments.texts)[: arguments.raw]
            own = FunctionLabeller(folder, arguments.device, arguments.vectors)
            teacher = FunctionLabeller(ModelFolder.open(arguments.teacher), arguments.device, arguments.vectors)
            silver = silver_examples(reader, own, teacher, sentences)
            print(f"raw sentences: {sum(map(len, silver)):,} constituents", flush=True)
        shares = SHARES | named_numbers(arguments.share)
        scorer = fit(
            folder,
            examples,
            shares,
            follow=PENN,
            steps=arguments.steps,
            seed=arguments.seed,
            silver=silver,
            hidden=arguments.hidden,
        )
        for name in TRAINED_ON:
            trees = read_trees(arguments.data, "dev", name, arguments.first)
            part = reader.examples(trees, f"dev.{name}")
            if name == PENN:
                print(f"{name}, development: scores times {calibrate(scorer, part):.2f}", flush=True)
            total = counted(scorer, folder, part, trees).total()
            print(f"{name}, development: F1 {total.f1:.2f} over gold constituents", flush=True)
        write(folder, scorer, arguments.out)


def training_examples(reader: VectorReader, data: Path, first: int) -> dict[str, Examples]:
    """Those of the treebanks, and of as many sentences of our own at most."""
    choice = random.Random("business")
    written = [copy for tree in business_sentences(choice, min(first, WRITTEN)) for copy in versions(tree, choice)]
    trees = {name: read_trees(data, "train", name, first) for name in TRAINED_ON} | {BUSINESS: written}
    return {name: reader.examples(part, f"train.{name}") for name, part in trees.items()}


def read_trees(data: Path, part: str, name: str, first: int) -> list[Tree]:
    return list(Treebank.load(data / f"{part}.{name}.txt"))[:first]


class Trained(nn.Module):
    """A function scorer in training. Treebanks have vectors of their own, in the hidden layer and for the functions."""

    def __init__(self, scorer: FunctionScorer, treebanks: int, dropout: float) -> None:
        super().__init__()
        self.scorer = scorer
        self.hidden = nn.Embedding(treebanks, scorer.hidden.out_features)
        self.output = nn.Embedding(treebanks, scorer.output.out_features)
        self.vector_dropout, self.dropout = nn.Dropout(dropout / 2), nn.Dropout(dropout)
        nn.init.zeros_(self.hidden.weight)
        nn.init.zeros_(self.output.weight)

    def forward(
        self, spans: Tensor, words: Tensor | None, labels: Tensor, parents: Tensor, treebanks: Tensor
    ) -> Tensor:
        """[C, 2 d_model], [C, 2 hidden] -> [C, functions]"""
        scorer = self.scorer
        context = scorer.label(labels) + scorer.parent(parents) + self.hidden(treebanks)
        if scorer.words is not None:
            assert words is not None
            context = context + scorer.words(self.vector_dropout(words))
        hidden = scorer.norm(scorer.hidden(self.vector_dropout(spans)) + context).relu()
        scores: Tensor = scorer.output(self.dropout(hidden)) + self.output(treebanks)
        return scores

    @torch.no_grad()
    def finished(self, treebank: int) -> FunctionScorer:
        """The scorer with the vectors of this treebank."""
        self.scorer.hidden.bias.add_(self.hidden.weight[treebank])
        self.scorer.output.bias.add_(self.output.weight[treebank])
        return self.scorer.eval()


def fit(
    folder: ModelFolder,
    examples: Mapping[str, Examples],
    shares: Mapping[str, float],
    *,
    follow: str,
    steps: int,
    seed: int,
    silver: Sequence[Examples] = (),
    hidden: int | None = None,
) -> FunctionScorer:
    """A new scorer with the conventions of one treebank. Each step draws constituents by the treebanks' shares.

    It also draws some of ``silver``, which have that treebank's conventions, and probabilities for ``allowed``.
    """
    torch.manual_seed(seed)
    draw = np.random.default_rng(seed)
    treebanks = [PENN if name == BUSINESS else name for name in examples]
    names = list(dict.fromkeys(treebanks))
    numbers = np.array([names.index(name) for name in treebanks])
    hidden = hidden or folder.config.scorer.function_hidden
    scorer = _new_scorer(folder, next(iter(examples.values())), hidden)
    model = Trained(scorer, len(names), DROPOUT_WITH_TEXT if silver else DROPOUT)
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, betas=(0.9, 0.98), weight_decay=DECAY)
    average = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(AVERAGE))  # type: ignore[no-untyped-call]
    began, losses = time.monotonic(), 0.0
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = RATE * min(1, (step + 1) / WARMUP) * (1 - step / steps)
        drawn = _drawn(examples, shares, numbers, draw) + _drawn_silver(silver, names.index(follow), draw)
        loss = _losses(model, drawn).mean()
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step >= steps // 2:
            average.update_parameters(model)
        losses += loss.item()
        if (step + 1) % REPORTED == 0:
            print(f"step {step + 1}: loss {losses / REPORTED:.4f}, {time.monotonic() - began:.0f} s", flush=True)
            losses = 0.0
    trained = average.module
    assert isinstance(trained, Trained)
    return trained.finished(names.index(follow))


def smooth_loss(scores: Tensor, allowed: Tensor) -> Tensor:
    """``function_loss``, smoothed where exactly one function is allowed. [C]"""
    loss = function_loss(scores, allowed)
    certain = allowed.sum(dim=1) == 1
    return torch.where(certain, (1 - SMOOTHING) * loss - SMOOTHING * scores.log_softmax(dim=1).mean(dim=1), loss)


def soft_loss(scores: Tensor, probabilities: Tensor) -> Tensor:
    """The cross-entropy between a teacher's functions and the scorer's. [C]"""
    return -(probabilities * scores.log_softmax(dim=1)).sum(dim=1)


def _new_scorer(folder: ModelFolder, examples: Examples, hidden: int) -> FunctionScorer:
    sizes = vocab_sizes(folder.vocabularies)
    words = 0 if examples.words is None else examples.words.shape[1]
    scorer = FunctionScorer(examples.vectors.shape[1], hidden, sizes.single_labels, sizes.functions, words)
    for table in (scorer.label, scorer.parent):
        nn.init.normal_(table.weight, std=0.1)
    return scorer


class Drawn(NamedTuple):
    """Some constituents of one source, and which vector the source has in training."""

    examples: Examples
    rows: Tensor
    treebank: int


def _drawn(
    examples: Mapping[str, Examples], shares: Mapping[str, float], numbers: Ints, draw: np.random.Generator
) -> list[Drawn]:
    """Constituents of each source, by the shares. ``numbers`` says which vector each source has."""
    weights = np.array([shares[name] for name in examples])
    counts = draw.multinomial(BATCH, weights / weights.sum()).tolist()
    each = zip(examples.values(), counts, numbers.tolist(), strict=True)
    return [Drawn(part, torch.from_numpy(draw.integers(0, len(part), count)), number) for part, count, number in each]


def _drawn_silver(silver: Sequence[Examples], treebank: int, draw: np.random.Generator) -> list[Drawn]:
    if not silver:
        return []
    sizes = np.array([len(part) for part in silver])
    counts = draw.multinomial(SILVER, sizes / sizes.sum()).tolist()
    each = zip(silver, counts, strict=True)
    return [Drawn(part, torch.from_numpy(draw.integers(0, len(part), count)), treebank) for part, count in each]


def _losses(model: Trained, drawn: Sequence[Drawn]) -> Tensor:
    """The loss of each constituent. [C]"""
    words = [each for each in (_words(part, rows) for part, rows, _ in drawn) if each is not None]
    scores = model(
        torch.cat([_spans(part, rows) for part, rows, _ in drawn]),
        torch.cat(words) if words else None,
        torch.cat([part.labels[rows] for part, rows, _ in drawn]),
        torch.cat([part.parents[rows] for part, rows, _ in drawn]),
        torch.cat([torch.full_like(rows, treebank) for _, rows, treebank in drawn]),
    )
    losses = []
    for own, (part, rows, _) in zip(scores.split([len(each.rows) for each in drawn]), drawn, strict=True):
        allowed = part.allowed[rows]
        losses.append(smooth_loss(own, allowed) if allowed.dtype == torch.bool else soft_loss(own, allowed))
    return torch.cat(losses)


def _spans(examples: Examples, rows: Tensor) -> Tensor:
    ends = examples.starts[rows], examples.ends[rows]
    return torch.cat([examples.vectors[posts] for posts in ends], dim=1).float()


def _words(examples: Examples, rows: Tensor) -> Tensor | None:
    """Those of the first and the last word of each constituent."""
    if examples.words is None:
        return None
    ends = examples.starts[rows], examples.ends[rows] - 1
    return torch.cat([examples.words[posts] for posts in ends], dim=1).float()


@torch.inference_mode()
def counted(scorer: FunctionScorer, folder: ModelFolder, examples: Examples, trees: Sequence[Tree]) -> FunctionCounts:
    """The scores of the functions of gold constituents."""
    best = _scores(scorer, examples).argmax(dim=1).tolist()
    assert folder.vocabularies.functions is not None
    names = (None, *folder.vocabularies.functions.symbols)
    found = iter(best)
    counts = FunctionCounts()
    for tree in trees:
        marked = marked_phrases(tree)
        counts.add(marked, [(phrase, names[next(found)]) for phrase, _ in marked])
    return counts


@torch.inference_mode()
def calibrate(scorer: FunctionScorer, examples: Examples) -> float:
    """Multiplies the scores by the factor with which the allowed functions are most probable; returns it.

    Smoothing and dropout keep a scorer from being as sure as it could be.
    """
    scores = _scores(scorer, examples)
    factor = min(FACTORS, key=lambda factor: function_loss(factor * scores, examples.allowed).sum().item())
    scorer.output.weight.mul_(factor)
    scorer.output.bias.mul_(factor)
    return factor


@torch.inference_mode()
def _scores(scorer: FunctionScorer, examples: Examples) -> Tensor:
    parts = torch.split(torch.arange(len(examples)), BATCH)
    return torch.cat([_scores_of(scorer, examples, rows) for rows in parts])


def _scores_of(scorer: FunctionScorer, examples: Examples, rows: Tensor) -> Tensor:
    context = scorer.label(examples.labels[rows]) + scorer.parent(examples.parents[rows])
    words = _words(examples, rows)
    if scorer.words is not None and words is not None:
        context = context + scorer.words(words)
    hidden = scorer.norm(scorer.hidden(_spans(examples, rows)) + context).relu()
    scores: Tensor = scorer.output(hidden)
    return scores


def write(folder: ModelFolder, scorer: FunctionScorer, out: Path) -> None:
    """Writes a copy of the model with this scorer."""
    files = {name: (folder.path / name).read_bytes() for name in listed_files(folder.path) if name not in REWRITTEN}
    card = (folder.path / CARD).read_text("utf-8")
    hidden = scorer.hidden.out_features
    changed = replace(folder.config.scorer, function_hidden=hidden, function_words=scorer.words is not None)
    config = replace(folder.config, scorer=changed)
    if folder.has(ONNX):
        files[FUNCTIONS] = functions_graph(scorer)
        write_model(out, config, folder.vocabularies, card, files)
        return
    weights = load_file(folder.path / WEIGHTS)
    weights = {name: tensor for name, tensor in weights.items() if not name.startswith(SCORER)}
    weights |= {SCORER + name: tensor for name, tensor in scorer.state_dict().items()}
    check, fingerprints = read_check(folder.path), read_fingerprints(folder.path)
    save_weights(out, config, folder.vocabularies, card, weights, check, fingerprints)


if __name__ == "__main__":
    main()
