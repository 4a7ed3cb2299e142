"""Configuration: frozen dataclasses. The defaults are the paper's (appendix, Table 8)."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from fencepost.errors import ConfigError

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
    mask: float = 0.0  # share of sub-tokens that training hides behind the encoder's mask token


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
    attention_scale: Literal["d_k", "d_model"] = "d_k"  # q · k is divided by its root; the authors' program has d_model
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
    max_halvings: int = 3  # halvings in a row without a better development F1 that are borne; one more, and it stops
    checks_per_epoch: int = 4
    max_epochs: int | None = None
    max_minutes: float | None = None
    adam_betas: tuple[float, float] = (0.9, 0.98)
    adam_epsilon: float = 1e-9
    clip_norm: float | None = None
    average: float | None = None  # decay of a running mean of the weights, which is then what is checked and kept
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
    temperature: float = 1.0  # scores are divided by it to become probabilities; `fencepost calibrate` fits it
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

    @classmethod
    def load(cls, name: str | Path, overrides: Sequence[str] = ()) -> Config:
        """From a TOML file, or a configuration known by name such as ``paper``; ``overrides`` are ``key=value``."""
        from fencepost.config.toml import load_config

        return load_config(name, overrides)

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
            'encoder.reads = "position" needs encoder.projection = "dense": queries and keys read the position alone',
            hint='encoder.position = "added", encoder.projection = "dense", encoder.reads = "position" (§3)',
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
    if config.train.clip_norm == 0:
        raise ConfigError(
            "train.clip_norm = 0 would leave nothing of any gradient",
            hint='more than 0, such as 1; or "none", which clips nothing',
        )
    for name, plan in (("train.plan", config.train.plan), ("eval.plan", config.eval.plan)):
        _check_plan(name, plan, config)


def _check_numbers(section: Any, prefix: str) -> None:
    for item in dataclasses.fields(section):
        value, name = getattr(section, item.name), prefix + item.name
        if dataclasses.is_dataclass(value):
            _check_numbers(value, f"{name}.")
        elif isinstance(value, bool):
            continue
        elif item.name in ("adam_betas", "average", "mask") or item.name.endswith("dropout"):
            numbers = value if isinstance(value, tuple) else () if value is None else (value,)
            if not all(0 <= number < 1 for number in numbers):
                raise ConfigError(f"{name} = {value} must be at least 0 and less than 1")
        elif isinstance(value, float) and not 0 <= value < math.inf:
            raise ConfigError(f"{name} = {value} must not be negative or without end")
        elif isinstance(value, int) and value < (least := 0 if item.name in _MAY_BE_ZERO else 1):
            raise ConfigError(f"{name} = {value} must be at least {least}")
        elif isinstance(value, int) and value >= 2**63:  # no array can hold it, and torch takes no such seed
            raise ConfigError(f"{name} = {value} must be less than 2 ** 63")


def _check_plan(name: str, plan: PlanConfig, config: Config) -> None:
    if plan == PlanConfig():
        return
    if config.encoder.kind != "attention":
        raise ConfigError(
            f'{name} is about attention, and encoder.kind is "{config.encoder.kind}"', hint=f"leave out {name}"
        )
    if config.encoder.layers == 0:
        raise ConfigError(f"{name} is about attention, and encoder.layers is 0", hint=f"leave out {name}")
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
