"""Converts benepar models to model folders: the same trees, without benepar, and without running code from a file."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any, Final

import torch
from torch import Tensor

from fencepost.backends.torch import vocab_sizes
from fencepost.config.settings import CharLSTMConfig, Config, EncoderConfig, EvalConfig, PretrainedConfig, ScorerConfig
from fencepost.errors import ConfigError, ModelError
from fencepost.features.pretrained_files import PretrainedFiles, encoder_settings, tokenizer_of
from fencepost.features.vocab import Labels, Vocab
from fencepost.features.vocabularies import LETTER_MARKS, TOKEN_MARKS, Vocabularies
from fencepost.integrations import benepar_weights
from fencepost.integrations.strange_archives import is_archive, open_archive, require_small_pickles
from fencepost.model.build import build_model
from fencepost.storage.model_files import naming
from fencepost.storage.model_writer import making_model
from fencepost.storage.plain_files import open_plain, read_plain, size_plain
from fencepost.storage.safe_json import parse_json
from fencepost.training.weights import save_weights
from fencepost.trees.brackets import DEFAULT_ROOT

WEIGHTS, ENCODER = "benepar_model.bin", "config.json"  # in an exported folder
# The other files of an encoder's tokenizer.
FILES: Final = frozenset(
    {
        *(WEIGHTS, ENCODER, "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"),
        *("vocab.txt", "vocab.json", "merges.txt", "spiece.model", "sentencepiece.bpe.model"),
    }
)
MOST_BYTES, MOST_TEXT = 2**33, 2**26
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
            weights={name: _plain(name, tensor) for name, tensor in weights.items()},
        )


def import_benepar(path: str | Path, out: str | Path, language: str = "en") -> None:
    """Reads a benepar model (a file, an exported folder, or a zip file of one) and writes a model folder."""
    path = Path(path)
    with making_model(Path(out)):
        try:
            with naming(path):
                checkpoint = read_checkpoint(path)
                config, vocabularies = _config(checkpoint, language), _vocabularies(checkpoint)
                weights = _fitting(_weights(checkpoint), config, vocabularies)
        except (KeyError, TypeError, AttributeError, ValueError, OverflowError, ConfigError) as error:
            problem = f"{type(error).__name__}: {error}"
            raise ModelError(f"{path}: not a benepar model: {problem:.200}") from error
        except OSError as error:
            raise ModelError(f"{error.filename or path}: {error.strerror or error}") from error
        save_weights(Path(out), config, vocabularies, _card(path), weights)


def read_checkpoint(path: Path) -> Checkpoint:
    if path.is_dir():
        return _read_folder(path)
    open_plain(path, MOST_BYTES, follow=True).close()
    if not is_archive(path):
        return _read_file(path)
    with open_archive(path) as archive, TemporaryDirectory() as scratch:
        configs = [info.filename for info in archive.infolist() if PurePosixPath(info.filename).name == ENCODER]
        if not configs:  # torch writes zip files, too
            return _read_file(path)
        _unpack(archive, PurePosixPath(configs[0]).parent, Path(scratch))
        return _read_folder(Path(scratch))


def _unpack(archive: zipfile.ZipFile, folder: PurePosixPath, target: Path) -> None:
    """Copies the files of a model that are in ``folder``. The archive may come from a stranger."""
    if folder.is_absolute() or ".." in folder.parts:
        raise ValueError(f"{folder / ENCODER} is not inside the archive")
    for info in archive.infolist():
        name = PurePosixPath(info.filename)
        if name.parent != folder or name.name not in FILES or info.is_dir():
            continue
        most = MOST_BYTES if name.name == WEIGHTS else MOST_TEXT
        if info.file_size > most:
            raise ValueError(f"{name}: larger than {most:,} bytes")
        with archive.open(info) as source, (target / name.name).open("wb") as copy:
            shutil.copyfileobj(source, copy)  # it ends after the size that was declared


def _read_file(path: Path) -> Checkpoint:
    """Reads a model that was never exported: it only names its encoder, which must be in the Hugging Face cache."""
    saved = _load(path)
    settings = saved["config"]["hparams"]
    files = PretrainedFiles.of(settings["pretrained_model"]) if settings.get("use_pretrained") else None
    return Checkpoint.of(saved["config"], saved["state_dict"], files)


def _read_folder(path: Path) -> Checkpoint:
    weights = _load(path / WEIGHTS)
    config = parse_json(read_plain(path / ENCODER, MOST_TEXT, follow=True).decode())
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
    """Reads a file of tensors, without running anything. The file may come from a stranger."""
    size = size_plain(path, MOST_BYTES, follow=True)
    if is_archive(path):
        with open_archive(path) as archive:
            if sum(info.file_size for info in archive.infolist()) > size:
                raise ValueError(f"{path.name} is compressed, and torch's files aren't")
    try:
        require_small_pickles(path)
        return torch.load(path, map_location="cpu", weights_only=True)
    except OSError:
        raise
    except Exception as error:  # its errors have no common parent
        hint = "give the file or folder that benepar's training wrote"
        raise ModelError(f"{path}: not a weights file that can be read safely", hint=hint) from error


def _plain(name: str, tensor: Tensor) -> Tensor:
    """A tensor in fp32. Raises an error unless all of its numbers were in the file."""
    if tensor.layout != torch.strided or tensor.is_quantized:
        raise ValueError(f"{name} is not a plain tensor")
    if tensor.numel() * tensor.element_size() > tensor.untyped_storage().nbytes():
        raise ValueError(f"{name} has {tensor.numel():,} numbers that are not in the file")
    return tensor.float() if tensor.is_floating_point() else tensor


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
            attention_scale="d_k",
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
    vocabularies = Vocabularies(
        labels=Labels(tuple(tuple(label.split(CHAIN)) if label else () for label in labels)),
        words=Vocab((), (), TOKEN_MARKS),
        tags=_vocab(_by_number(checkpoint.tags), TOKEN_MARKS),
        letters=_vocab(_letters(checkpoint), LETTER_MARKS),
        root=DEFAULT_ROOT,
        pretrained=checkpoint.pretrained,
    )
    Vocabularies.from_json(vocabularies.to_json())  # raises an error if the model couldn't be loaded
    return vocabularies


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
    if not all(isinstance(symbol, str) and type(number) is int for symbol, number in numbers.items()):
        raise TypeError("a vocabulary doesn't map strings to numbers")
    return sorted(numbers, key=numbers.__getitem__)


def _vocab(symbols: list[str], reserved: int) -> Vocab:
    """A vocabulary in which every symbol counts as seen once: benepar stores no counts."""
    return Vocab(tuple(symbols), (1,) * len(symbols), reserved)


def _card(path: Path) -> str:
    return f"# A model imported from benepar\n\nMade by `fencepost import-benepar` from `{path.name}`.\n"
