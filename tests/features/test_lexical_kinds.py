"""The table of lexical kinds, and everything that has to know each of them."""

from __future__ import annotations

import dataclasses
import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Final, get_args

import numpy as np
import pytest
import torch
from safetensors.numpy import save_file
from safetensors.torch import save

from fencepost.backends.exported_weights import TOKEN_WEIGHTS, WORD_WEIGHTS
from fencepost.backends.onnx import OnnxBackend
from fencepost.backends.torch import TorchBackend, vocab_sizes
from fencepost.config.settings import Config, LexicalKind, PretrainedConfig, VectorsConfig
from fencepost.errors import ConfigError, UsageError
from fencepost.export.letters import WORD_VECTORS
from fencepost.export.onnx import export_onnx
from fencepost.export.parser import TOKEN_VECTORS
from fencepost.features.batch import Batch
from fencepost.features.indexer import Indexer
from fencepost.features.lexical_kinds import LETTERS, LEXICAL_KINDS, SUBWORDS, LexicalTraits, Reads, graphs, reads
from fencepost.features.vocabularies import Vocabularies
from fencepost.model.build import build_model
from fencepost.storage.model_files import ONNX, SPANS, WEIGHTS
from fencepost.storage.model_folder import ModelFolder
from fencepost.storage.model_writer import write_model
from fencepost.training.start import require_same_form
from fencepost.trees.treebank import Sentence
from tests.model.model_samples import small_config
from tests.pretrained_samples import pretrained_files
from tests.samples import TREES, marked
from tests.test_imports import HEAVY, modules_after

SENTENCES: Final = [Sentence.of(tree) for tree in TREES]
IN_BATCH: Final[Mapping[Reads, str]] = {
    "words": "words",
    "tags": "tags",
    "letters": "spellings",
    "subwords": "subwords",
    "vectors": "vectors",
    "treebanks": "treebanks",
}
kinds = pytest.mark.parametrize("kind", LEXICAL_KINDS.values(), ids=LEXICAL_KINDS)


@pytest.fixture
def vectors(tmp_path: Path) -> Path:
    """Vectors of five numbers for the words of all sentences."""
    generator = np.random.default_rng(0)
    arrays = {" ".join(s.words): generator.normal(size=(len(s), 5)).astype(np.float32) for s in SENTENCES}
    save_file(arrays, tmp_path / "vectors.safetensors")
    return tmp_path / "vectors.safetensors"


def config_of(kind: LexicalKind, vectors: Path) -> Config:
    return dataclasses.replace(
        small_config(),
        lexical=(kind,),
        pretrained=PretrainedConfig(model="small", overlap=6),
        vectors=VectorsConfig(str(vectors), size=5),
    )


def vocabularies_of(kind: LexicalTraits) -> Vocabularies:
    """``Vocabularies.of`` would look for the encoder."""
    if kind.reads == "treebanks":
        both = [marked(tree, name) for name in ("one", "two") for tree in TREES]
        return Vocabularies.of(both, small_config(("treebank",)))
    found = Vocabularies.of(TREES, small_config())
    return dataclasses.replace(found, pretrained=pretrained_files()) if kind.reads == "subwords" else found


def write_folder(path: Path, kind: LexicalTraits, config: Config) -> ModelFolder:
    vocabularies = vocabularies_of(kind)
    torch.manual_seed(1)
    weights = save(build_model(config, vocab_sizes(vocabularies)).state_dict())
    write_model(path, config, vocabularies, "a card\n", {WEIGHTS: weights})
    return opened(path, kind)


def opened(path: Path, kind: LexicalTraits) -> ModelFolder:
    return ModelFolder.open(path, "one" if kind.reads == "treebanks" else None)


def test_the_table_has_the_kinds_of_the_configuration() -> None:
    assert tuple(LEXICAL_KINDS) == tuple(kind.name for kind in LEXICAL_KINDS.values())
    assert sorted(LEXICAL_KINDS) == sorted(get_args(LexicalKind))


def test_reading_the_table_pulls_in_nothing_heavy() -> None:
    assert not modules_after("import fencepost.features.lexical_kinds") & HEAVY


@kinds
def test_the_settings_that_the_table_names_exist(kind: LexicalTraits) -> None:
    section = {field.name for field in dataclasses.fields(getattr(Config(), kind.name))}
    assert section >= {*kind.not_in_weights, *([kind.source] if kind.source else [])}


@pytest.mark.parametrize("kind", [kind for kind in LEXICAL_KINDS.values() if kind.source], ids=lambda kind: kind.name)
def test_the_configuration_asks_for_the_files_of_a_kind(kind: LexicalTraits) -> None:
    with pytest.raises(ConfigError, match=f"{kind.name}.{kind.source} is missing"):
        Config(lexical=(kind.name,))


@kinds
def test_a_batch_holds_what_the_kind_reads_and_nothing_else(kind: LexicalTraits, vectors: Path) -> None:
    batch = Indexer(config_of(kind.name, vectors), vocabularies_of(kind)).batch(SENTENCES)
    held = {what for what, field in IN_BATCH.items() if getattr(batch, field) is not None}
    assert held == {kind.reads}


@kinds
def test_sentences_indexed_for_later_give_the_batches_of_sentences_read_at_once(
    kind: LexicalTraits, vectors: Path
) -> None:
    indexer = Indexer(config_of(kind.name, vectors), vocabularies_of(kind))
    chosen = [3, 0, 9, 3, 5]
    indexed = indexer.index(SENTENCES)
    expected = indexer.batch([SENTENCES[index] for index in chosen])
    for sentences in (indexed, pickle.loads(pickle.dumps(indexed))):
        batch = sentences.batch(chosen)
        for field in dataclasses.fields(Batch):
            np.testing.assert_array_equal(getattr(batch, field.name), getattr(expected, field.name), strict=True)


@kinds
def test_the_builder_has_a_class_for_the_kind_that_opens_with_its_section(kind: LexicalTraits, vectors: Path) -> None:
    model = build_model(config_of(kind.name, vectors), vocab_sizes(vocabularies_of(kind)))
    (module,) = model.lexical.representations
    assert (module.__doc__ or "").startswith(kind.section)


@kinds
def test_the_kind_is_exported_or_refused(tmp_path: Path, kind: LexicalTraits, vectors: Path) -> None:
    folder = write_folder(tmp_path / "model", kind, config_of(kind.name, vectors))
    if not kind.exportable:
        with pytest.raises(UsageError, match=f"a model that reads {kind.reads} can't be exported yet"):
            export_onnx(folder.path, tmp_path / "out")
        return
    export_onnx(folder.path, tmp_path / "out")
    exported = opened(tmp_path / "out", kind)
    written = {path.name for path in exported.path.iterdir() if path.suffix == ".onnx"}
    assert written == {ONNX, SPANS, *graphs(folder.config)}
    batch = Indexer(exported.config, exported.chosen_vocabularies).batch(SENTENCES)
    expected = TorchBackend.load(folder).score(batch).spans.packed()
    np.testing.assert_allclose(OnnxBackend.load(exported).score(batch).spans.packed(), expected, atol=1e-4)
    np.testing.assert_allclose(TorchBackend.load(exported).score(batch).spans.packed(), expected, atol=1e-4)


def test_every_kind_that_can_be_exported_has_a_function_for_it() -> None:
    exportable = {kind.name for kind in LEXICAL_KINDS.values() if kind.exportable}
    assert TOKEN_VECTORS.keys() | WORD_VECTORS.keys() == exportable
    assert TOKEN_VECTORS.keys() == TOKEN_WEIGHTS.keys()  # and one that reads its weights back
    assert WORD_VECTORS.keys() == WORD_WEIGHTS.keys()
    assert all(LEXICAL_KINDS[name].reads == "letters" for name in WORD_VECTORS)


def test_a_graph_that_two_kinds_share_is_named_once_and_letters_come_first() -> None:
    lexical: tuple[LexicalKind, ...] = ("pretrained", "char_concat", "words", "char_lstm")
    config = dataclasses.replace(small_config(lexical[1:]), lexical=lexical, pretrained=PretrainedConfig(model="small"))
    assert graphs(config) == [LETTERS, SUBWORDS]
    assert graphs(small_config(("words", "tags"))) == []


def test_a_model_reads_what_any_of_its_kinds_reads() -> None:
    config = small_config(("words", "char_concat"))
    assert [what for what in IN_BATCH if reads(config, what)] == ["words", "letters"]


# Another value for every setting but dropout: of those that weights depend on, and of the others.
IN_WEIGHTS: Final[dict[LexicalKind, dict[str, object]]] = {
    "words": {},
    "tags": {},
    "char_lstm": {"size": 8},
    "char_concat": {"size": 1, "letters": 4},
    "char_attention": {"size": 16, "layers": 3, "heads": 4},
    "pretrained": {"layers": "mix", "words": "mean"},
    "vectors": {"size": 7},
    "treebank": {},
}
NOT_IN_WEIGHTS: Final[dict[LexicalKind, dict[str, object]]] = {
    "words": {"min_count": 3},
    "pretrained": {
        "model": "other", "frozen": True, "learning_rate": 0.5, "window": 64, "overlap": 7, "mask": 0.25,
    },
    "vectors": {"path": "other"},
}  # fmt: skip


@kinds
def test_training_on_may_change_only_settings_that_are_not_in_the_weights(
    tmp_path: Path, kind: LexicalTraits, vectors: Path
) -> None:
    config = config_of(kind.name, vectors)
    folder = write_folder(tmp_path / "model", kind, config)
    section = getattr(config, kind.name)
    fixed, free = IN_WEIGHTS[kind.name], NOT_IN_WEIGHTS.get(kind.name, {})
    dropouts = {field.name: 0.5 for field in dataclasses.fields(section) if "dropout" in field.name}
    assert {field.name for field in dataclasses.fields(section)} == {*fixed, *free, *dropouts}
    require_same_form(folder, _with(config, kind, free | dropouts))
    for name in fixed:
        # Half as large letters come with twice as many: together they fill the content vector.
        changes = fixed if kind.name == "char_concat" else {name: fixed[name]}
        with pytest.raises(UsageError, match=f"its {kind.name}.{next(iter(changes))} is"):
            require_same_form(folder, _with(config, kind, changes))


def _with(config: Config, kind: LexicalTraits, settings: dict[str, object]) -> Config:
    section = dataclasses.replace(getattr(config, kind.name), **settings)
    return dataclasses.replace(config, **{kind.name: section})
