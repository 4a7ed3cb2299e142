"""Models with random weights, for measuring speed: as fast as trained ones, and always wrong."""

from __future__ import annotations

from pathlib import Path

import torch
from safetensors.torch import save

from fencepost.backends.torch import vocab_sizes
from fencepost.config.toml import load_config
from fencepost.export.onnx import onnx_graphs
from fencepost.features.vocabularies import Vocabularies
from fencepost.model.build import build_model
from fencepost.parsing.timing import bench_sentences
from fencepost.storage.model_files import WEIGHTS
from fencepost.storage.model_writer import write_model
from fencepost.trees.tree import Leaf, Tree


def write_random_model(config_name: str, folder: Path, *, exported: bool) -> None:
    """Writes a model folder for torch or, if ``exported``, for ONNX Runtime in int8."""
    config = load_config(config_name)
    vocabularies = Vocabularies.of(_trees(), config)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = build_model(config, vocab_sizes(vocabularies)).eval()
    files = onnx_graphs(model, config, "int8") if exported else {WEIGHTS: save(model.state_dict())}
    write_model(folder, config, vocabularies, "# Random weights\n\nFor measuring speed.\n", files)


def _trees() -> list[Tree]:
    """Trees with about as many labels, tags and letters as a treebank has."""
    trees = []
    for number, words in enumerate(bench_sentences()):
        leaves = [Leaf(f"TAG{number % 45}", word) for word in words]
        trees.append(Tree("TOP", [Tree(f"OUTER{number}", [Tree(f"INNER{number}", leaves), leaves[-1]])]))
    return trees
