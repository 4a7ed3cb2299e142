"""Converts benepar models to model folders: the same trees, without benepar, and without running code from a file."""

from __future__ import annotations

import json
import pickle
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import torch
from torch import Tensor

from fencepost.backends.torch import vocab_sizes
from fencepost.config.settings import CharLSTMConfig, Config, EncoderConfig, EvalConfig, PretrainedConfig, ScorerConfig
from fencepost.errors import ModelError
from fencepost.features.pretrained_files import PretrainedFiles, encoder_settings, tokenizer_of
from fencepost.features.vocab import Labels, Vocab
from fencepost.features.vocabularies import LETTER_MARKS, TOKEN_MARKS, Vocabularies
from fencepost.integrations import benepar_weights
from fencepost.model.build import build_model
from fencepost.storage.model_writer import require_new
from fencepost.training.weights import save_weights
from fencepost.trees.brackets import DEFAULT_ROOT

WEIGHTS, ENCODER = "benepar_model.bin", "config.json"  # in an exported folder
_CUT_BLANKS: Final = ("Strip", "WhitespaceSplit")  # steps of a tokenizer
CHAIN: Final = "::"  # between the labels of a unary chain
UNKNOWN, SENTENCE_START, WORD_START, WORD_STOP, SENTENCE_STOP = "\0\1\2\3\4"
MARKS: Final = (UNKNOWN, WORD_START, WORD_STOP, SENTENCE_START, SENTENCE_STOP)  # in our order, after padding


@dataclass(frozen=True)
class Checkpoint:
    """A benepar model: vocabularies (symbol to number), settings, and weights in fp32."""

    tags: Mapping[str, int]
    labels: Mapping[str, int]
    letters: Mapping[str, int]  # empty if the model reads no letters
    settings: Mapping[str, Any]
    weights: Mapping[str, Tensor]
    pretrained: PretrainedFiles | None = None

    @classmethod
    def of(
        cls, config: Mapping[str, Any], weights: Mapping[str, Tensor], pretrained: PretrainedFiles | None = None
    ) -> Checkpoint:
        return cls(
            tags=config["tag_vocab"],
            labels=config["label_vocab"],
            letters=config["char_vocab"] or {},
            settings=config["hparams"],
            pretrained=pretrained,
            weights={
                name: tensor.float() if tensor.is_floating_point() else tensor for name, tensor in weights.items()
            },
        )


def import_benepar(path: str | Path, out: str | Path, language: str = "en") -> None:
    """Reads a benepar model (a file, an exported folder, or a zip file of one) and writes a model folder."""
    path = Path(path)
    require_new(Path(out))
    try:
        checkpoint = read_checkpoint(path)
        config, vocabularies = _config(checkpoint, language), _vocabularies(checkpoint)
        weights = _fitting(_weights(checkpoint), config, vocabularies)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ModelError(f"{path}: not a benepar model: {type(error).__name__}: {error}") from error
    save_weights(Path(out), config, vocabularies, _card(path), weights)


def read_checkpoint(path: Path) -> Checkpoint:
    if path.is_dir():
        return _read_folder(path)
    if not zipfile.is_zipfile(path):
        return _read_file(path)
    with zipfile.ZipFile(path) as archive, TemporaryDirectory() as scratch:
        configs = [name for name in archive.namelist() if Path(name).name == ENCODER]
        if not configs:  # torch writes zip files, too
            return _read_file(path)
        archive.extractall(scratch)
        return _read_folder((Path(scratch) / configs[0]).parent)


def _read_file(path: Path) -> Checkpoint:
    """Reads a model that was never exported: it only names its encoder, which must be in the Hugging Face cache."""
    saved = _load(path)
    settings = saved["config"]["hparams"]
    files = PretrainedFiles.of(settings["pretrained_model"]) if settings.get("use_pretrained") else None
    return Checkpoint.of(saved["config"], saved["state_dict"], files)


def _read_folder(path: Path) -> Checkpoint:
    weights = _load(path / WEIGHTS)
    config = json.loads((path / ENCODER).read_text("utf-8"))
    files = PretrainedFiles(_with_last_blank(tokenizer_of(path)), encoder_settings(config))
    return Checkpoint.of(config["benepar"], weights, files)


def _with_last_blank(tokenizer: str) -> str:
    """Makes SentencePiece keep a final blank as a sub-token, as it did for benepar; later versions cut it off."""
    table = json.loads(tokenizer)
    if table["model"]["type"] != "Unigram":
        return tokenizer
    for step, parts in (("normalizer", "normalizers"), ("pre_tokenizer", "pretokenizers")):
        if table[step] and parts in table[step]:
            table[step][parts] = [part for part in table[step][parts] if part["type"] not in _CUT_BLANKS]
    return json.dumps(table, ensure_ascii=False)


def _load(path: Path) -> Any:
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except OSError as error:
        raise ModelError(f"{path}: {error.strerror or error}") from error
    except (pickle.UnpicklingError, RuntimeError, EOFError) as error:
        hint = "give the file or folder that benepar's training wrote"
        raise ModelError(f"{path}: not a weights file that can be read safely", hint=hint) from error


def _config(checkpoint: Checkpoint, language: str) -> Config:
    settings = checkpoint.settings
    return Config(
        lexical=("char_lstm",) if checkpoint.pretrained is None else ("pretrained",),
        language=language,
        plain_quotes=True,
        eval=EvalConfig(longest=settings["encoder_max_len"]),  # the same trees as benepar, up to its longest sentence
        pretrained=PretrainedConfig(model=settings["pretrained_model"] if checkpoint.pretrained else ""),
        char_lstm=CharLSTMConfig(
            size=settings["d_char_emb"],
            dropout=settings["morpho_emb_dropout"],
            input_dropout=settings["char_lstm_input_dropout"],
        ),
        encoder=EncoderConfig(
            layers=_layers(checkpoint),
            d_model=settings["d_model"],
            heads=settings["num_heads"],
            d_k=settings["d_kv"],
            d_v=settings["d_kv"],
            d_ff=settings["d_ff"],
            max_length=settings["encoder_max_len"],
            attention_dropout=settings["attention_dropout"],
            relu_dropout=settings["relu_dropout"],
            residual_dropout=settings["residual_dropout"],
        ),
        scorer=ScorerConfig(
            hidden=settings["d_label_hidden"],
            predict_tags=_predicts_tags(checkpoint),
            tag_hidden=settings["d_tag_hidden"] or ScorerConfig.tag_hidden,
            force_root=settings.get("force_root_constituent", True),
        ),
    )


def _layers(checkpoint: Checkpoint) -> int:
    layers: int = checkpoint.settings["num_layers"]
    return layers if checkpoint.settings["use_encoder"] else 0


def _predicts_tags(checkpoint: Checkpoint) -> bool:
    return "f_tag.0.weight" in checkpoint.weights


def _vocabularies(checkpoint: Checkpoint) -> Vocabularies:
    labels = _by_number(checkpoint.labels)
    return Vocabularies(
        labels=Labels(tuple(tuple(label.split(CHAIN)) if label else () for label in labels)),
        words=Vocab((), (), TOKEN_MARKS),
        tags=_vocab(_by_number(checkpoint.tags), TOKEN_MARKS),
        letters=_vocab(_letters(checkpoint), LETTER_MARKS),
        root=DEFAULT_ROOT,
        pretrained=checkpoint.pretrained,
    )


def _weights(checkpoint: Checkpoint) -> dict[str, Tensor]:
    theirs = checkpoint.weights
    layers = _layers(checkpoint)
    if checkpoint.pretrained is None:
        rows = [checkpoint.letters[letter] for letter in (*MARKS, *_letters(checkpoint))]
        ours = dict(benepar_weights.letters(theirs, rows))
    else:
        ours = dict(benepar_weights.pretrained(theirs, layers=layers > 0))
    if layers:
        ours.update(benepar_weights.encoder(theirs, layers))
    ours.update(benepar_weights.span_scorer(theirs))
    if _predicts_tags(checkpoint):
        ours.update(benepar_weights.tag_scorer(theirs))
    return ours


def _fitting(weights: dict[str, Tensor], config: Config, vocabularies: Vocabularies) -> dict[str, Tensor]:
    """The weights that our model needs. Older encoders contain others, which were never used."""
    with torch.device("meta"):
        ours = build_model(config, vocab_sizes(vocabularies)).state_dict()
    wrong = [name for name, tensor in ours.items() if name not in weights or weights[name].shape != tensor.shape]
    if wrong:
        raise ValueError(f"{wrong[0]} is missing or has the wrong size")
    return {name: weights[name] for name in ours}


def _letters(checkpoint: Checkpoint) -> list[str]:
    return [letter for letter in _by_number(checkpoint.letters) if letter not in MARKS]


def _by_number(numbers: Mapping[str, int]) -> list[str]:
    return sorted(numbers, key=numbers.__getitem__)


def _vocab(symbols: list[str], reserved: int) -> Vocab:
    """A vocabulary in which every symbol counts as seen once: benepar stores no counts."""
    return Vocab(tuple(symbols), (1,) * len(symbols), reserved)


def _card(path: Path) -> str:
    return f"# A model imported from benepar\n\nMade by `fencepost import-benepar` from `{path.name}`.\n"
