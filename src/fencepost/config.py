"""Configuration: frozen dataclasses read from TOML. The defaults are the paper's (appendix, Table 8).

An unknown key is an error that names the nearest known one. A file may start from another one by name
with ``base = "paper"``; ``--set section.key=value`` overrides come last.
"""

from __future__ import annotations

import dataclasses
import difflib
import json
import math
import sys
import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from fencepost.errors import ConfigError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

LexicalKind = Literal["words", "tags", "char_lstm", "char_concat", "char_attention", "pretrained", "vectors"]


@dataclass(frozen=True)
class WordsConfig:
    """Learned word embeddings (§2.2). Training reads a word seen c times as unknown with probability 1/(1+c)."""

    dropout: float = 0.4
    min_count: int = 1  # rarer words have no vector of their own


@dataclass(frozen=True)
class TagsConfig:
    """Embeddings of part-of-speech tags that came with the sentence (§2.2)."""

    dropout: float = 0.2


@dataclass(frozen=True)
class CharLSTMConfig:
    """A bidirectional LSTM over the letters of each word (§5.1)."""

    size: int = 64  # of a letter's embedding
    dropout: float = 0.2  # of the word's vector
    input_dropout: float = 0.2  # of the letters' embeddings


@dataclass(frozen=True)
class CharConcatConfig:
    """The embeddings of the first and the last letters of each word, side by side (§5.1)."""

    size: int = 32
    letters: int = 8  # at either end
    dropout: float = 0.2


@dataclass(frozen=True)
class CharAttentionConfig:
    """A small self-attentive encoder over the letters of each word (§5.1, end)."""

    size: int = 64
    layers: int = 2
    heads: int = 4
    dropout: float = 0.2
    input_dropout: float = 0.2


@dataclass(frozen=True)
class PretrainedConfig:
    """The vectors of a pre-trained encoder, projected to the content's size by a learned matrix (§5.2)."""

    model: str = ""  # a folder, or a name in the hub's cache
    frozen: bool = False  # its weights stay as they are
    layers: Literal["last", "mix"] = "last"  # mix = a learned weighted mean of all layers
    words: Literal["first", "last", "mean"] = "last"  # which of a word's sub-tokens
    learning_rate: float | None = None  # of the encoder, where it differs from train.learning_rate
    window: int = 512  # sub-tokens read at once, special ones included; the encoder's own limit holds too
    overlap: int = 128  # sub-tokens that two windows of a long sentence share
    dropout: float = 0.0  # of the word's vector


@dataclass(frozen=True)
class VectorsConfig:
    """Word vectors that another program computed, projected to the content's size by a learned matrix (§5.2)."""

    path: str = ""  # a safetensors file, or a folder of them: one array a sentence, called by its words
    size: int = 1024  # of a vector
    dropout: float = 0.0  # of the projected vector


@dataclass(frozen=True)
class EncoderConfig:
    """What turns word vectors into vectors in context (§2.2, §3)."""

    kind: Literal["attention", "lstm"] = "attention"
    layers: int = 8
    d_model: int = 1024
    heads: int = 8
    d_k: int = 64  # size of queries and keys, for one head
    d_v: int = 64  # size of values, for one head
    d_ff: int = 2048
    position: Literal["added", "concatenated"] = "concatenated"  # how position enters
    projection: Literal["dense", "block"] = "block"  # how matrices project; block = [content; position] apart
    reads: Literal["input", "position"] = "input"  # what queries and keys read
    positions: Literal["learned", "sinusoidal"] = "learned"
    max_length: int = 512  # rows of the position table, start and stop included
    embedding_norm: bool = True  # LayerNorm over z_t; in the authors' programs, not in the paper's text
    attention_dropout: float = 0.2
    relu_dropout: float = 0.1
    residual_dropout: float = 0.2
    shared_dropout: bool = True  # one dropout mask for all positions of a sentence (not for attention weights)
    lstm_layers: int = 2  # kind = "lstm" only
    lstm_dropout: float = 0.4  # kind = "lstm" only


@dataclass(frozen=True)
class ScorerConfig:
    """The span scorer (§2.3) and the optional tag scorer."""

    hidden: int = 250
    predict_tags: bool = False
    tag_hidden: int = 250
    force_root: bool = False  # the whole sentence must be a labelled constituent


@dataclass(frozen=True)
class PlanConfig:
    """Which attention is allowed (§4). Layers count from 1; ``None`` means all of them, ``[]`` none."""

    window: int | None = None  # greatest distance |i - j|
    relaxed: bool = False  # start, first word, last word and stop are exempt from the window
    content: tuple[int, ...] | None = None  # layers with content attention (factored models only)
    position: tuple[int, ...] | None = None  # layers with position attention (factored models only)


@dataclass(frozen=True)
class TrainConfig:
    """The training recipe (appendix)."""

    loss: Literal["margin", "crf"] = "margin"
    tag_loss_weight: float = 5.0
    batch_size: int = 250  # sentences a step
    batch_tokens: int = 30_000  # tokens in memory at once: a batch is cut into pieces of at most so many
    learning_rate: float = 0.0008
    warmup_batches: int = 160
    patience_epochs: float = 5.0  # more than so many without a better development F1, and the rate is halved
    max_halvings: int = 3  # halvings in a row without a better development F1 before training stops
    checks_per_epoch: int = 4
    max_epochs: int | None = None
    max_minutes: float | None = None
    adam_betas: tuple[float, float] = (0.9, 0.98)
    adam_epsilon: float = 1e-9
    clip_norm: float | None = None
    precision: Literal["fp32", "tf32", "bf16"] = "fp32"
    checkpoint_minutes: float = 5.0  # between two checkpoints to resume from
    seed: int = 1
    deterministic: bool = False
    plan: PlanConfig = field(default_factory=PlanConfig)


REACH: Final = 3  # in a sentence longer than eval.longest a token attends as far as that divided by this


@dataclass(frozen=True)
class EvalConfig:
    """How development data are parsed and scored, and how the finished model parses."""

    params: str = "collins"
    longest: int | None = 128  # tokens; a longer sentence is read through a window, with positions that start again
    plan: PlanConfig = field(default_factory=PlanConfig)


@dataclass(frozen=True)
class Config:
    """All that defines a model and its training."""

    lexical: tuple[LexicalKind, ...] = ("char_lstm",)
    language: str = "en"
    plain_quotes: bool = False  # Penn's quotes `` and '' are read as ", as pre-trained encoders always do
    words: WordsConfig = field(default_factory=WordsConfig)
    tags: TagsConfig = field(default_factory=TagsConfig)
    char_lstm: CharLSTMConfig = field(default_factory=CharLSTMConfig)
    char_concat: CharConcatConfig = field(default_factory=CharConcatConfig)
    char_attention: CharAttentionConfig = field(default_factory=CharAttentionConfig)
    pretrained: PretrainedConfig = field(default_factory=PretrainedConfig)
    vectors: VectorsConfig = field(default_factory=VectorsConfig)
    encoder: EncoderConfig = field(default_factory=EncoderConfig)
    scorer: ScorerConfig = field(default_factory=ScorerConfig)
    train: TrainConfig = field(default_factory=TrainConfig)
    eval: EvalConfig = field(default_factory=EvalConfig)

    def __post_init__(self) -> None:
        _check(self)

    @property
    def d_content(self) -> int:
        """Size of a word's content vector: half of d_model where position has the other half."""
        encoder = self.encoder
        attends = encoder.kind == "attention" and encoder.layers > 0
        return encoder.d_model // 2 if attends and encoder.position == "concatenated" else encoder.d_model

    @property
    def factored(self) -> bool:
        """Whether content and position stay apart throughout the encoder (§3)."""
        encoder = self.encoder
        return encoder.kind == "attention" and (encoder.position, encoder.projection) == ("concatenated", "block")


# Of the whole numbers.
_MAY_BE_ZERO = frozenset({"layers", "warmup_batches", "max_halvings", "seed", "window", "overlap"})


def _check(config: Config) -> None:
    _check_numbers(config, "")
    encoder = config.encoder
    if not config.lexical:
        raise ConfigError("lexical is empty: a parser must read something", hint='lexical = ["char_lstm"]')
    if len(set(config.lexical)) != len(config.lexical):
        raise ConfigError(f"lexical names a representation twice: {list(config.lexical)}")
    for name in ("d_model", "d_k", "d_v", "d_ff"):
        if getattr(encoder, name) % 4 or getattr(encoder, name) <= 0:
            raise ConfigError(f"encoder.{name} = {getattr(encoder, name)} must be a positive multiple of 4")
    if encoder.reads == "position" and encoder.projection == "block":
        raise ConfigError(
            'encoder.reads = "position" needs encoder.projection = "dense": queries and keys read the position alone'
        )
    if "char_concat" in config.lexical and 2 * config.char_concat.letters * config.char_concat.size != config.d_content:
        raise ConfigError(
            f"char_concat packs 2 x {config.char_concat.letters} letters of {config.char_concat.size} numbers, "
            f"which must fill the content vector of {config.d_content}",
            hint=f"char_concat.size = {config.d_content // (2 * config.char_concat.letters)}",
        )
    if "pretrained" in config.lexical and not config.pretrained.model:
        raise ConfigError("pretrained.model is missing", hint="a folder with an encoder, or a name in the hub's cache")
    if "vectors" in config.lexical and not config.vectors.path:
        raise ConfigError("vectors.path is missing", hint="a safetensors file with one array a sentence")
    if config.pretrained.overlap >= config.pretrained.window:
        raise ConfigError("pretrained.overlap must be less than pretrained.window")
    if config.char_attention.size % config.char_attention.heads:
        raise ConfigError("char_attention.size must be a multiple of char_attention.heads")
    for name, plan in (("train.plan", config.train.plan), ("eval.plan", config.eval.plan)):
        _check_plan(name, plan, config)


def _check_numbers(section: Any, prefix: str) -> None:
    for item in dataclasses.fields(section):
        value, name = getattr(section, item.name), prefix + item.name
        if dataclasses.is_dataclass(value):
            _check_numbers(value, f"{name}.")
        elif isinstance(value, bool):
            continue
        elif item.name == "adam_betas" or item.name.endswith("dropout"):
            if not all(0 <= number < 1 for number in (value if isinstance(value, tuple) else (value,))):
                raise ConfigError(f"{name} = {value} must be at least 0 and less than 1")
        elif isinstance(value, float) and not 0 <= value < math.inf:
            raise ConfigError(f"{name} = {value} must not be negative or without end")
        elif isinstance(value, int) and value < (least := 0 if item.name in _MAY_BE_ZERO else 1):
            raise ConfigError(f"{name} = {value} must be at least {least}")


def _check_plan(name: str, plan: PlanConfig, config: Config) -> None:
    if plan == PlanConfig():
        return
    if config.encoder.kind != "attention":
        raise ConfigError(f'{name} is about attention, and encoder.kind is "{config.encoder.kind}"')
    for term, layers in (("content", plan.content), ("position", plan.position)):
        if layers is None:
            continue
        if not config.factored:
            raise ConfigError(
                f"{name}.{term} can only be switched where content and position are factored",
                hint='encoder.position = "concatenated" and encoder.projection = "block"',
            )
        wrong = [layer for layer in layers if not 1 <= layer <= config.encoder.layers]
        if wrong:
            raise ConfigError(f"{name}.{term} names layers {wrong}; there are layers 1 to {config.encoder.layers}")


# Reading


def load_config(source: str | Path, overrides: Sequence[str] = ()) -> Config:
    """Reads a TOML file, or a configuration inside the package by name, then applies ``key=value`` overrides."""
    table = _read(source)
    for override in overrides:
        _override(table, override)
    return config_from_table(table, str(source))


def config_from_table(table: Mapping[str, Any], source: str = "configuration") -> Config:
    config = _build(Config, table, source, "")
    assert isinstance(config, Config)
    return config


def config_names() -> list[str]:
    """The configurations inside the package."""
    folder = resources.files("fencepost").joinpath("configs")
    return sorted(entry.name.removesuffix(".toml") for entry in folder.iterdir() if entry.name.endswith(".toml"))


def _read(source: str | Path, above: tuple[str | Path, ...] = ()) -> dict[str, Any]:
    if source in above:
        raise ConfigError(f"{source} is its own base: {' -> '.join(map(str, (*above, source)))}")
    text = _text(source)
    try:
        table: dict[str, Any] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{source}: not valid TOML: {error}") from error
    if "base" not in table:
        return table
    base = table.pop("base")
    if not isinstance(base, str):
        raise ConfigError(f"{source}: base is a name or a file, got {base!r}")
    found = base if base in config_names() else Path(source).parent / base
    return _merge(_read(found, (*above, source)), table)


def _text(source: str | Path) -> str:
    if isinstance(source, str) and source in config_names():
        return resources.files("fencepost").joinpath("configs").joinpath(f"{source}.toml").read_text("utf-8")
    try:
        return Path(source).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"no configuration {source}: {getattr(error, 'strerror', None) or error}",
            hint=f"give a TOML file, or one of the names {', '.join(config_names())}",
        ) from error


def _merge(base: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in above.items():
        below = merged.get(key)
        merged[key] = _merge(below, value) if isinstance(below, dict) and isinstance(value, dict) else value
    return merged


def _override(table: dict[str, Any], override: str) -> None:
    key, equals, text = override.partition("=")
    if not equals:
        raise ConfigError(f"override {override!r} is not of the form key=value", hint="--set train.batch_size=32")
    *sections, name = key.strip().split(".")
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        value = text.strip()
    for section in sections:
        table = table.setdefault(section, {})
        if not isinstance(table, dict):
            raise ConfigError(f"override {override!r}: {section} is a value, not a section")
    table[name] = value


def _build(kind: type[Any], table: Mapping[str, Any], source: str, prefix: str) -> Any:
    hints = get_type_hints(kind)
    unknown = [key for key in table if key not in hints]
    if unknown:
        near = difflib.get_close_matches(unknown[0], hints, n=1, cutoff=0.5)
        hint = f"did you mean {prefix}{near[0]}?" if near else f"known keys: {', '.join(hints)}"
        raise ConfigError(f"{source}: unknown key {prefix}{unknown[0]}", hint=hint)
    return kind(**{key: _convert(hints[key], value, source, prefix + key) for key, value in table.items()})


def _convert(hint: Any, value: Any, source: str, key: str) -> Any:
    origin, arguments = get_origin(hint), get_args(hint)
    if dataclasses.is_dataclass(hint):
        if not isinstance(value, Mapping):
            raise ConfigError(f"{source}: {key} is a section, got {value!r}", hint=f"[{key}]")
        return _build(hint, value, source, f"{key}.")  # type: ignore[arg-type]
    if origin is Literal:
        if value not in arguments:
            raise ConfigError(
                f"{source}: {key} = {value!r} is not known", hint=f"one of {', '.join(map(repr, arguments))}"
            )
        return value
    if origin in (Union, types.UnionType):
        if value == "none" or value is None:
            return None
        return _convert(next(a for a in arguments if a is not type(None)), value, source, key)
    if origin is tuple:
        if not isinstance(value, list | tuple):
            raise ConfigError(f"{source}: {key} is a list, got {value!r}")
        if arguments[-1] is not Ellipsis and len(value) != len(arguments):
            raise ConfigError(f"{source}: {key} has {len(arguments)} values, got {value!r}")
        return tuple(_convert(arguments[0], item, source, key) for item in value)
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, hint) or (hint is int and isinstance(value, bool)):
        raise ConfigError(f"{source}: {key} is of type {hint.__name__}, got {value!r}")
    return value


# Writing


def config_to_toml(config: Config) -> str:
    """The whole configuration as TOML; reading it back gives an equal configuration."""
    lines: list[str] = []
    _write_section(config, "", lines)
    return "\n".join(lines) + "\n"


def _write_section(section: Any, name: str, lines: list[str]) -> None:
    if name:
        lines.extend(["", f"[{name}]"])
    below = []
    for item in dataclasses.fields(section):
        value = getattr(section, item.name)
        if dataclasses.is_dataclass(value):
            below.append((item.name, value))
        else:
            lines.append(f"{item.name} = {_toml(value)}")
    for key, value in below:
        _write_section(value, f"{name}.{key}" if name else key, lines)


def _toml(value: Any) -> str:
    if value is None:
        return '"none"'
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)
