"""Configuration: frozen dataclasses. The defaults are the paper's (appendix, Table 8), but for the attention scale."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from fencepost.errors import ConfigError

LexicalKind = Literal[
    "words", "tags", "char_lstm", "char_concat", "char_attention", "pretrained", "vectors", "treebank"
]


@dataclass(frozen=True)
class WordsConfig:
    """Learned word embeddings (§2.2). Training reads a word seen c times as unknown with probability 1/(1+c)."""

    dropout: float = 0.4
    min_count: int = 1  # rarer words are read as unknown


@dataclass(frozen=True)
class TagsConfig:
    """Embeddings of the part-of-speech tags given with a sentence (§2.2)."""

    dropout: float = 0.2


@dataclass(frozen=True)
class CharLSTMConfig:
    """A bidirectional LSTM over the letters of each word (§5.1)."""

    size: int = 64  # of a letter embedding
    dropout: float = 0.2  # on the word vector
    input_dropout: float = 0.2  # on the letter embeddings


@dataclass(frozen=True)
class CharConcatConfig:
    """The embeddings of the first and last letters of each word, concatenated (§5.1)."""

    size: int = 32  # of a letter embedding
    letters: int = 8  # at each end of the word
    dropout: float = 0.2


@dataclass(frozen=True)
class CharAttentionConfig:
    """A small self-attentive encoder over the letters of each word (§5.1, end)."""

    size: int = 64  # of a letter embedding
    layers: int = 2
    heads: int = 4
    dropout: float = 0.2  # on the word vector
    input_dropout: float = 0.2  # on the letter embeddings


@dataclass(frozen=True)
class PretrainedConfig:
    """The vectors of a pre-trained encoder, projected to the content's size by a learned matrix (§5.2)."""

    model: str = ""  # a folder, or the name of a model in the Hugging Face cache
    frozen: bool = False  # keep the encoder's weights fixed
    layers: Literal["last", "mix"] = "last"  # mix = a learned weighted mean of all layers
    words: Literal["first", "last", "mean"] = "last"  # which of a word's sub-tokens stand for the word
    learning_rate: float | None = None  # for the encoder; None = train.learning_rate
    window: int = 512  # sub-tokens read at once, special tokens included; the encoder's own limit applies as well
    overlap: int = 128  # sub-tokens shared by two neighbouring windows of a long sentence
    dropout: float = 0.0  # on the word vector
    mask: float = 0.0  # share of sub-tokens that training replaces by the encoder's mask token


@dataclass(frozen=True)
class VectorsConfig:
    """Word vectors computed by another program, projected to the content's size by a learned matrix (§5.2)."""

    path: str = ""  # a safetensors file or a folder of them; one array per sentence, named by its words
    size: int = 1024  # of a vector
    dropout: float = 0.0  # on the projected vector


@dataclass(frozen=True)
class TreebankConfig:
    """An embedding of the treebank that a sentence belongs to, in a model of several treebanks."""

    dropout: float = 0.0


@dataclass(frozen=True)
class EncoderConfig:
    """The encoder, which turns word vectors into vectors that depend on context (§2.2, §3)."""

    kind: Literal["attention", "lstm"] = "attention"
    layers: int = 8
    d_model: int = 1024
    heads: int = 8
    d_k: int = 64  # size of queries and keys, per head
    d_v: int = 64  # size of values, per head
    d_ff: int = 2048
    # q · k is divided by the square root of this. d_model is what the authors' program does, and training is steadier
    # with it. d_k is the paper's text (§2.2.1): "SingleHead(X) = [Softmax(Q K^T / sqrt(d_k)) V] W_O".
    attention_scale: Literal["d_k", "d_model"] = "d_model"
    position: Literal["added", "concatenated"] = "concatenated"  # how position joins content
    projection: Literal["dense", "block"] = "block"  # block = content and position projected apart
    reads: Literal["input", "position"] = "input"  # what queries and keys are computed from
    positions: Literal["learned", "sinusoidal"] = "learned"
    max_length: int = 512  # rows of the position table, start and stop included
    embedding_norm: bool = True  # LayerNorm over z_t, found in the authors' code but not in the paper
    attention_dropout: float = 0.2
    relu_dropout: float = 0.1
    residual_dropout: float = 0.2
    shared_dropout: bool = True  # one dropout mask for all positions of a sentence (not for attention weights)
    lstm_layers: int = 2  # kind = "lstm" only
    lstm_dropout: float = 0.4  # kind = "lstm" only


@dataclass(frozen=True)
class ScorerConfig:
    """The span scorer (§2.3) and the optional scorers of tags and of grammatical functions."""

    hidden: int = 250
    predict_tags: bool = False
    tag_hidden: int = 250
    functions: bool = False  # split labels such as NP-SBJ, and predict the function of each constituent
    function_hidden: int = 250
    function_words: bool = False  # the function scorer also reads the pre-trained vectors of first and last words
    force_root: bool = False  # the whole sentence must be a labelled constituent


@dataclass(frozen=True)
class PlanConfig:
    """Which attention is allowed (§4). Layers count from 1; ``None`` means all layers, ``[]`` none."""

    window: int | None = None  # greatest distance |i - j|
    relaxed: bool = False  # start, first word, last word and stop are exempt from the window
    content: tuple[int, ...] | None = None  # layers with content attention (factored models only)
    position: tuple[int, ...] | None = None  # layers with position attention (factored models only)


@dataclass(frozen=True)
class TrainConfig:
    """The training recipe (appendix)."""

    loss: Literal["margin", "crf"] = "margin"
    tag_loss_weight: float = 5.0
    function_loss_weight: float = 5.0
    batch_size: int = 250  # sentences per step
    batch_tokens: int = 30_000  # tokens in memory at once; a larger batch is processed in pieces
    learning_rate: float = 0.0008
    warmup_batches: int = 160
    patience_epochs: float = 5.0  # the learning rate is halved after more epochs than this without a better dev F1
    max_halvings: int = 3  # halvings in a row without a better dev F1; where another is due, training stops
    checks_per_epoch: int = 4
    shortest_epoch: int = 1  # batches; in a smaller treebank, several passes count as one epoch
    max_epochs: int | None = None
    max_minutes: float | None = None
    adam_betas: tuple[float, float] = (0.9, 0.98)
    adam_epsilon: float = 1e-9
    clip_norm: float | None = None
    average: float | None = None  # decay of a running mean of the weights; if set, the mean is checked and saved
    precision: Literal["fp32", "tf32", "bf16"] = "fp32"
    checkpoint_minutes: float = 5.0  # between checkpoints, from which training can resume
    seed: int = 1
    deterministic: bool = False
    plan: PlanConfig = field(default_factory=PlanConfig)


REACH: Final = 3  # in a sentence longer than eval.longest, a token attends to eval.longest // REACH tokens on each side


@dataclass(frozen=True)
class EvalConfig:
    """How development data are parsed and scored, and how the finished model parses."""

    params: str = "collins"
    temperature: float = 1.0  # scores / temperature become probabilities; `fencepost calibrate` fits it
    longest: int | None = 128  # tokens; a longer sentence is read through a window, and its positions repeat
    plan: PlanConfig = field(default_factory=PlanConfig)


@dataclass(frozen=True)
class Config:
    """Everything that defines a model and its training.

    >>> config = Config.load("small", ["train.max_epochs=5"])
    >>> config.encoder.layers, config.train.max_epochs
    (2, 5)
    """

    lexical: tuple[LexicalKind, ...] = ("char_lstm",)
    language: str = "en"
    plain_quotes: bool = False  # read Penn's quotes `` and '' as "; pre-trained encoders always do
    words: WordsConfig = field(default_factory=WordsConfig)
    tags: TagsConfig = field(default_factory=TagsConfig)
    char_lstm: CharLSTMConfig = field(default_factory=CharLSTMConfig)
    char_concat: CharConcatConfig = field(default_factory=CharConcatConfig)
    char_attention: CharAttentionConfig = field(default_factory=CharAttentionConfig)
    pretrained: PretrainedConfig = field(default_factory=PretrainedConfig)
    vectors: VectorsConfig = field(default_factory=VectorsConfig)
    treebank: TreebankConfig = field(default_factory=TreebankConfig)
    encoder: EncoderConfig = field(default_factory=EncoderConfig)
    scorer: ScorerConfig = field(default_factory=ScorerConfig)
    train: TrainConfig = field(default_factory=TrainConfig)
    eval: EvalConfig = field(default_factory=EvalConfig)

    @classmethod
    def load(cls, name: str | Path, overrides: Sequence[str] = ()) -> Config:
        """Loads a TOML file, or a built-in configuration such as ``paper``, and applies ``key=value`` overrides."""
        from fencepost.config.toml import load_config

        return load_config(name, overrides)

    def __post_init__(self) -> None:
        _check(self)

    @property
    def d_content(self) -> int:
        """Size of a word's content vector: half of d_model if position has the other half."""
        encoder = self.encoder
        attends = encoder.kind == "attention" and encoder.layers > 0
        return encoder.d_model // 2 if attends and encoder.position == "concatenated" else encoder.d_model

    @property
    def factored(self) -> bool:
        """True if content and position stay apart throughout the encoder (§3)."""
        encoder = self.encoder
        return encoder.kind == "attention" and (encoder.position, encoder.projection) == ("concatenated", "block")


# All other whole numbers must be at least 1.
_MAY_BE_ZERO = frozenset({"layers", "warmup_batches", "max_halvings", "seed", "window", "overlap"})
# What weights are made of must not be absurd: a model may come from a stranger.
_MOST = dict.fromkeys(
    ("d_model", "d_k", "d_v", "d_ff", "hidden", "tag_hidden", "function_hidden", "size", "letters", "max_length"), 2**20
) | dict.fromkeys(("layers", "lstm_layers", "heads"), 2**10)


def _check(config: Config) -> None:
    _check_numbers(config, "")
    encoder = config.encoder
    if not config.lexical:
        raise ConfigError("lexical is empty: a parser must read something", hint='for example, lexical = ["char_lstm"]')
    if len(set(config.lexical)) != len(config.lexical):
        raise ConfigError(f"lexical names a representation twice: {list(config.lexical)}")
    for name in ("d_model", "d_k", "d_v", "d_ff"):
        if getattr(encoder, name) % 4 or getattr(encoder, name) <= 0:
            raise ConfigError(f"encoder.{name} = {getattr(encoder, name)} must be a positive multiple of 4")
    if encoder.reads == "position" and encoder.projection == "block":
        raise ConfigError(
            'encoder.reads = "position" needs encoder.projection = "dense": queries and keys read the position alone',
            hint='set encoder.position = "added" and encoder.projection = "dense" (§3)',
        )
    if "char_concat" in config.lexical and 2 * config.char_concat.letters * config.char_concat.size != config.d_content:
        raise ConfigError(
            f"char_concat joins 2 x {config.char_concat.letters} letters of {config.char_concat.size} numbers, "
            f"which must fill the content vector of {config.d_content}",
            hint=f"set char_concat.size = {config.d_content // (2 * config.char_concat.letters)}",
        )
    if "pretrained" in config.lexical and not config.pretrained.model:
        raise ConfigError("pretrained.model is missing", hint="a folder, or a name in the Hugging Face cache")
    if config.scorer.functions and config.scorer.function_words and "pretrained" not in config.lexical:
        raise ConfigError("scorer.function_words needs a pre-trained encoder", hint='put "pretrained" into lexical')
    if "vectors" in config.lexical and not config.vectors.path:
        raise ConfigError("vectors.path is missing", hint="a safetensors file with one array per sentence")
    if config.pretrained.overlap >= config.pretrained.window:
        raise ConfigError("pretrained.overlap must be less than pretrained.window")
    if config.char_attention.size % config.char_attention.heads:
        raise ConfigError("char_attention.size must be a multiple of char_attention.heads")
    if config.eval.temperature == 0:
        raise ConfigError("eval.temperature must be greater than 0", hint="1 leaves scores as they are")
    if config.train.clip_norm == 0:
        raise ConfigError(
            "train.clip_norm = 0 would turn every gradient into 0",
            hint='use a number above 0, such as 1, or "none" for no clipping',
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
            raise ConfigError(f"{name} = {value} must be a finite number, 0 or more")
        elif isinstance(value, int) and value < (least := 0 if item.name in _MAY_BE_ZERO else 1):
            raise ConfigError(f"{name} = {value} must be at least {least}")
        elif isinstance(value, int) and value > (most := _MOST.get(item.name, value)):
            raise ConfigError(f"{name} = {value} must be at most {most}")
        elif isinstance(value, int) and value >= 2**63:  # too large for an int64 array or a torch seed
            raise ConfigError(f"{name} = {value} must be less than 2 ** 63")


def _check_plan(name: str, plan: PlanConfig, config: Config) -> None:
    if plan == PlanConfig():
        return
    if config.encoder.kind != "attention":
        raise ConfigError(
            f'{name} limits attention, but encoder.kind is "{config.encoder.kind}"', hint=f"leave out {name}"
        )
    if config.encoder.layers == 0:
        raise ConfigError(f"{name} limits attention, but encoder.layers is 0", hint=f"leave out {name}")
    for term, layers in (("content", plan.content), ("position", plan.position)):
        if layers is None:
            continue
        if not config.factored:
            raise ConfigError(
                f"{name}.{term} can only be set if content and position are factored",
                hint='set encoder.position = "concatenated" and encoder.projection = "block"',
            )
        wrong = [layer for layer in layers if not 1 <= layer <= config.encoder.layers]
        if wrong:
            raise ConfigError(f"{name}.{term} names layers {wrong}; the encoder has 1 to {config.encoder.layers}")
