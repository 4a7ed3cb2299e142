from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.numpy import save_file

from fencepost.config.settings import Config
from fencepost.config.toml import config_from_table
from fencepost.errors import ConfigError, InputError, ModelError
from fencepost.features.batch import Batch
from fencepost.features.vectors import VectorFiles
from fencepost.model.dropout import SharedDropout
from fencepost.model.lexical import Vectors
from fencepost.model.parser_model import TorchBatch
from fencepost.parsing.load import load
from fencepost.training.train import train
from tests.samples import TREES

CAT, SLEEP = np.full((2, 3), 1, np.float32), np.full((1, 3), 2, np.float32)


@pytest.fixture
def files(tmp_path: Path) -> VectorFiles:
    save_file({"The cat": CAT}, tmp_path / "a.safetensors")
    save_file({"Sleep": SLEEP, "It works .": CAT}, tmp_path / "b.safetensors")
    return VectorFiles(str(tmp_path), 3)


def test_sentences_are_found_by_their_words_in_all_files_of_a_folder(files: VectorFiles) -> None:
    names = [files.name(["Sleep"]), files.name(["The", "cat"])]
    assert files.read(names)[:, 0].tolist() == [0, 2, 0, 0, 1, 1, 0]


def test_a_sentence_without_vectors_is_an_error_that_quotes_it(files: VectorFiles) -> None:
    with pytest.raises(InputError, match="no vectors for the sentence 'A dog'"):
        files.name(["A", "dog"])


def test_an_array_of_another_shape_is_an_error_that_says_both(files: VectorFiles) -> None:
    with pytest.raises(InputError, match=r"have shape \[2, 3\], not \[3, 3\]"):
        files.read([files.name(["It", "works", "."])])


def test_a_file_of_something_else_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "vectors").write_text("no vectors")
    with pytest.raises(ModelError, match="can't read vectors"):
        VectorFiles(str(tmp_path / "vectors"), 3)


def test_files_are_opened_again_in_another_process(files: VectorFiles) -> None:
    assert pickle.loads(pickle.dumps(files)).read(["Sleep"]).tolist() == files.read(["Sleep"]).tolist()


def test_start_and_stop_have_learned_vectors() -> None:
    given = np.concatenate([np.zeros((1, 3)), SLEEP, np.zeros((2, 3)), CAT, np.zeros((1, 3))]).astype(np.float32)
    module = Vectors(3, 3, SharedDropout(0.0, True))
    with torch.no_grad():
        module.projection.weight.copy_(torch.eye(3))
        module.ends.copy_(torch.tensor([[5.0] * 3, [7.0] * 3]))
        vectors = module(TorchBatch.of(Batch(lengths=np.array([1, 2]), vectors=given)))
    assert vectors[:, 0].tolist() == [5, 2, 7, 5, 1, 1, 7]


def config_over(path: Path) -> Config:
    table: dict[str, Any] = {
        "lexical": ["vectors"],
        "vectors": {"path": str(path), "size": 3},
        "encoder": {"layers": 1, "d_model": 16, "heads": 2, "d_k": 4, "d_v": 4, "d_ff": 8},
        "scorer": {"hidden": 8},
        "train": {"batch_size": 5, "max_epochs": 1},
    }
    return config_from_table(table)


def test_a_model_is_trained_on_given_vectors_and_parses_sentences_that_were_added(tmp_path: Path) -> None:
    folder = tmp_path / "vectors"
    folder.mkdir()
    random = np.random.default_rng(0)
    arrays = {" ".join(tree.words()): random.random((len(tree.words()), 3), np.float32) for tree in TREES}
    save_file(arrays, folder / "train.safetensors")
    train(config_over(folder), TREES, TREES, tmp_path / "model")
    save_file({"The cat": CAT}, folder / "more.safetensors")
    assert load(tmp_path / "model").parse([["The", "cat"]])[0].words() == ["The", "cat"]


def test_a_configuration_must_name_the_file() -> None:
    with pytest.raises(ConfigError, match=r"vectors\.path is missing"):
        config_from_table({"lexical": ["vectors"]})
