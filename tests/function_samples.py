"""Toy trees whose labels have functions, and models that predict them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final

import torch
from safetensors.torch import save

from fencepost.backends.torch import vocab_sizes
from fencepost.config.settings import Config, PretrainedConfig
from fencepost.features.vocabularies import Vocabularies
from fencepost.model.build import build_model
from fencepost.storage.model_files import WEIGHTS
from fencepost.storage.model_writer import write_model
from fencepost.trees.functions import with_functions
from fencepost.trees.spans import phrases, spans_below_root
from fencepost.trees.tree import Tree
from tests.grammar import toy_trees
from tests.samples import tiny_config

FUNCTIONS: Final = {("NP", "S"): "SBJ", ("PP", "S"): "LOC", ("PP", "VP"): "TMP"}  # of a label under another


def function_trees(count: int, seed: int = 0) -> list[Tree]:
    """Toy trees in which label and parent decide the function."""
    return [
        with_functions(tree, [FUNCTIONS.get((part.label, part.parent)) for part in phrases(spans_below_root(tree))])
        for tree in toy_trees(count, seed)
    ]


def function_config(**train: object) -> Config:
    config = tiny_config(**train)
    return replace(config, scorer=replace(config.scorer, functions=True, function_hidden=16))


def with_words(config: Config) -> Config:
    """The configuration with a pre-trained encoder, whose vectors of words the function scorer reads too."""
    scorer = replace(config.scorer, function_words=True)
    encoder = PretrainedConfig(model="bert", layers="mix", words="mean")
    return replace(config, lexical=("pretrained", *config.lexical), pretrained=encoder, scorer=scorer)


def random_function_model(folder: Path, *, words: bool = False) -> Path:
    """A model with random weights that calls every function probable somewhere."""
    config, trees = function_config(), function_trees(40)
    vocabularies = Vocabularies.of(trees, config)
    if words:
        from tests.pretrained_samples import pretrained_files  # needs transformers

        config, vocabularies = with_words(config), replace(vocabularies, pretrained=pretrained_files())
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        model = build_model(config, vocab_sizes(vocabularies))
        assert model.function_scorer is not None
        torch.nn.init.normal_(model.function_scorer.output.weight)
        torch.nn.init.normal_(model.span_scorer.output.weight)
    write_model(folder, config, vocabularies, "# Random\n", {WEIGHTS: save(model.state_dict())})
    return folder
