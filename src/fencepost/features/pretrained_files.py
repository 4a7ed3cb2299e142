"""What a model keeps of its pre-trained encoder besides the weights: the tokenizer and the configuration.

An encoder or a model may come from a stranger: nothing here runs their code or reaches the network.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import RLock
from typing import Any, Final

from fencepost.errors import ConfigError, MissingExtraError, ModelError
from fencepost.features.encoder_families import EncoderFamily, family_of
from fencepost.storage.safe_json import parse_json

TOKENIZER, ENCODER = "tokenizer.json", "encoder.json"  # in a model folder
# The settings that building an encoder of one of our own families needs.
_OUR_KEYS: Final = frozenset(
    {
        "model_type",
        "vocab_size",
        "hidden_size",
        "embedding_size",
        "intermediate_size",
        "num_hidden_layers",
        "num_attention_heads",
        "hidden_act",
        "hidden_dropout_prob",
        "attention_probs_dropout_prob",
        "max_position_embeddings",
        "type_vocab_size",
        "layer_norm_eps",
        "pad_token_id",
        "position_embedding_type",
        "relative_attention_num_buckets",
        "is_decoder",
        "is_encoder_decoder",
        "add_cross_attention",
    }
)
# What an encoder of another family has besides: settings that its class in transformers declares, but not these.
_KEY: Final = re.compile("[a-z][a-z0-9_]*")
_NEVER: Final = frozenset(
    {
        "architectures",
        "attn_implementation",
        "auto_map",
        "benepar",
        "dtype",
        "experts_implementation",
        "id2label",
        "label2id",
        "problem_type",
        "quantization_config",
        "torch_dtype",
        "transformers_version",
        "transformers_weights",
        "trust_remote_code",
    }
)
_GREATEST, _MOST_LAYERS = 2**24, 2**10  # integers in an encoder's configuration
_MASKS: Final = ("[MASK]", "<mask>")
_ONE_AT_A_TIME: Final = RLock()


@contextmanager
def offline() -> Iterator[None]:
    """Keeps transformers from reaching the network, whatever the files of an encoder ask for."""
    from huggingface_hub import constants

    with _ONE_AT_A_TIME:
        before = constants.HF_HUB_OFFLINE
        constants.HF_HUB_OFFLINE = True
        try:
            yield
        finally:
            constants.HF_HUB_OFFLINE = before


@dataclass(frozen=True)
class PretrainedFiles:
    """Both as JSON text: everything needed to build the encoder and to tokenize words for it."""

    tokenizer: str
    encoder: str

    @classmethod
    def of(cls, model: str | Path) -> PretrainedFiles:
        """From a folder, or from the hub's cache by name. Downloads nothing and runs no code of the model."""
        try:
            from transformers import AutoConfig
        except ModuleNotFoundError as error:
            raise MissingExtraError(error.name or "transformers", "pretrained", "a pre-trained encoder") from error
        try:
            with offline():
                config = AutoConfig.from_pretrained(model, local_files_only=True, trust_remote_code=False).to_dict()
                return cls(tokenizer_of(model), encoder_settings(config))
        except (OSError, ValueError) as error:
            first_line = str(error).partition("\n")[0]
            raise ModelError(
                f"no pre-trained encoder {model}: {first_line}",
                hint="give a folder with config.json, weights and tokenizer.json, or a name in the hub's cache",
            ) from error


def mask_token(tokenizer: str) -> int:
    """The number of the mask token in a tokenizer, given as JSON text."""
    numbers = {token["content"]: token["id"] for token in json.loads(tokenizer).get("added_tokens", [])}
    masks = [numbers[content] for content in _MASKS if content in numbers]
    if not masks:
        raise ConfigError("this encoder has no mask token", hint="set pretrained.mask = 0")
    number: int = masks[0]
    return number


def encoder_settings(config: dict[str, Any]) -> str:
    """An encoder's configuration as JSON, with the settings that building the encoder needs. Raises ValueError.

    Other settings change from one version of transformers to the next, or make it import and download things.
    """
    model_type = config["model_type"]
    if not isinstance(model_type, str) or not model_type.isprintable():
        raise ValueError(f"the model_type is {model_type!r:.50}")
    family = family_of(model_type)
    known = {key: value for key, value in sorted(config.items()) if _is_known(key, family)}
    for key, value in known.items():
        if isinstance(value, int) and abs(value) > (_MOST_LAYERS if "layer" in key else _GREATEST):
            raise ValueError(f"{key} is {value!r:.20}")
    _check_sizes(known)
    _check_numbers(known, family)
    return json.dumps(known) + "\n"


def read_encoder_settings(text: str) -> str:
    """``encoder_settings`` of a JSON text."""
    config = parse_json(text)
    if not isinstance(config, dict):
        raise ValueError("not an object")
    return encoder_settings(config)


def _is_known(key: str, family: EncoderFamily) -> bool:
    return key in _OUR_KEYS or (not family.ours and bool(_KEY.fullmatch(key)) and key not in _NEVER)


def _check_sizes(config: dict[str, Any]) -> None:
    """Raises ValueError unless sizes are positive and shares are between 0 and 1."""
    for key in ("hidden_size", "intermediate_size", "num_attention_heads", "num_hidden_layers"):
        if key in config and (type(config[key]) is not int or config[key] < 1):
            raise ValueError(f"{key} is {config.get(key)!r:.20}")
    for key in ("hidden_dropout_prob", "attention_probs_dropout_prob", "layer_norm_eps"):
        value = config.get(key)
        if key in config and (not isinstance(value, int | float) or not 0 <= value < 1):
            raise ValueError(f"{key} is {value!r:.20}")
    buckets = config.get("relative_attention_num_buckets", 32)
    farthest = config.get("relative_attention_max_distance", 128)
    if type(buckets) is not int or buckets < 4 or type(farthest) is not int or farthest <= buckets // 2:
        raise ValueError(f"relative attention has {buckets!r:.20} buckets for distances up to {farthest!r:.20}")
    if config.get("hidden_size", 0) % config.get("num_attention_heads", 1):
        raise ValueError(f"hidden_size {config['hidden_size']} is not a multiple of num_attention_heads")


def _check_numbers(config: dict[str, Any], family: EncoderFamily) -> None:
    """Raises ValueError unless the numbers that reading sub-tokens depends on make sense."""
    tokens, positions, padding = (config.get(key) for key in ("vocab_size", "max_position_embeddings", "pad_token_id"))
    if type(tokens) is not int or tokens < 1:
        raise ValueError(f"vocab_size is {tokens!r:.20}")
    if positions is not None and (type(positions) is not int or positions < -1):
        raise ValueError(f"max_position_embeddings is {positions!r:.20}")
    if padding is not None and (type(padding) is not int or not -1 <= padding < tokens):
        raise ValueError(f"pad_token_id is {padding!r:.20}")
    if family.counts_from_padding and (padding is None or padding < 0 or (positions or _GREATEST) < padding + 16):
        raise ValueError(f"pad_token_id is {padding!r:.20}, and there are {positions} positions")
    start = config.get("decoder_start_token_id")
    if config.get("is_encoder_decoder") and (type(start) is not int or not 0 <= start < tokens):
        raise ValueError(f"decoder_start_token_id is {start!r:.20}")


def tokenizer_of(model: str | Path) -> str:
    """The text of tokenizer.json itself if it exists: versions of transformers differ in how they change it."""
    from transformers import AutoTokenizer
    from transformers.utils import cached_file

    with offline():
        path = cached_file(model, TOKENIZER, local_files_only=True, _raise_exceptions_for_missing_entries=False)
        if path is not None:
            return Path(path).read_text("utf-8")
        tokenizer = AutoTokenizer.from_pretrained(model, local_files_only=True, trust_remote_code=False)
    if not tokenizer.is_fast:
        raise ValueError("its tokenizer doesn't say where sub-tokens are in the text")
    text: str = tokenizer.backend_tokenizer.to_str()
    return text
