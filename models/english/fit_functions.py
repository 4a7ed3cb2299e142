"""Trains the function scorer of a finished model again, and leaves the rest of the model as it is.

    python models/english/fit_functions.py --model MODEL --data DATA --out FOLDER
        [--share masc=3 gum=1 craft=1 business=2] [--steps 3000] [--first 9000] [--vectors VECTORS] [--seed 1]
        [--device cpu]

MODEL is a folder that training or `fencepost export` wrote. FOLDER gets a copy of it, in which only the function scorer
is new: functions.onnx in an export, otherwise the weights in model.safetensors. If the model has a pre-trained encoder,
the new scorer also reads the vectors of first and last words (``scorer.function_words``). DATA comes from `prepare.py
--functions`.

The model reads the first 9,000 training sentences of each treebank once, and the scorer learns from its vectors of the
gold constituents, so this takes minutes on a CPU. With --vectors, the vectors are kept in that folder, and another run
with the same model and sentences doesn't read them again.

The scorer also learns from 1,600 sentences of our own about business (business.py), with the vectors of MASC's.

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
from typing import Final

import numpy as np
import torch
from business import business_sentences
from corpora import TRAINED_ON
from gold import named_numbers
from prepare import PENN, versions
from safetensors.torch import load_file
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
BATCH: Final = 640  # constituents
RATE: Final = 2e-3
WARMUP: Final = 100
DECAY: Final = 0.01
SMOOTHING: Final = 0.05  # the share of the loss that asks for all functions alike, where the treebank allows just one
AVERAGE: Final = 0.998  # weight of the old average of the weights in the new one, in the second half of the steps
DROPOUT: Final = 0.2  # of the hidden layer; half of it for the vectors
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
    arguments = options.parse_args()
    folder = ModelFolder.open(arguments.model)
    if folder.vocabularies.functions is None:
        raise SystemExit(f"{arguments.model} doesn't predict functions")
    with making_model(arguments.out):
        reader = VectorReader(folder, arguments.device, arguments.vectors)
        examples = training_examples(reader, arguments.data, arguments.first)
        for name, part in examples.items():
            print(f"{name}: {len(part):,} constituents", flush=True)
        shares = SHARES | named_numbers(arguments.share)
        scorer = fit(folder, examples, shares, follow=PENN, steps=arguments.steps, seed=arguments.seed)
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

    def __init__(self, scorer: FunctionScorer, treebanks: int) -> None:
        super().__init__()
        self.scorer = scorer
        self.hidden = nn.Embedding(treebanks, scorer.hidden.out_features)
        self.output = nn.Embedding(treebanks, scorer.output.out_features)
        self.vector_dropout, self.dropout = nn.Dropout(DROPOUT / 2), nn.Dropout(DROPOUT)
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
) -> FunctionScorer:
    """A new scorer with the conventions of one treebank. Each step draws constituents by the treebanks' shares."""
    torch.manual_seed(seed)
    draw = np.random.default_rng(seed)
    treebanks = [PENN if name == BUSINESS else name for name in examples]
    names = list(dict.fromkeys(treebanks))
    numbers = np.array([names.index(name) for name in treebanks])
    model = Trained(_new_scorer(folder, next(iter(examples.values()))), len(names))
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, betas=(0.9, 0.98), weight_decay=DECAY)
    average = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(AVERAGE))  # type: ignore[no-untyped-call]
    began, losses = time.monotonic(), 0.0
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = RATE * min(1, (step + 1) / WARMUP) * (1 - step / steps)
        scores, allowed = _batch(model, examples, shares, numbers, draw)
        loss = smooth_loss(scores, allowed).mean()
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


def _new_scorer(folder: ModelFolder, examples: Examples) -> FunctionScorer:
    sizes, hidden = vocab_sizes(folder.vocabularies), folder.config.scorer.function_hidden
    words = 0 if examples.words is None else examples.words.shape[1]
    scorer = FunctionScorer(examples.vectors.shape[1], hidden, sizes.single_labels, sizes.functions, words)
    for table in (scorer.label, scorer.parent):
        nn.init.normal_(table.weight, std=0.1)
    return scorer


def _batch(
    model: Trained,
    examples: Mapping[str, Examples],
    shares: Mapping[str, float],
    numbers: Ints,
    draw: np.random.Generator,
) -> tuple[Tensor, Tensor]:
    """The scores of constituents, drawn by the shares of their sources, and their functions.

    ``numbers`` says which vector each source has in training.
    """
    weights = np.array([shares[name] for name in examples])
    counts = draw.multinomial(BATCH, weights / weights.sum())
    spans, words, labels, parents, allowed = [], [], [], [], []
    for part, count in zip(examples.values(), counts.tolist(), strict=True):
        rows = torch.from_numpy(draw.integers(0, len(part), count))
        spans.append(_spans(part, rows))
        words.append(_words(part, rows))
        labels.append(part.labels[rows])
        parents.append(part.parents[rows])
        allowed.append(part.allowed[rows])
    known = [each for each in words if each is not None]
    treebanks = torch.from_numpy(np.repeat(numbers, counts))
    columns = torch.cat(labels), torch.cat(parents), treebanks
    return model(torch.cat(spans), torch.cat(known) if known else None, *columns), torch.cat(allowed)


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
    with_words = replace(folder.config.scorer, function_words=scorer.words is not None)
    config = replace(folder.config, scorer=with_words)
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
